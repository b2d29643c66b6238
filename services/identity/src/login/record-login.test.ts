import { randomUUID } from 'node:crypto'
import {
  aggregate,
  type EventStore,
  EventStoreUnavailable,
  NO_STREAM,
  type RecordedEvent,
  START,
} from '@gantry/event-sourcing'
import { type InMemoryLog, inMemoryLog, storyMetadata } from '@gantry/event-sourcing/testing'
import type { Write } from '@gantry/read-models'
import { beforeEach, describe, expect, test } from 'vitest'
import { type UserCommand, userDecider } from '../user/user.decide.ts'
import type { UserEvent, UserState } from '../user/user.ts'
import { locksProjection } from './locks.projection.ts'
import { logins } from './record-login.ts'

const ID = '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10'
const NOVEMBER = '2026-11-30T23:59:59.900Z'
const DECEMBER = '2026-12-01T00:00:00.000Z'

let log: InMemoryLog
let written: Write[]
beforeEach(async () => {
  log = inMemoryLog()
  written = []
  const { now, actor, requestId } = storyMetadata
  const data = {
    id: ID,
    username: 'ada',
    displayName: 'Ada',
    email: null,
    role: 'USER',
    status: 'ACTIVE',
    sso: false,
    passwordHash: 'h1',
    createdAt: now,
  }
  const created = { id: randomUUID(), type: 'UserCreated', data, metadata: { actor, requestId, at: now } }
  await log.connect().append(`user-${ID}`, [created], NO_STREAM)
})

/** A replica of the service on the log. @param eventStore a store on the same log, e.g. one that fails */
function replica(eventStore: EventStore = log.connect()) {
  const user = aggregate<UserState, UserCommand, UserEvent>({
    eventStore,
    category: 'user',
    decider: userDecider,
  })
  const write = async (writes: readonly Write[]) => void written.push(...writes)
  const { record, last } = logins({ eventStore, readModels: { write }, user })
  const logIn = (now: string, correct: boolean) =>
    record(ID, {
      type: 'LogIn',
      metadata: { ...storyMetadata, commandId: randomUUID(), now },
      username: 'ada',
      checkedAgainst: 'h1',
      correct,
    })
  return {
    last: (now: string) => last(ID, now),
    fail: (now = NOVEMBER) => logIn(now, false),
    succeed: (now = NOVEMBER) => logIn(now, true),
  }
}

const recorded = async (category = 'logins') => {
  const events: RecordedEvent[] = []
  for await (const event of log.connect().readAll({ after: START, streamPrefixes: [`${category}-`] }))
    events.push(event)
  return events
}
const types = async () =>
  (await recorded()).map(({ stream, type }) => `${stream.slice(`logins-${ID}-`.length)} ${type}`)

/** A store on the log whose appends go through a function, which may throw before or after them. */
function storeWith(append: (store: EventStore, ...call: Parameters<EventStore['append']>) => unknown) {
  const store = log.connect()
  return {
    ...store,
    append: (...call) => append(store, ...call) as ReturnType<EventStore['append']>,
  } satisfies EventStore
}

describe('logins of several replicas', () => {
  test('are counted when they are concurrent, up to the lock', async () => {
    const replicas = [replica(), replica(), replica()]
    const tries = Array.from({ length: 12 }, (_, n) => replicas[n % 3]?.fail().catch(error => error.code))
    expect((await Promise.all(tries)).filter(outcome => outcome === 'wrong-credentials')).toHaveLength(7)
    expect(await types()).toEqual([
      '2026-10 MonthEnded',
      ...Array.from({ length: 5 }, () => '2026-11 LoginFailed'),
      '2026-11 UserLocked',
    ])
  })

  test('are counted across the end of a month, even if the clock of one is behind', async () => {
    const [ahead, behind] = [replica(), replica()]
    await behind.fail(NOVEMBER)
    await ahead.fail(DECEMBER)
    await behind.fail(NOVEMBER)
    await ahead.fail(DECEMBER)
    await behind.fail(NOVEMBER)
    expect(await types()).toEqual([
      '2026-10 MonthEnded',
      '2026-11 LoginFailed',
      '2026-11 MonthEnded',
      ...Array.from({ length: 4 }, () => '2026-12 LoginFailed'),
      '2026-12 UserLocked',
    ])
    for (const { succeed } of [ahead, behind])
      await expect(succeed(DECEMBER)).rejects.toMatchObject({ code: 'wrong-credentials' })
  })

  test('are all counted when they are concurrent at the end of a month', async () => {
    await replica().fail(NOVEMBER)
    const [ahead, behind] = [replica(), replica()]
    await Promise.all([
      ahead.fail(DECEMBER),
      behind.fail(NOVEMBER),
      ahead.fail(DECEMBER),
      behind.fail(NOVEMBER),
    ])
    expect((await types()).filter(type => type.endsWith('LoginFailed'))).toHaveLength(5)
    expect((await types()).at(-1)).toBe('2026-12 UserLocked')
  })
})

test('the first logins of a user are counted together if the clock of the second replica is behind', async () => {
  await replica().fail(DECEMBER)
  await replica().fail(NOVEMBER)
  expect(await replica().last(DECEMBER)).toMatchObject({ failed: 2 })
})

test('wrong passwords count until the end of the next month, also after a restart', async () => {
  await replica().fail(NOVEMBER)
  await replica().fail(NOVEMBER)
  expect(await replica().last('2026-12-31T23:59:59.999Z')).toMatchObject({ failed: 2 })
  expect(await replica().last('2027-01-01T00:00:00.000Z')).toMatchObject({ failed: 0 })
})

test('the right password resets the count, and no login is in the stream of the user', async () => {
  for (let time = 0; time < 10; time++) {
    for (let wrong = 0; wrong < 4; wrong++) await replica().fail()
    await replica().succeed()
  }
  expect(await recorded('user')).toHaveLength(1)
  expect(await replica().last(NOVEMBER)).toMatchObject({ failed: 0, lockedUntil: null })
})

test('no wrong password is lost when a process dies after it appended MonthEnded', async () => {
  await replica().fail(NOVEMBER)
  const died = new Error('the process died')
  const dying = replica(
    storeWith(async (store, stream, events, expected) => {
      await store.append(stream, events, expected)
      throw died
    }),
  )
  await expect(dying.fail(DECEMBER)).rejects.toBe(died)
  expect((await types()).at(-1)).toBe('2026-11 MonthEnded')
  await replica().fail(DECEMBER)
  expect(await replica().last(DECEMBER)).toMatchObject({ failed: 2 })
})

test('the projector writes a lock that a process has recorded but not written before it died', async () => {
  for (let time = 0; time < 4; time++) await replica().fail()
  const dying = replica(
    storeWith(async (store, ...call) => {
      await store.append(...call)
      throw new Error('the process died')
    }),
  )
  await expect(dying.fail()).rejects.toThrow('the process died')
  expect(written).toEqual([])
  const { writes } = await locksProjection.writes(await recorded(), false)
  expect(writes).toMatchObject([
    { id: ID, doc: { id: ID, lockedUntil: '2026-12-01T00:14:59.900Z', userRevision: 0 } },
  ])
})

test('an append that was stored but not acknowledged is stored once', async () => {
  const calls = new Set<string>()
  const store = storeWith(async (store, stream, events, expected) => {
    const appended = await store.append(stream, events, expected)
    if (calls.has(stream)) return appended
    calls.add(stream)
    throw new EventStoreUnavailable('no answer')
  })
  await replica(store).fail()
  expect(await types()).toEqual(['2026-10 MonthEnded', '2026-11 LoginFailed'])
})

test('the count continues after an event of an unknown type from a newer release', async () => {
  await replica().fail()
  const [, failed] = await recorded()
  if (!failed) throw new Error('nothing is recorded')
  const state = { failed: 4, lockedUntil: null, userRevision: 0, generation: null }
  const newer = { id: randomUUID(), type: 'LoginSuspected', data: { state }, metadata: failed.metadata }
  await log.connect().append(failed.stream, [newer], failed.revision)
  await replica().fail()
  expect((await types()).at(-1)).toBe('2026-11 UserLocked')
})
