import type { EnvironmentSnapshot } from '@gantry/contracts'
import type { EventSchemas } from '@gantry/event-sourcing'

export type EnvironmentEvent =
  /** An API was deployed to an unknown environment. */
  | { type: 'EnvironmentRegistered'; data: { id: string; registeredAt: string } }
  | {
      type: 'EnvironmentNamed'
      data: { id: string; name: string; displayName: string; position: number | null; namedAt: string }
    }

export type EnvironmentState =
  | { status: 'Absent' }
  | {
      status: 'Live'
      record: EnvironmentSnapshot
      /** Number of events of the stream. */
      recordRevision: number
    }

/** Every event type that this release knows, with its upcasters. */
export const environmentEvents: EventSchemas<EnvironmentEvent> = {
  EnvironmentRegistered: [],
  EnvironmentNamed: [],
}

export const initialEnvironment: EnvironmentState = { status: 'Absent' }

export function evolveEnvironment(
  state: EnvironmentState,
  event: EnvironmentEvent,
  revision: number,
): EnvironmentState {
  const recordRevision = revision + 1
  switch (event.type) {
    case 'EnvironmentRegistered': {
      if (state.status === 'Live') return state
      const { id, registeredAt: at } = event.data
      const record = { id, name: null, displayName: null, position: null, createdAt: at, updatedAt: at }
      return { status: 'Live', record, recordRevision }
    }
    case 'EnvironmentNamed': {
      const { namedAt: updatedAt, ...fields } = event.data
      const createdAt = state.status === 'Live' ? state.record.createdAt : updatedAt
      return { status: 'Live', record: { ...fields, createdAt, updatedAt }, recordRevision }
    }
    default:
      event satisfies never
      return state
  }
}
