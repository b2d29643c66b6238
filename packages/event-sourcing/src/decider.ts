import type { Actor, Change, DomainEvent } from './event.ts'
import type { EventSchemas } from './schema.ts'

/** What a command knows of its circumstances: deciders take time and identity from here and nowhere else. */
export interface CommandMetadata {
  /**
   * UUID; event ids are derived from it, so a command tried again is appended once. A reaction to a message has a new
   * one for each try: its decider sees by the state that the message was handled.
   */
  commandId: string
  /** ISO 8601 UTC with milliseconds. */
  now: string
  actor: Actor
  requestId: string
  traceparent?: string
  /** Id of the event this command reacts to. */
  causationId?: string
  /** The command may have been executed before, by a process that died: look for its events first. */
  repeated?: boolean
}

export interface DomainCommand {
  type: string
  metadata: CommandMetadata
}

/**
 * An aggregate's rules.
 * `decide` is pure and throws a Refusal when the command may not happen; no events means that nothing changes.
 * `evolve` never refuses and returns a new state; `revision` is the event's place in its stream. It is given events of
 * the types in `events` only, in their newest schema version.
 */
export interface Decider<State, Command extends DomainCommand, Event extends DomainEvent> {
  initial: State
  events: EventSchemas<Event>
  decide(state: State, command: Command): Event[]
  evolve(state: State, event: Event, revision: number): State
  /** What an event did, for public events and the audit log; null for an event that nobody outside sees. */
  describe?(before: State, event: Event, after: State): Change | null
  /** How many parts a state has that can have many, from 1: states in memory are bounded by their sum. */
  size?(state: State): number
}

/**
 * A command that may not happen, by the rules of the domain. The code is stable and says why;
 * `contracts` maps it to an HTTP status, nobody else does.
 */
export class Refusal extends Error {
  readonly code: string
  readonly details: Record<string, unknown>
  constructor(code: string, details: Record<string, unknown> = {}) {
    super(code)
    this.name = 'Refusal'
    this.code = code
    this.details = details
  }
}
