import type { Change, EnvironmentInput } from '@gantry/contracts'
import {
  type Aggregate,
  type CommandMetadata,
  type Conditional,
  type Decider,
  requireRevision,
} from '@gantry/event-sourcing'
import {
  type EnvironmentEvent,
  type EnvironmentState,
  environmentEvents,
  evolveEnvironment,
  initialEnvironment,
} from './environment.ts'

export type EnvironmentCommand =
  | { type: 'RegisterEnvironment'; metadata: CommandMetadata; id: string }
  | ({ type: 'NameEnvironment'; id: string; input: EnvironmentInput } & Conditional)

export type EnvironmentAggregate = Aggregate<EnvironmentState, EnvironmentCommand, EnvironmentEvent>

export const environmentDecider: Decider<EnvironmentState, EnvironmentCommand, EnvironmentEvent> = {
  initial: initialEnvironment,
  events: environmentEvents,
  evolve: evolveEnvironment,
  describe,
  decide(state, command) {
    const { id } = command
    const { now } = command.metadata
    switch (command.type) {
      case 'RegisterEnvironment':
        return state.status === 'Live'
          ? []
          : [{ type: 'EnvironmentRegistered', data: { id, registeredAt: now } }]
      case 'NameEnvironment': {
        const { name, displayName, position } = command.input
        const fields = { name, displayName: displayName ?? name, position }
        requireRevision(command, state.status === 'Live' ? state.recordRevision : 0)
        const isSame = state.status === 'Live' && isNamed(state.record, fields)
        return isSame ? [] : [{ type: 'EnvironmentNamed', data: { id, ...fields, namedAt: now } }]
      }
      default:
        return command satisfies never
    }
  },
}

type Fields = Pick<EnvironmentInput, 'name' | 'displayName' | 'position'>

const isNamed = (record: Record<keyof Fields, unknown>, fields: Fields) =>
  record.name === fields.name &&
  record.displayName === fields.displayName &&
  record.position === fields.position

/** The registration is part of a deployment, which is described with the API. */
function describe(before: EnvironmentState, event: EnvironmentEvent, after: EnvironmentState): Change | null {
  if (event.type !== 'EnvironmentNamed') return null
  return {
    action: 'ENVIRONMENT_UPDATED',
    resourceType: 'ENVIRONMENT',
    resourceId: event.data.id,
    before: before.status === 'Live' ? before.record : null,
    after: after.status === 'Live' ? after.record : null,
  }
}
