import { setTimeout } from 'node:timers/promises'
import {
  type Aggregate,
  type CommandMetadata,
  type EventStore,
  EventStoreUnavailable,
  type NewEvent,
  NO_STREAM,
  nameUuids,
  type RecordedEvent,
  type Snapshot,
  streamName,
  upcast,
  WrongExpectedRevision,
} from '@gantry/event-sourcing'
import type { ReadModels } from '@gantry/read-models'
import { type LoginState, noLogins } from '../user/login-state.ts'
import type { UserCommand } from '../user/user.decide.ts'
import type { UserEvent, UserState } from '../user/user.ts'
import { lockWrites } from './locks.projection.ts'
import { type LogIn, type LoginEvent, loginDecider, loginEvents } from './logins.ts'

/** A month in ISO 8601, e.g. `2026-11`. */
type Month = string

/** The end of a user's logins, after which the next event is appended. */
interface Place {
  month: Month
  revision: number
  state: LoginState
  /** Revision of the previous month's stream if it has no `MonthEnded` yet, which must be appended first. */
  unended?: number
}

export interface Logins {
  /** State after the last event of the current or the previous month; the initial state if there is none. */
  last(id: string, now: string): Promise<LoginState>
  /**
   * Decides on a login and appends its events.
   * @returns the user that the login was decided on
   * @throws Refusal when the login is refused
   * @throws EventStoreUnavailable when the store did not answer; the login may have been recorded
   */
  record(id: string, command: LogIn): Promise<Snapshot<UserState>>
}

const LOGINS = 'logins'
const TRIES_ON_CONFLICT = 20
const TRIES_WHEN_UNAVAILABLE = 3
const eventUuid = nameUuids('0b9d1f52-7d0c-4c83-a7de-6a2f1c2f5f0e')

/** @param id of the user */
const streamOf = (id: string, month: Month) => streamName(LOGINS, `${id}-${month}`)
const monthOf = (time: string): Month => time.slice(0, 7)
const monthFrom = (month: Month, months: number): Month => {
  const date = new Date(`${month}-01T00:00:00.000Z`)
  date.setUTCMonth(date.getUTCMonth() + months)
  return monthOf(date.toISOString())
}

/**
 * The logins of users, in one stream per user and month. The event `MonthEnded` closes a stream before the first event of
 * the next month is appended. So every login is decided on the event before it, even if the clocks of replicas differ.
 */
export function logins({
  eventStore,
  readModels,
  user,
}: {
  eventStore: EventStore
  readModels: Pick<ReadModels, 'write'>
  user: Aggregate<UserState, UserCommand, UserEvent>
}): Logins {
  const placeIn = async (id: string, month: Month): Promise<Place> => {
    const last = await eventStore.readLast(streamOf(id, month))
    // A replica whose clock is ahead has already started the next month.
    if (last?.type === 'MonthEnded') return placeIn(id, monthFrom(month, 1))
    if (last) return { month, revision: last.revision, state: stateAfter(last) }
    const before = await eventStore.readLast(streamOf(id, monthFrom(month, -1)))
    const state = before ? stateAfter(before) : noLogins
    const place = { month, revision: NO_STREAM, state }
    return before?.type === 'MonthEnded' ? place : { ...place, unended: before?.revision ?? NO_STREAM }
  }

  /** Repeats an append that got no answer. This is safe, because the store answers a repeated append like the first one. */
  const append = async (stream: string, events: NewEvent[], expected: number) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await eventStore.append(stream, events, expected)
      } catch (error) {
        if (!(error instanceof EventStoreUnavailable) || attempt === TRIES_WHEN_UNAVAILABLE) throw error
        await setTimeout(100 * attempt)
      }
    }
  }

  const endMonth = async (
    id: string,
    { month, state }: Place,
    revision: number,
    metadata: CommandMetadata,
  ) => {
    const stream = streamOf(id, monthFrom(month, -1))
    const ended: LoginEvent = { type: 'MonthEnded', data: { state } }
    const { requestId, now: at } = metadata
    const actor = { id: null, name: 'identity' }
    await append(stream, [{ ...ended, id: eventUuid(stream), metadata: { actor, requestId, at } }], revision)
  }

  const tryRecord = async (id: string, command: LogIn): Promise<Snapshot<UserState>> => {
    const place = await placeIn(id, monthOf(command.metadata.now))
    const snapshot = await user.load(id)
    const decider = loginDecider(snapshot)
    const events = decider.decide(place.state, command)
    if (place.unended !== undefined) await endMonth(id, place, place.unended, command.metadata)
    const stream = streamOf(id, place.month)
    const { now: at, actor, requestId, traceparent, commandId } = command.metadata
    let { state } = place
    const facts = events.map((event, index): NewEvent => {
      const before = state
      state = decider.evolve(before, event, place.revision + 1 + index, actor)
      const change = decider.describe?.(before, event, state)
      return {
        ...event,
        id: eventUuid(`${stream}/${commandId}/${index}`),
        metadata: { actor, requestId, at, ...(traceparent && { traceparent }), ...(change && { change }) },
      }
    })
    const { revision } = await append(stream, facts, place.revision)
    const first = revision + 1 - events.length
    await readModels.write(events.flatMap((event, index) => lockWrites(stream, first + index, event)))
    return snapshot
  }

  return {
    last: async (id, now) => (await placeIn(id, monthOf(now))).state,
    async record(id, command) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await tryRecord(id, command)
        } catch (error) {
          if (!(error instanceof WrongExpectedRevision) || attempt === TRIES_ON_CONFLICT) throw error
        }
      }
    },
  }
}

/** The state in an event of any release. Newer releases may write unknown types, but these contain the state as well. */
function stateAfter(event: RecordedEvent): LoginState {
  const { state } = (upcast(loginEvents, event)?.data ?? event.data) as { state: LoginState }
  return state
}
