import { type Change, Refusal } from '@gantry/contracts'
import type { Actor, DomainEvent } from '../log/event.ts'
import type { Fold } from '../log/fold.ts'

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
  /**
   * Whether an earlier try may have executed the command: its events are looked for first. After `ended` they are found then
   * or not at all; otherwise the append of a process that died can still arrive.
   */
  repeated?: boolean | 'ended'
}

export interface DomainCommand {
  type: string
  metadata: CommandMetadata
}

/**
 * The rules of an aggregate.
 * `decide` is pure. It throws a Refusal when the command is not allowed, and returns no events when nothing changes.
 */
export interface Decider<State, Command extends DomainCommand, Event extends DomainEvent>
  extends Fold<State, Event> {
  decide(state: State, command: Command): Event[]
  /** The change that an event of a command made, for public events and the audit log; null for an internal event. */
  describe?(before: State, event: Event, after: State, command?: Command): Change | null
}

/** A command that applies only to the revisions of the record that its caller has seen. */
export interface Conditional {
  metadata: CommandMetadata
  /** Revisions that the caller has seen; every revision is accepted when absent. */
  ifMatch?: number[] | undefined
}

/** @throws Refusal precondition-failed when the record is at a revision that the caller has not seen */
export function requireRevision({ ifMatch }: Pick<Conditional, 'ifMatch'>, revision: number): void {
  if (ifMatch && !ifMatch.includes(revision)) throw new Refusal('precondition-failed')
}
