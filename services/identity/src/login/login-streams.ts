import { setTimeout } from 'node:timers/promises'
import type { Change } from '@gantry/contracts'
import {
  type Appended,
  type CommandMetadata,
  type EventStore,
  EventStoreUnavailable,
  type NewEvent,
  NO_STREAM,
  nameUuids,
  type RecordedEvent,
  streamName,
  upcast,
} from '@gantry/event-sourcing'
import { type LoginState, noLogins } from '../user/login-state.ts'
import { type LoginEvent, loginEvents } from './logins.ts'

/** The end of a user's logins, after which the next event is appended. */
export interface LoginsEnd {
  stream: string
  revision: number
  /** State after the last event; the initial state if there is none. */
  state: LoginState
  /** The previous month's stream if it has no `MonthEnded` yet, which must be appended first. */
  unended?: { stream: string; revision: number }
}

/** A month in ISO 8601, e.g. `2026-11`. */
type Month = string

const TRIES_WHEN_UNAVAILABLE = 3
const eventUuid = nameUuids('0b9d1f52-7d0c-4c83-a7de-6a2f1c2f5f0e')

/** @param id of the user */
const streamOf = (id: string, month: Month) => streamName('logins', `${id}-${month}`)
const monthOf = (time: string): Month => time.slice(0, 7)
const monthFrom = (month: Month, months: number): Month => {
  const date = new Date(`${month}-01T00:00:00.000Z`)
  date.setUTCMonth(date.getUTCMonth() + months)
  return monthOf(date.toISOString())
}

/** Finds the end of a user's logins at a time. Logins before the previous month are not considered. */
export async function endOfLogins(eventStore: EventStore, id: string, now: string): Promise<LoginsEnd> {
  const endIn = async (month: Month): Promise<LoginsEnd> => {
    const stream = streamOf(id, month)
    const last = await eventStore.readLast(stream)
    // A replica whose clock is ahead has already started the next month.
    if (last?.type === 'MonthEnded') return endIn(monthFrom(month, 1))
    if (last) return { stream, revision: last.revision, state: stateAfter(last) }
    const previous = streamOf(id, monthFrom(month, -1))
    const before = await eventStore.readLast(previous)
    const end = { stream, revision: NO_STREAM, state: before ? stateAfter(before) : noLogins }
    if (before?.type === 'MonthEnded') return end
    return { ...end, unended: { stream: previous, revision: before?.revision ?? NO_STREAM } }
  }
  return endIn(monthOf(now))
}

/** An event of a login, with the change that it makes. */
export type DescribedLogin = LoginEvent & { change: Change | null | undefined }

/**
 * Appends events after the end of a user's logins. Ends the previous month before that, so that every login is decided on
 * the event before it, even if the clocks of replicas differ.
 * @throws WrongExpectedRevision when there are later logins
 */
export async function appendLogin(
  eventStore: EventStore,
  { stream, revision, state, unended }: LoginsEnd,
  events: readonly DescribedLogin[],
  { now: at, actor, requestId, traceparent, commandId }: CommandMetadata,
): Promise<Appended> {
  if (unended) {
    const ended: LoginEvent = { type: 'MonthEnded', data: { state } }
    const metadata = { actor: { id: null, name: 'identity' }, requestId, at }
    const id = eventUuid(unended.stream)
    await append(eventStore, unended.stream, [{ ...ended, id, metadata }], unended.revision)
  }
  const facts = events.map(
    ({ type, data, change }, index): NewEvent => ({
      type,
      data,
      id: eventUuid(`${stream}/${commandId}/${index}`),
      metadata: { actor, requestId, at, ...(traceparent && { traceparent }), ...(change && { change }) },
    }),
  )
  return append(eventStore, stream, facts, revision)
}

/** Repeats an append that got no answer. This is safe, because the store answers a repeated append like the first one. */
async function append(eventStore: EventStore, stream: string, events: NewEvent[], expected: number) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await eventStore.append(stream, events, expected)
    } catch (error) {
      if (!(error instanceof EventStoreUnavailable) || attempt === TRIES_WHEN_UNAVAILABLE) throw error
      await setTimeout(100 * attempt)
    }
  }
}

/** The state in an event of any release. Newer releases may write unknown types, but these contain the state as well. */
function stateAfter(event: RecordedEvent): LoginState {
  const { state } = (upcast(loginEvents, event)?.data ?? event.data) as { state: LoginState }
  return state
}
