import { hash } from 'node:crypto'
import type { Change } from '@gantry/contracts'
import type { Json } from '@gantry/messaging'

/** A JSON object as it is stored: no undefined, no dates, no class instances. */
export type JsonObject = { [key: string]: Json }

/** The cause of an event: a user, an access token of a user, or a part of the service itself. */
export interface Actor {
  /** User id; null when the service acted by itself. */
  id: string | null
  /** The name of the part that acted; for a user their id again, so that no event has a name of a user. */
  name: string
  /** Id of the access token, if the user used one. */
  tokenId?: string
  /** The user's network address, sealed with their key. Published events have only `id` and `name`. */
  address?: string
}

export interface EventMetadata {
  actor: Actor
  requestId: string
  /** Time of the decision by the writer's clock, ISO 8601 UTC. */
  at: string
  /** W3C trace context of the request. */
  traceparent?: string
  /** Id of the event that this one reacts to. */
  causationId?: string
  change?: Change
  /** Schema version of `data`; 1 when left out. */
  schemaVersion?: number
}

/** An event as a decider produces it. */
export interface DomainEvent {
  type: string
  data: object
}

export interface NewEvent {
  /** UUID. It is the same in every try of the same append. */
  id: string
  type: string
  data: object
  metadata: EventMetadata
}

/**
 * A position in the whole log: opaque, ordered as a string (`a < b` means that a was written first).
 * The empty string is the position before the first event.
 */
export type Position = string
export const START: Position = ''

/**
 * The number that the positions of every store begin with, 0 for START. It grows steadily with the log: by one for each event
 * in SQLite, by the bytes of the record in EventStoreDB.
 */
export const positionNumber = (position: Position): number => Number(/^\d+/.exec(position)?.[0] ?? 0)

/** An event with its stream and revision. */
export interface Fact extends NewEvent {
  stream: string
  /** Number of the event in its stream, from 0. */
  revision: number
  data: JsonObject
  /** Why the stored event is none of a service; left out for one that is. Its data are empty and its metadata neutral. */
  malformed?: string
}

/** An event with its position in the log. */
export interface RecordedEvent extends Fact {
  position: Position
  /** Time of the append by the store's clock, ISO 8601 UTC. */
  recordedAt: string
}

/**
 * An event as a store has it, whoever appended it, in the shape of an event of a service. One that is none keeps its stream,
 * revision, type and position, has empty data and neutral metadata, and `malformed` tells what is wrong with it.
 */
export function recordedEvent({
  data,
  metadata,
  ...stored
}: Omit<RecordedEvent, 'data' | 'metadata' | 'malformed'> & {
  data: unknown
  metadata: unknown
}): RecordedEvent {
  const malformed = faultOf(data, metadata)
  if (malformed === undefined)
    return { ...stored, data: data as JsonObject, metadata: metadata as EventMetadata }
  const neutral = { actor: { id: null, name: 'unknown' }, requestId: stored.id, at: stored.recordedAt }
  return { ...stored, data: {}, metadata: neutral, malformed }
}

/** The JSON value of a text; undefined for what is no JSON, which `recordedEvent` finds malformed. */
export function parsedText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function faultOf(data: unknown, metadata: unknown): string | undefined {
  if (!isObject(data)) return 'its data are no JSON object'
  if (!isObject(metadata)) return 'its metadata are no JSON object'
  const { actor, requestId, at, change, schemaVersion = 1 } = metadata
  if (!isActor(actor)) return 'its metadata name no actor'
  if (typeof requestId !== 'string') return 'its metadata have no requestId'
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) return 'its metadata have no time'
  if (change !== undefined && !isChange(change)) return 'its metadata have a malformed change'
  if (!(Number.isInteger(schemaVersion) && Number(schemaVersion) > 0))
    return 'its metadata have a malformed schemaVersion'
  return undefined
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)

const isActor = (actor: unknown) =>
  isObject(actor) &&
  (actor.id === null || typeof actor.id === 'string') &&
  typeof actor.name === 'string' &&
  [actor.tokenId, actor.address].every(part => part === undefined || typeof part === 'string')

const isChange = (change: unknown): change is Change =>
  isObject(change) &&
  [change.action, change.resourceType, change.resourceId].every(part => typeof part === 'string') &&
  [change.before, change.after].every(state => state === null || isObject(state)) &&
  (change.personal === undefined ||
    (isObject(change.personal) &&
      typeof change.personal.sealed === 'string' &&
      typeof change.personal.commitment === 'string'))

/** Streams are named `{category}-{id}`; a category has no dash, an id may have some. */
export const streamName = (category: string, id: string) => `${category}-${id}`
export const streamId = (stream: string) => stream.slice(stream.indexOf('-') + 1)
export const streamCategory = (stream: string) => stream.slice(0, stream.indexOf('-'))

/**
 * Makes UUIDs of names (RFC 9562 §5.5, version 5): the same name gives the same UUID. Each append needs several, and
 * this code takes a fifth of the time that the package uuid takes.
 * @param namespace a UUID
 */
export function nameUuids(namespace: string): (name: string) => string {
  const prefix = Buffer.from(namespace.replaceAll('-', ''), 'hex')
  return name => {
    const digest = hash('sha1', Buffer.concat([prefix, Buffer.from(name)]), 'hex')
    const variant = ((Number.parseInt(digest.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
    const rest = `${variant}${digest.slice(18, 20)}-${digest.slice(20, 32)}`
    return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-${rest}`
  }
}

/** Turns the data of one schema version of an event type into the data of the next version. Pure. */
type Upcaster = (data: JsonObject) => JsonObject

/**
 * The event types that this release knows, with their upcasters: the first one turns version 1 into version 2, and so on.
 * A type with n upcasters is written in version n + 1; a type with an empty list has version 1 only.
 */
export type EventSchemas<Event extends DomainEvent> = {
  readonly [Type in Event['type']]: readonly Upcaster[]
}

/** The schema version in which this release writes an event type. */
export const writtenVersion = <Event extends DomainEvent>(
  schemas: EventSchemas<Event>,
  type: Event['type'],
): number => schemas[type].length + 1

/** The schema version of a stored event; 1 for events without a version. */
const versionOf = ({ metadata }: Fact): number => metadata.schemaVersion ?? 1

/** The name of an event type with its schema version, e.g. `ApiCreated@1`. */
export const schemaName = (event: Fact): string => `${event.type}@${versionOf(event)}`

const upcastersOf = <Event extends DomainEvent>(schemas: EventSchemas<Event>, type: string) =>
  Object.hasOwn(schemas, type) ? schemas[type as Event['type']] : undefined

/** Whether this release knows an event type and schema version. @param name a result of `schemaName` */
export function knowsSchema<Event extends DomainEvent>(schemas: EventSchemas<Event>, name: string): boolean {
  const [type = '', version] = name.split('@')
  const upcasters = upcastersOf(schemas, type)
  return upcasters !== undefined && Number(version) <= upcasters.length + 1
}

/**
 * Converts a stored event to the newest version of its type. Only this function turns stored events into domain events.
 * @returns undefined when this release does not know the type or the version
 * @throws Error for a malformed event, and the error of an upcaster
 */
export function upcast<Event extends DomainEvent>(
  schemas: EventSchemas<Event>,
  event: Fact,
): Event | undefined {
  if (event.malformed !== undefined) throw new Error(event.malformed)
  const upcasters = upcastersOf(schemas, event.type)
  const version = versionOf(event)
  if (!upcasters || version > upcasters.length + 1) return undefined
  const data = upcasters.slice(version - 1).reduce((older, next) => next(older), event.data)
  return { type: event.type, data } as unknown as Event
}

/** A fact with its data in the newest version of its type; unchanged when this release does not know the event. */
export function newest<Event extends DomainEvent>(schemas: EventSchemas<Event>, fact: Fact): Fact {
  const known = upcast(schemas, fact)
  return known ? { ...fact, data: known.data as JsonObject } : fact
}
