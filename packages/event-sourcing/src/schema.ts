import type { DomainEvent, Fact, JsonObject } from './event.ts'

/** Turns the data of one schema version of an event type into the data of the next version. Pure. */
export type Upcaster = (data: JsonObject) => JsonObject

/**
 * Every event type that this release knows, with its upcasters: the first one turns version 1 into version 2, and so
 * on. So an empty list says that the type has version 1 only, and a type of n upcasters is written in version n + 1.
 */
export type EventSchemas<Event extends DomainEvent> = {
  readonly [Type in Event['type']]: readonly Upcaster[]
}

/** The schema version in which this release writes an event type. */
export const writtenVersion = <Event extends DomainEvent>(
  schemas: EventSchemas<Event>,
  type: Event['type'],
): number => schemas[type].length + 1

/** The schema version in which an event was written; events from before there were versions have 1. */
const versionOf = ({ metadata }: Fact): number => metadata.schemaVersion ?? 1

/** Names an event type in its version, e.g. `ApiCreated@1`. */
export const schemaName = (event: Fact): string => `${event.type}@${versionOf(event)}`

const upcastersOf = <Event extends DomainEvent>(schemas: EventSchemas<Event>, type: string) =>
  Object.hasOwn(schemas, type) ? schemas[type as Event['type']] : undefined

/** Whether this release knows the event type of a name that `schemaName` gave, in that version. */
export function knowsSchema<Event extends DomainEvent>(schemas: EventSchemas<Event>, name: string): boolean {
  const [type = '', version] = name.split('@')
  const upcasters = upcastersOf(schemas, type)
  return upcasters !== undefined && Number(version) <= upcasters.length + 1
}

/**
 * A stored event in the newest version of its type; undefined when the type is unknown or the version is newer than
 * this release. The only place where stored events become events of the domain.
 * @throws what an upcaster throws
 */
export function upcast<Event extends DomainEvent>(
  schemas: EventSchemas<Event>,
  event: Fact,
): Event | undefined {
  const upcasters = upcastersOf(schemas, event.type)
  const version = versionOf(event)
  if (!upcasters || version > upcasters.length + 1) return undefined
  const data = upcasters.slice(version - 1).reduce((older, next) => next(older), event.data)
  return { type: event.type, data } as unknown as Event
}

/** A fact with its data in the newest version of its type; as it is when this release does not know it. */
export function newest<Event extends DomainEvent>(schemas: EventSchemas<Event>, fact: Fact): Fact {
  const known = upcast(schemas, fact)
  return known ? { ...fact, data: known.data as JsonObject } : fact
}
