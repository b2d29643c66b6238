import type { Change } from '@gantry/contracts'
import type { Actor, DomainEvent, EventSchemas } from './event.ts'

/** The context of a command: the only source of time and identity for deciders. */
export interface CommandMetadata {
  /**
   * UUID. Event ids are derived from it, so that a command that is tried again is appended once. A reaction to a message
   * has a new id for each try: its decider sees in the state that the message was handled.
   */
  commandId: string
  /** ISO 8601 UTC with milliseconds. */
  now: string
  actor: Actor
  requestId: string
  traceparent?: string
  /** Id of the event this command reacts to. */
  causationId?: string
  /** Whether a process that died may have executed the command: its events are looked for first. */
  repeated?: boolean
}

export interface DomainCommand {
  type: string
  metadata: CommandMetadata
}

/**
 * The rules of an aggregate.
 * `decide` is pure. It throws a Refusal when the command is not allowed, and returns no events when nothing changes.
 * `evolve` never refuses and returns a new state. It depends on its arguments alone: `revision` is the number of the event
 * in its stream, `actor` the user or the part of the service that caused the event. Only events of the types in `events`
 * are passed to it, in their newest schema version.
 */
export interface Decider<State, Command extends DomainCommand, Event extends DomainEvent> {
  initial: State
  events: EventSchemas<Event>
  decide(state: State, command: Command): Event[]
  evolve(state: State, event: Event, revision: number, actor: Actor): State
  /** The change that an event of a command made, for public events and the audit log; null for an internal event. */
  describe?(before: State, event: Event, after: State, command?: Command): Change | null
  /** Size of a state that can have many parts, from 1. The sum over the cached states is bounded. */
  size?(state: State): number
}
