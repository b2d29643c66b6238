import type { EventSchemas } from '@gantry/event-sourcing'

/** The last message of a range of the bus, by which a bus that was lost and filled again is recognised. */
export interface End {
  id: string
  /** ISO 8601 UTC. */
  storedAt: string
}

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
        /** The message at `through`; null for none. */
        end: End | null
        requestedAt: string
      }
    }
  /** `total` is the number of events in the range that the webhook subscribes to. */
  | { type: 'RecoveryCounted'; data: { total: number; at: string } }
  /** The events up to `position` are handled. `examined` and `recovered` count those since the previous position. */
  | {
      type: 'RecoveryAdvanced'
      data: {
        position: number
        examined: number
        recovered: number
        at: string
        /** The last message on a bus that was lost and filled again, on which the recovery begins anew. */
        moved?: { through: number; end: End }
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
  end: End | null
  position: number
  /** Null until the events are counted. */
  total: number | null
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
  RecoveryCounted: [],
  RecoveryAdvanced: [],
  RecoveryCompleted: [],
  RecoveryCancelled: [],
}

export const initialRecovery: RecoveryState = { status: 'Absent' }

export function evolveRecovery(state: RecoveryState, event: RecoveryEvent): RecoveryState {
  if (event.type === 'RecoveryRequested') {
    const { data } = event
    return { ...data, status: 'RUNNING', position: data.after, total: null, examined: 0, recovered: 0 }
  }
  if (state.status !== 'RUNNING') return state
  switch (event.type) {
    case 'RecoveryCounted':
      return { ...state, total: event.data.total }
    case 'RecoveryAdvanced': {
      const { position, examined, recovered, moved } = event.data
      if (moved) return { ...state, ...moved, after: position, position, examined, recovered }
      return {
        ...state,
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
