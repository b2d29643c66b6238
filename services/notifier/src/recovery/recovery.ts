import type { EventSchemas } from '@gantry/event-sourcing'

/** A recovery delivers the events of a time range that a webhook did not receive, in the order of the bus. */
export type RecoveryEvent =
  | {
      type: 'RecoveryRequested'
      data: {
        id: string
        webhook: string
        from: string
        to: string
        /** Sequences on the bus: the events lie after `after`, up to and including `through`. */
        after: number
        through: number
        /** Id of the message at `through`, by which a bus that was lost and filled again is recognised; null for none. */
        throughId: string | null
        requestedAt: string
      }
    }
  /** The events up to `position` are handled. `examined` and `recovered` count those since the previous position. */
  | {
      type: 'RecoveryAdvanced'
      data: {
        position: number
        examined: number
        recovered: number
        at: string
        /** Id of the last event that was handled. */
        last?: string
        /** The last message on the bus when the bus was lost and filled again, with its id. */
        moved?: { through: number; throughId: string }
      }
    }
  | { type: 'RecoveryCompleted'; data: { at: string } }
  | { type: 'RecoveryCancelled'; data: { reason: 'requested' | 'webhook-deleted'; at: string } }

interface Recovery {
  id: string
  webhook: string
  from: string
  to: string
  after: number
  through: number
  throughId: string | null
  position: number
  /** Id of the last event that was handled. */
  last?: string
  examined: number
  recovered: number
  requestedAt: string
}

export interface Running extends Recovery {
  status: 'RUNNING'
}

export type RecoveryState =
  | { status: 'Absent' }
  | Running
  | (Recovery & { status: 'COMPLETED' | 'CANCELLED'; finishedAt: string })

/** Every event type that this release knows, with its upcasters. */
export const recoveryEvents: EventSchemas<RecoveryEvent> = {
  RecoveryRequested: [],
  RecoveryAdvanced: [],
  RecoveryCompleted: [],
  RecoveryCancelled: [],
}

export const initialRecovery: RecoveryState = { status: 'Absent' }

export function evolveRecovery(state: RecoveryState, event: RecoveryEvent): RecoveryState {
  if (event.type === 'RecoveryRequested') {
    return { ...event.data, status: 'RUNNING', position: event.data.after, examined: 0, recovered: 0 }
  }
  if (state.status !== 'RUNNING') return state
  switch (event.type) {
    case 'RecoveryAdvanced': {
      const { position, examined, recovered, last, moved } = event.data
      return {
        ...state,
        ...moved,
        ...(last && { last }),
        position,
        examined: state.examined + examined,
        recovered: state.recovered + recovered,
      }
    }
    case 'RecoveryCompleted':
      return { ...state, status: 'COMPLETED', finishedAt: event.data.at }
    case 'RecoveryCancelled':
      return { ...state, status: 'CANCELLED', finishedAt: event.data.at }
    default:
      event satisfies never
      return state
  }
}
