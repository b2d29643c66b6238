import {
  invalidField,
  isPublicEventType,
  type Parsed,
  PUBLIC_EVENTS,
  Refusal,
  type streamEvents,
} from '@gantry/contracts'
import type { Entry } from './streamed-events.ts'

export type FeedQuery = Parsed<NonNullable<typeof streamEvents.query>>

/** Latest time of `from`, for clocks that are ahead, in milliseconds after now. */
const TOLERANCE_MS = 5_000

/**
 * The events that a query asks for.
 * @returns undefined for all events
 * @throws Refusal unknown-event-types; invalid-request for a time in the future
 */
export function eventFilter(query: FeedQuery, now: Date): ((entry: Entry) => boolean) | undefined {
  const { type: types, api, webhook, user, from, to } = query
  const unknown = types?.filter(type => !isPublicEventType(type)) ?? []
  if (unknown.length > 0) {
    throw new Refusal('unknown-event-types', {
      detail: `unknown: ${unknown.join(', ')}; known: ${Object.keys(PUBLIC_EVENTS).join(', ')}`,
      unknown,
    })
  }
  const since = from === undefined ? undefined : Date.parse(from)
  const until = to === undefined ? undefined : Date.parse(to)
  if (since !== undefined && since > now.getTime() + TOLERANCE_MS)
    throw invalidField('from', 'must not be in the future')
  const wanted = [
    types && types.length > 0 && ((entry: Entry) => types.includes(entry.type)),
    api && ((entry: Entry) => entry.subject === api || entry.api === api),
    webhook && ((entry: Entry) => entry.subject === webhook || entry.webhook === webhook),
    user && ((entry: Entry) => entry.subject === user || entry.actor === user),
    since !== undefined && ((entry: Entry) => Date.parse(entry.time) >= since),
    until !== undefined && ((entry: Entry) => Date.parse(entry.time) < until),
  ].filter(check => typeof check === 'function')
  return wanted.length === 0 ? undefined : entry => wanted.every(check => check(entry))
}
