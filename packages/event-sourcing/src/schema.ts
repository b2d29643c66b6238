import type { DomainEvent, Fact, JsonObject } from './event.ts'

/** Turns the data of one schema version of an event type into the data of the next version. Pure. */
export type Upcaster = (data: JsonObject) => JsonObject

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
