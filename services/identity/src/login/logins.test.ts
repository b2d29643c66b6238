import { join } from 'node:path'
import { NO_STREAM } from '@gantry/event-sourcing'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import { created, deleted, ID, LATER, NOW } from '../testing/user-events.ts'
import { noLogins } from '../user/login-state.ts'
import { evolveUser, initialUser, type UserEvent } from '../user/user.ts'
import { type LogIn, type LoginEvent, loginDecider } from './logins.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'logins',
  decider: loginDecider({ state: initialUser, revision: NO_STREAM }),
})

const unlocked: UserEvent = { type: 'UserUnlocked', data: { at: NOW, lockedUntil: LATER } }
/** A story of the logins of a user whose stream has these events. */
const user = (...events: UserEvent[]) =>
  story(
    loginDecider({
      state: events.reduce(evolveUser, initialUser),
      revision: events.length === 0 ? NO_STREAM : events.length - 1,
    }),
  )
const logIn = (correct: boolean, fields: object = {}): LogIn => ({
  type: 'LogIn',
  metadata,
  username: 'ada',
  checkedAgainst: 'h1',
  correct,
  ...fields,
})
const failed = (count: number, userRevision = 0, lockedUntil: string | null = null): LoginEvent => ({
  type: 'LoginFailed',
  data: { at: NOW, state: { ...noLogins, failed: count, lockedUntil, userRevision } },
})
const lockedUntil = (until: string, userRevision = 0): LoginEvent => ({
  type: 'UserLocked',
  data: { until, state: { ...noLogins, lockedUntil: until, userRevision } },
})
const locked = lockedUntil(LATER)
const loggedIn = (userRevision = 0): LoginEvent => ({
  type: 'UserLoggedIn',
  data: { at: NOW, state: { ...noLogins, userRevision, generation: 0 } },
})
const { given } = user(created())

describe('a login', () => {
  test('with the right password is recorded and resets the count of wrong ones', () => {
    given(failed(1), failed(2)).when(logIn(true)).then(loggedIn())
    given(failed(1), failed(2), loggedIn())
      .when(logIn(false))
      .then({
        type: 'LoginFailed',
        data: { at: NOW, state: { failed: 1, lockedUntil: null, userRevision: 0, generation: 0 } },
      })
  })
  test('locks the user at the fifth wrong password in a row', () => {
    given(failed(3)).when(logIn(false)).then(failed(4))
    given(failed(4)).when(logIn(false)).then(failed(5), locked)
  })
  test('needs only the last event of the logins', () => {
    const month: LoginEvent = {
      type: 'MonthEnded',
      data: { state: { ...noLogins, failed: 4, userRevision: 0 } },
    }
    given(month).when(logIn(false)).then(failed(5), locked)
  })
  test('of a locked user is refused with the right and the wrong password alike, and not counted', () => {
    given(locked).when(logIn(true)).thenRefused('wrong-credentials')
    given(locked).when(logIn(false)).thenRefused('wrong-credentials')
  })
  test('is possible again when the lock has expired, and wrong passwords are counted from 1', () => {
    given(lockedUntil(NOW)).when(logIn(true)).then(loggedIn())
    given(lockedUntil(NOW))
      .when(logIn(false))
      .then(failed(1, 0, NOW))
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
  const decider = loginDecider({
    state: evolveUser(initialUser, created({ passwordHash: 'SECRET' }), 0),
    revision: 0,
  })
  let state = decider.initial
  const changes = [failed(5), locked, loggedIn()].map((event, revision) => {
    const before = state
    state = decider.evolve(state, event, revision, metadata.actor)
    return decider.describe?.(before, event, state)
  })
  const of = (lock: string | null) => ({ id: ID, lockedUntil: lock })
  expect(changes).toMatchObject([
    { action: 'USER_LOGIN_FAILED', resourceId: ID, before: of(null), after: of(null) },
    { action: 'USER_LOCKED', resourceId: ID, before: of(null), after: of(LATER) },
    { action: 'USER_LOGGED_IN', resourceId: ID, before: of(LATER), after: of(null) },
  ])
  expect(JSON.stringify(changes)).not.toMatch(/SECRET|ada/i)
})
