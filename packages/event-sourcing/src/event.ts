/** JSON as it is stored: no undefined, no dates, no class instances. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** Who caused an event: a user, an access token acting for one, or a part of the service itself. */
export interface Actor {
  /** User id; null when the service acted by itself. */
  id: string | null
  /** User name, or the name of the part that acted, for people who read the log. */
  name: string
  /** Id of the access token that was used, when one was. */
  tokenId?: string
}

/**
 * What an event did to a resource as its readers see it; the source of public events and of the audit log.
 * Snapshots never carry secrets or their hashes.
 */
export interface Change {
  /** Screaming snake case, e.g. API_UPDATED; the public event type where one exists. */
  action: string
  /** Screaming snake case, e.g. API. */
  resourceType: string
  resourceId: string
  /** The resource before; null when it came to exist with this event. */
  before: JsonObject | null
  /** The resource after; null when it ceased to exist with this event. */
  after: JsonObject | null
}

export interface EventMetadata {
  actor: Actor
  requestId: string
  /** When the decision was taken, ISO 8601 UTC; the writer's clock. */
  at: string
  /** W3C trace context of the request. */
  traceparent?: string
  /** Id of the event that this one reacts to. */
  causationId?: string
  change?: Change
  /** Schema version of `data`; 1 when left out. */
  schemaVersion?: number
}

/** A fact that a decider produces. */
export interface DomainEvent {
  type: string
  data: object
}

/** A fact on its way into the log. */
export interface NewEvent {
  /** UUID; the same for every try of the same append. */
  id: string
  type: string
  data: object
  metadata: EventMetadata
}

/**
 * A place in the whole log: opaque, ordered as a string (`a < b` means a was written first).
 * The empty string is the place before the first event.
 */
export type Position = string
export const START: Position = ''

/** A fact in its stream. */
export interface Fact {
  id: string
  type: string
  stream: string
  /** Place in the stream, from 0. */
  revision: number
  data: JsonObject
  metadata: EventMetadata
}

/** A fact in the log. */
export interface RecordedEvent extends Fact {
  position: Position
  /** When the store wrote it, ISO 8601 UTC; the store's clock. */
  recordedAt: string
}
