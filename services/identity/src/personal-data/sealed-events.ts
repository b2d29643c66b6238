import type {
  EventMetadata,
  EventStore,
  JsonObject,
  NewEvent,
  ReadAllOptions,
  RecordedEvent,
  SubscriptionItem,
} from '@gantry/event-sourcing'
import { UserKeysUnavailable } from '@gantry/stores'
import { type PersonalFields, sealedChange } from './sealed-change.ts'
import type { UserCiphers } from './user-ciphers.ts'

const USERS = 'user-'
const isOfUser = (stream: string) => stream.startsWith(USERS)
const userOf = (stream: string) => stream.slice(USERS.length)

/** Event types whose data have personal fields. */
const PERSONAL_TYPES: ReadonlySet<string> = new Set(['UserCreated', 'UserUpdated'])

/**
 * An event store that encrypts the personal fields in the streams of users when it appends, and decrypts them when it
 * reads. Deciders and projections see plain events. In an event of an erased user `personal` is null and takes the place of
 * the fields. If the key is missing or wrong, `personal` stays encrypted, and folding the event fails.
 */
export function sealedEvents(eventStore: EventStore, ciphers: UserCiphers): EventStore {
  const opened = (event: RecordedEvent) => openedEvent(event, ciphers)
  return {
    ...eventStore,
    async append(stream, events, expected) {
      if (!isOfUser(stream)) return eventStore.append(stream, events, expected)
      const stored: NewEvent[] = []
      for (const event of events) stored.push(await sealedEvent(userOf(stream), event, ciphers))
      return eventStore.append(stream, stored, expected)
    },
    async readStream(stream, from) {
      const events = await eventStore.readStream(stream, from)
      if (!isOfUser(stream)) return events
      const plain: RecordedEvent[] = []
      for (const event of events) plain.push(await opened(event))
      return plain
    },
    async readLast(stream) {
      const event = await eventStore.readLast(stream)
      return event && opened(event)
    },
    async *readAll(options: ReadAllOptions) {
      for await (const event of eventStore.readAll(options)) yield await opened(event)
    },
    async *subscribe(options): AsyncGenerator<SubscriptionItem> {
      for await (const item of eventStore.subscribe(options))
        yield item.kind === 'event' ? { ...item, event: await opened(item.event) } : item
    },
  }
}

async function sealedEvent(user: string, event: NewEvent, ciphers: UserCiphers): Promise<NewEvent> {
  const metadata = await sealedMetadata(event.metadata, ciphers)
  if (!PERSONAL_TYPES.has(event.type)) return { ...event, metadata }
  const { username, displayName, email, ...rest } = event.data as PersonalFields
  const personal = await ciphers.seal(user, JSON.stringify({ username, displayName, email }))
  return { ...event, data: { ...rest, personal }, metadata }
}

async function sealedMetadata(metadata: EventMetadata, ciphers: UserCiphers): Promise<EventMetadata> {
  const { change } = metadata
  if (change?.resourceType !== 'USER') return metadata
  return { ...metadata, change: await sealedChange(change, ciphers) }
}

/** @throws UserKeysUnavailable */
export async function openedEvent(event: RecordedEvent, ciphers: UserCiphers): Promise<RecordedEvent> {
  const { personal, ...rest } = event.data
  if (!isOfUser(event.stream) || !PERSONAL_TYPES.has(event.type) || typeof personal !== 'string') return event
  try {
    const text = await ciphers.open(userOf(event.stream), personal)
    const fields: JsonObject = text === null ? { personal: null } : JSON.parse(text)
    return { ...event, data: { ...rest, ...fields } }
  } catch (error) {
    if (error instanceof UserKeysUnavailable) throw error
    return event
  }
}
