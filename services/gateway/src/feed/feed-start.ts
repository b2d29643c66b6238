import { EVENT_SERVICES, Refusal, requests, subjects } from '@gantry/contracts'
import { LOG_IDENTITY, LOG_POSITION } from '@gantry/event-sourcing'
import { type Bus, firstAfter, placeBefore, type StoredMessage } from '@gantry/messaging'
import type { Peers } from '@gantry/service-runtime'
import {
  type FeedPlace,
  type FeedPosition,
  formatPosition,
  type Passed,
  parsePosition,
  placeOf,
  sameLog,
  unknownMessage,
} from './feed-position.ts'

const EVENTS = { subjects: [subjects.allEvents] }

/** A reader's position is compared with the bus, and with the head of the log, which identity tells. */
export interface FeedSources {
  bus: Bus
  peers: Pick<Peers, 'ask'>
}

/** Where a reader begins. */
export interface FeedStart {
  /** Sequence on the bus to read after. */
  after: number
  position: FeedPosition
  /**
   * Whether events that were removed after the position count as missed, because the reader has read the events before
   * them.
   */
  resumes: boolean
}

/** The place before the oldest event, or before the events since a time. The bus never stores an event before its time. */
export async function firstPosition(bus: Bus, from: Date | undefined): Promise<FeedStart> {
  const { sequence, message } = from
    ? await placeBefore(bus, EVENTS, from.toISOString())
    : { sequence: await bus.removedThrough(EVENTS.subjects), message: undefined }
  const place = message ? placeOf(message) : unknownMessage(sequence)
  return { after: sequence, position: await positionAt(bus, place), resumes: false }
}

/**
 * The place of a position on the current bus. If the bus lacks the message of the position, it was built again from the log.
 * The reader then begins at the start of the bus, and gets no message again that it had before.
 * @throws Refusal invalid-request, log-replaced, position-ahead, position-gone
 */
export async function resumedPosition(feed: FeedSources, text: string): Promise<FeedStart> {
  const { bus } = feed
  const position = parsePosition(text)
  const { sequence, id, storedAt, passed } = position
  const removed = await bus.removedThrough(EVENTS.subjects)
  const at = (after: number, found = position) => ({ after, position: found, resumes: true })
  if (sequence === 0 && removed === 0) return at(0)
  const message = id === '' ? undefined : await firstAfter(bus, EVENTS, sequence - 1)
  const isThere = message?.sequence === sequence && message.id === id
  // A bus that was built again may have the same message at this sequence, after other messages than before.
  if (isThere && Date.parse(message.storedAt) === storedAt) return at(sequence)
  await requireInLog(feed, position)
  if (sequence < removed) throw await positionGone(bus)
  if (sequence === removed) return at(sequence)
  if (removed > 0 && !(await reachesBack(bus, position, removed))) throw await positionGone(bus)
  return at(removed, { ...position, awaited: [...passed.keys()] })
}

/**
 * For a reader that does not wait for new events.
 * @throws Refusal events-incomplete while the bus lacks messages that the reader has passed before
 */
export async function requireComplete(bus: Bus, { passed, awaited }: FeedPosition): Promise<void> {
  const lasts = await Promise.all(awaited.map(service => bus.last(ofService(service))))
  const isBehind = awaited.some(
    (service, index) => logPosition(lasts[index]) < (passed.get(service)?.position ?? ''),
  )
  if (isBehind) {
    throw new Refusal('events-incomplete', {
      detail: 'the message bus was lost, and its events are being published again: try again later',
    })
  }
}

/** The refusal of a position after which events have been removed, with the oldest position that is accepted. */
export async function positionGone(bus: Bus): Promise<Refusal> {
  const { position } = await firstPosition(bus, undefined)
  return new Refusal('position-gone', {
    detail: 'events after this position have been removed because of their age: read after=oldestPosition',
    oldestPosition: formatPosition(position),
  })
}

const ofService = (service: string) => [subjects.events(service, '*')]
const logPosition = (message: StoredMessage | undefined) => message?.headers?.[LOG_POSITION] ?? ''

/**
 * The position of a reader that has read the bus up to a place. A relay publishes in the order of the log. So for a
 * service that has published since, everything before its next message was read; for any other service, everything up
 * to its last message.
 */
export async function positionAt(bus: Bus, place: FeedPlace): Promise<FeedPosition> {
  const { sequence } = place
  let log = ''
  const passedOf = (message: StoredMessage | undefined, messages: number): Passed => {
    log = message?.headers?.[LOG_IDENTITY] ?? log
    return { position: logPosition(message), messages }
  }
  if (sequence === 0) return { ...place, log, passed: new Map(), awaited: [] }
  const found = await Promise.all(
    EVENT_SERVICES.map(async (service): Promise<[string, Passed]> => {
      const last = await bus.last(ofService(service))
      if (!last || last.sequence <= sequence) return [service, passedOf(last, 1)]
      const next = await firstAfter(bus, { subjects: ofService(service) }, sequence)
      return [service, passedOf(next, 0)]
    }),
  )
  return { ...place, log, passed: new Map(found.filter(([, { position }]) => position !== '')), awaited: [] }
}

/** @throws Refusal log-replaced for a position of another log, position-ahead for one that this log has not reached */
async function requireInLog(
  { bus, peers }: FeedSources,
  { log, sequence, passed }: FeedPosition,
): Promise<void> {
  const head = await peers.ask(requests.logHead, {})
  sameLog(log, head.log)
  const positions = [...passed.values()].map(({ position }) => position)
  const isAhead =
    positions.length > 0
      ? positions.some(position => position > head.position)
      : sequence > (await bus.head())
  if (isAhead)
    throw new Refusal('position-ahead', { detail: 'after is a position after the last event of the log' })
}

/** Whether the bus has a message of every service that the reader has passed. Then it has removed none after these. */
async function reachesBack(bus: Bus, { passed }: FeedPosition, removed: number): Promise<boolean> {
  const firsts = await Promise.all(
    [...passed].map(async ([service, { position }]) => {
      const first = await firstAfter(bus, { subjects: ofService(service) }, removed)
      return first === undefined || logPosition(first) <= position
    }),
  )
  return firsts.every(Boolean)
}
