import { join } from 'node:path'
import {
  inMemoryLog,
  storyMetadata as metadata,
  story,
  testFrozenStreams,
  withoutProjector,
} from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import { created, deleted, ID, LATER, NOW } from '../testing/user-events.ts'
import { evolveUser, initialUser, type UserEvent } from '../user/user.ts'
import {
  type LogIn,
  type LoginEvent,
  loginDecider,
  loginSnapshots,
  loginsAggregate,
  projectLock,
} from './logins.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'logins',
  decider: loginDecider,
  project: projectLock,
  snapshots: loginSnapshots,
})

const unlocked: UserEvent = { type: 'UserUnlocked', data: { at: NOW, lockedUntil: LATER } }
const stateAfter = (...events: UserEvent[]) => ({
  state: events.reduce(evolveUser, initialUser),
  revision: events.length - 1,
})
/** A story of the logins of a user whose stream has these events. */
const user = (...events: UserEvent[]) => ({
  given: (...past: LoginEvent[]) => ({
    when: ({ correct, fields }: ReturnType<typeof logIn>) =>
      story(loginDecider)
        .given(...past)
        .when({
          ...{ type: 'LogIn', metadata, username: 'ada', checkedAgainst: 'h1', correct },
          user: stateAfter(...events),
          ...fields,
        }),
  }),
})
const logIn = (correct: boolean, fields: Partial<LogIn> = {}) => ({ correct, fields })
const failed = (count: number, userRevision = 0): LoginEvent => ({
  type: 'LoginFailed',
  data: { at: NOW, userRevision, failed: count },
})
const lockedUntil = (until: string, userRevision = 0): LoginEvent => ({
  type: 'UserLocked',
  data: { until, userRevision },
})
const locked = lockedUntil(LATER)
const loggedIn = (userRevision = 0): LoginEvent => ({
  type: 'UserLoggedIn',
  data: { at: NOW, userRevision, generation: 0 },
})
const { given } = user(created())

describe('a login', () => {
  test('with the right password is recorded and resets the count of wrong ones', () => {
    given(failed(1), failed(2)).when(logIn(true)).then(loggedIn())
    given(failed(1), failed(2), loggedIn()).when(logIn(false)).then(failed(1))
  })
  test('locks the user at the fifth wrong password in a row', () => {
    given(failed(3)).when(logIn(false)).then(failed(4))
    given(failed(4)).when(logIn(false)).then(failed(5), locked)
  })
  test('of a locked user is refused with the right and the wrong password alike, and not counted', () => {
    given(locked).when(logIn(true)).thenRefused('wrong-credentials')
    given(locked).when(logIn(false)).thenRefused('wrong-credentials')
  })
  test('is possible again when the lock has expired, and wrong passwords are counted from 1', () => {
    given(lockedUntil(NOW)).when(logIn(true)).then(loggedIn())
    given(lockedUntil(NOW)).when(logIn(false)).then(failed(1))
  })
  test('is possible again when an administrator has unlocked the user, and wrong passwords are counted from 1', () => {
    const { given } = user(created(), unlocked)
    given(locked).when(logIn(true)).then(loggedIn(1))
    given(locked).when(logIn(false)).then(failed(1, 1))
    given(failed(4)).when(logIn(false)).then(failed(1, 1))
    given(failed(4, 1)).when(logIn(false)).then(failed(5, 1), lockedUntil(LATER, 1))
  })
  test('is refused when the username or the password has changed while it was checked', () => {
    const changed: UserEvent = { type: 'PasswordChanged', data: { passwordHash: 'h2', changedAt: NOW } }
    user(created(), changed).given().when(logIn(true)).thenRefused('wrong-credentials')
    given()
      .when(logIn(true, { username: 'grace' }))
      .thenRefused('wrong-credentials')
  })
  test('is refused for an unknown and for a deleted user', () => {
    user()
      .given()
      .when(logIn(false, { checkedAgainst: null }))
      .thenRefused('wrong-credentials')
    user(created(), deleted).given().when(logIn(true)).thenRefused('wrong-credentials')
  })
  test('of a single sign-on user is allowed only for administrators with a password', () => {
    const sso = (fields: object = {}) => user(created({ sso: true, ...fields })).given()
    sso().when(logIn(true)).thenRefused('sso-login-only')
    sso().when(logIn(false)).then(failed(1))
    sso({ role: 'ADMIN' }).when(logIn(true)).then(loggedIn())
    sso({ role: 'ADMIN', passwordHash: null })
      .when(logIn(false, { checkedAgainst: null }))
      .thenRefused('sso-login-only')
  })
  test('of an inactive user is refused as such only with the right password', () => {
    const { given } = user(created({ status: 'INACTIVE' }))
    given().when(logIn(true)).thenRefused('user-inactive')
    given().when(logIn(false)).then(failed(1))
  })
})

test('an outdated read of the user lifts no lock and resets no count', () => {
  given(failed(3, 7)).when(logIn(false)).then(failed(4, 7))
  given(lockedUntil(LATER, 7)).when(logIn(true)).thenRefused('wrong-credentials')
})

test('the changes that logins describe contain the lock, and no name, password or hash', () => {
  const command: LogIn = {
    ...{ type: 'LogIn', metadata, username: 'ada', checkedAgainst: 'SECRET', correct: false },
    user: stateAfter(created({ passwordHash: 'SECRET' })),
  }
  let state = loginDecider.initial
  const changes = [failed(5), locked].map((event, revision) => {
    const before = state
    state = loginDecider.evolve(state, event, revision, metadata.actor)
    return loginDecider.describe?.(before, event, state, command)
  })
  const of = (lock: string | null) => ({ id: ID, lockedUntil: lock })
  expect(changes).toMatchObject([
    { action: 'USER_LOGIN_FAILED', resourceId: ID, before: of(null), after: of(null) },
    { action: 'USER_LOCKED', resourceId: ID, before: of(null), after: of(LATER) },
  ])
  expect(JSON.stringify(changes)).not.toMatch(/SECRET|ada/i)
})

test('concurrent wrong passwords at several replicas are all counted, up to the lock', async () => {
  const log = inMemoryLog()
  const projector = withoutProjector({ async write() {} })
  const unknownEvent = () => {}
  const replicas = [1, 2, 3].map(() =>
    loginsAggregate({ eventStore: log.connect(), unknownEvent }, projector),
  )
  const user = stateAfter(created())
  const tries = Array.from({ length: 12 }, (_, n) =>
    replicas[n % 3]
      ?.execute(ID, {
        ...{ type: 'LogIn', username: 'ada', checkedAgainst: 'h1', correct: false, user },
        metadata: { ...metadata, commandId: `try ${n}` },
      })
      .catch(error => error.code),
  )
  expect((await Promise.all(tries)).filter(outcome => outcome === 'wrong-credentials')).toHaveLength(7)
  expect((await log.connect().readStream(`logins-${ID}`)).map(({ type }) => type)).toEqual([
    ...Array.from({ length: 5 }, () => 'LoginFailed'),
    'UserLocked',
  ])
})
