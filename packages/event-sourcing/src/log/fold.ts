import { Refusal } from '@gantry/contracts'
import {
  type Actor,
  type DomainEvent,
  type EventSchemas,
  type Position,
  type RecordedEvent,
  schemaName,
  upcast,
} from './event.ts'

/** A state and the revision of the last event folded into it; -1 when the stream does not exist. */
export interface StreamState<State> {
  state: State
  revision: number
  /** Position of that event in the log; absent when the event was not read or does not exist. */
  position?: Position | undefined
  /** Names (`type@version`) of events of the stream that this release does not know; the state lacks their effect. */
  unknown?: readonly string[]
}

/**
 * An event of a stream throws while it is upcast, folded or projected. Commands on the stream are refused, its documents
 * stay as they are, and all other streams continue.
 */
export class StreamQuarantined extends Refusal {
  readonly event: RecordedEvent
  /** Why the event cannot be used, for operators. */
  readonly reason: string
  constructor(event: RecordedEvent, cause: unknown) {
    super('stream-quarantined', {
      detail: `event ${event.revision} of stream ${event.stream} cannot be processed; "npm run quarantine -- list" tells why`,
    })
    this.name = 'StreamQuarantined'
    this.cause = cause
    this.event = event
    this.reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)
  }
}

/**
 * How the events of a stream make its state.
 * `evolve` never refuses and returns a new state. It depends on its arguments alone: `revision` is the number of the event
 * in its stream, `actor` the user or the part of the service that caused the event. Only events of the types in `events`
 * are passed to it, in their newest schema version.
 */
export interface Fold<State, Event extends DomainEvent> {
  initial: State
  events: EventSchemas<Event>
  evolve(state: State, event: Event, revision: number, actor: Actor): State
  /** Size of a state that can have many parts, from 1. The sum over the cached states is bounded. */
  size?(state: State): number
}

/**
 * Folds stored events into a state. Events of unknown types and of newer schema versions leave the state unchanged.
 * @param unknownEvent called for each such event
 * @returns a function that @throws StreamQuarantined when an event cannot be upcast or folded
 */
export function folding<State, Event extends DomainEvent>(
  fold: Fold<State, Event>,
  unknownEvent: (event: RecordedEvent) => void,
): (known: StreamState<State>, events: readonly RecordedEvent[]) => StreamState<State> {
  return (known, events) => {
    let { state, revision, position, unknown } = known
    for (const event of events) {
      try {
        const upcasted = upcast(fold.events, event)
        if (upcasted) state = fold.evolve(state, upcasted, event.revision, event.metadata.actor)
        else {
          unknownEvent(event)
          unknown = [...new Set([...(unknown ?? []), schemaName(event)])]
        }
      } catch (error) {
        throw new StreamQuarantined(event, error)
      }
      revision = event.revision
      position = event.position
    }
    return { state, revision, ...(position !== undefined && { position }), ...(unknown && { unknown }) }
  }
}
