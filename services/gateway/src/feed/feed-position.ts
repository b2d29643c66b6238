import { invalidField, Refusal } from '@gantry/contracts'
import { LOG_IDENTITY, LOG_POSITION, parsedText } from '@gantry/event-sourcing'
import type { StoredMessage } from '@gantry/messaging'
import { z } from 'zod'

/** The messages of a service that were passed: all before a position in the log, and some of the event at it. */
export interface Passed {
  /** Position in the log. */
  position: string
  /** Number of passed messages of the event at the position; 0 for none. */
  messages: number
}

/** A message on the bus. */
export interface FeedPlace {
  /** Sequence on the bus; 0 before the first message. */
  sequence: number
  /** Empty when it is not known. */
  id: string
  /** When the bus stored it, in milliseconds since 1970; 0 when it is not known. */
  storedAt: number
}

export const unknownMessage = (sequence: number): FeedPlace => ({ sequence, id: '', storedAt: 0 })
export const placeOf = ({ sequence, id, storedAt }: StoredMessage): FeedPlace => ({
  sequence,
  id,
  storedAt: Date.parse(storedAt),
})

/**
 * Position of a reader. The last message that was passed is found quickly on the bus. `passed` identifies the position
 * by the event log, because a bus may be built again from the log or repeat messages.
 */
export interface FeedPosition extends FeedPlace {
  /** Identity of the event log; empty when no message was known yet. */
  log: string
  /** By service. Nothing was passed of a service that is missing. */
  passed: ReadonlyMap<string, Passed>
  /** Services whose passed messages a rebuilt bus has not repeated yet. */
  awaited: readonly string[]
}

const VERSION = 1
/** Positions in the log have many leading zeros. */
const shorten = (position: string) => position.replace(/0{4,}/g, ({ length }) => `z${length}.`)
const restore = (text: string) =>
  text.replace(/z(\d{1,2})\./g, (_, length: string) => '0'.repeat(Number(length)))

/** Services of later releases can have other names. A name becomes a part of subjects that are sent to the bus. */
const service = z.string().regex(/^[a-z0-9-]{1,50}$/)
const inLog = z.string().max(100)
const Content = z.tuple([
  z.literal(VERSION),
  z.string().max(36),
  z.int().min(0),
  z.string().max(255),
  z.int(),
  z.array(z.union([z.tuple([service, inLog]), z.tuple([service, inLog, z.int().min(0)])])).max(50),
  z.array(service).max(50),
])

const segment = (service: string, { position, messages }: Passed) =>
  JSON.stringify([service, shorten(position), ...(messages === 1 ? [] : [messages])])

interface Parts extends FeedPlace {
  log: string
  segments: readonly string[]
  awaited: readonly string[]
}
const format = ({ log, sequence, id, storedAt, segments, awaited }: Parts) =>
  Buffer.from(
    `[${VERSION},${JSON.stringify(log)},${sequence},${JSON.stringify(id)},${storedAt},[${segments.join(',')}],${JSON.stringify(awaited)}]`,
  ).toString('base64url')

/** The text of a position, for callers. */
export const formatPosition = ({ passed, ...position }: FeedPosition): string =>
  format({ ...position, segments: [...passed].map(([service, last]) => segment(service, last)) })

/** @throws Refusal invalid-request */
export function parsePosition(text: string): FeedPosition {
  const parsed = Content.safeParse(parsedText(Buffer.from(text, 'base64url').toString()))
  if (!parsed.success)
    throw invalidField(
      'after',
      'must be a position of an event or a page; without it the oldest event is the first',
    )
  const [, log, sequence, id, storedAt, services, awaited] = parsed.data
  const passed = services.map(([service, position, messages = 1]): [string, Passed] => [
    service,
    { position: restore(position), messages },
  ])
  return { log, sequence, id, storedAt, passed: new Map(passed), awaited }
}

/** Follows a reader along the bus. */
export interface FeedReader {
  /** @returns false for a message that was passed before @throws Refusal log-replaced for a message of another log */
  pass(message: StoredMessage): boolean
  /** Text of the position after the messages that were passed. */
  position(): string
  /** False while the bus still lacks messages that were passed before it was built again. */
  caughtUp(): boolean
}

/** @returns the log of both @throws Refusal log-replaced for two logs */
export function sameLog(log: string, other = log): string {
  if (log === '' || log === other) return other
  throw new Refusal('log-replaced', {
    detail:
      'after is a position of another event log than that of today, e.g. from before a backup was restored: events that ' +
      'you have read may be missing in this one; read from= a time, or all events',
  })
}

interface Last extends Passed {
  /** Id of the last message, if it is of this service. */
  id: string
  segment: string
}

/** @param start whose `awaited` names the services with passed messages that the bus repeats */
export function feedReader(start: FeedPosition): FeedReader {
  let place: FeedPlace = start
  let { log } = start
  const lasts = new Map<string, Last>()
  for (const [service, passed] of start.passed)
    lasts.set(service, { ...passed, id: start.id, segment: segment(service, passed) })
  /** By service: the passed messages at its position that a rebuilt bus still has to repeat. */
  const awaited = new Map<string, number>()
  for (const service of start.awaited) awaited.set(service, start.passed.get(service)?.messages ?? 0)

  const isNew = (message: StoredMessage): boolean => {
    const position = message.headers?.[LOG_POSITION]
    // Only a message that no relay published has no position.
    if (position === undefined) return awaited.size === 0
    const [, service = ''] = message.subject.split('.')
    const last = lasts.get(service)
    if (last && position < last.position) return false
    const isSame = position === last?.position
    const repeats = awaited.get(service) ?? 0
    if (!isSame || repeats <= 1) awaited.delete(service)
    else awaited.set(service, repeats - 1)
    if (isSame && (repeats > 0 || last.id === message.id)) return false
    const passed = { position, messages: isSame ? last.messages + 1 : 1 }
    lasts.set(service, { ...passed, id: message.id, segment: segment(service, passed) })
    return true
  }

  return {
    pass(message) {
      log = sameLog(log, message.headers?.[LOG_IDENTITY])
      const passes = isNew(message)
      place = placeOf(message)
      return passes
    },
    position: () =>
      format({
        ...place,
        log,
        segments: [...lasts.values()].map(last => last.segment).sort(),
        awaited: [...awaited.keys()],
      }),
    caughtUp: () => awaited.size === 0,
  }
}
