import { join } from 'node:path'
import { ROLE_SCOPES, type Role, type Scope } from '@gantry/contracts'
import {
  frozenStreams,
  storyMetadata as metadata,
  story,
  testFrozenStreams,
} from '@gantry/event-sourcing/testing'
import { plainKey } from '@gantry/service-runtime'
import type { UserKey, UserKeys } from '@gantry/stores'
import { describe, expect, test } from 'vitest'
import { openedEvent } from '../personal-data/sealed-events.ts'
import { userCiphers } from '../personal-data/user-ciphers.ts'
import { created, deleted, ID, input, LATER, NOW } from '../testing/user-events.ts'
import { type LoginState, noLogins } from './login-state.ts'
import { userDecider } from './user.decide.ts'
import { projectUser } from './user.projection.ts'
import type { UserEvent } from './user.ts'

const folder = join(import.meta.dirname, '../frozen')
const keys = frozenStreams(folder, 'user').keys as Record<string, UserKey>
const ciphers = userCiphers({
  userKeys: { get: async (user: string) => keys[user] } as UserKeys,
  encryptionKeys: plainKey(Buffer.alloc(32, 7)),
  log: { warn() {} },
})

testFrozenStreams({
  folder,
  category: 'user',
  decider: userDecider,
  project: projectUser,
  opened: event => openedEvent(event, ciphers),
})

const all = (role: Role) => ({ role, scopes: [...ROLE_SCOPES[role]] })
const { given } = story(userDecider)

describe('an administrator', () => {
  const create = (by: Role, role: Role) => ({
    type: 'CreateUser' as const,
    metadata,
    by: all(by),
    id: ID,
    input: { ...input, role },
    passwordHash: 'h1',
  })
  const update = (by: Role, fields: object = {}, passwordHash: string | null = null) => ({
    type: 'UpdateUser' as const,
    metadata,
    by: all(by),
    input: { ...input, ...fields },
    passwordHash,
  })
  const updated = (fields: object = {}): UserEvent => ({
    type: 'UserUpdated',
    data: { ...input, ...fields, updatedAt: NOW },
  })

  test('with an access token manages users, and administrators only with every scope of their role', () => {
    const token = (...scopes: Scope[]) => ({ by: { role: 'GLOBAL_ADMIN' as const, scopes } })
    const narrow = token('USER_READ', 'USER_WRITE')
    given()
      .when({ ...create('GLOBAL_ADMIN', 'USER'), ...narrow })
      .then(created())
    for (const role of ['ADMIN', 'GLOBAL_ADMIN'] as const) {
      given()
        .when({ ...create('GLOBAL_ADMIN', role), ...narrow })
        .thenRefused('scope-missing')
      given(created())
        .when({ ...update('GLOBAL_ADMIN', { role }), ...narrow })
        .thenRefused('scope-missing')
      const above = created({ role })
      given(above)
        .when({ ...update('GLOBAL_ADMIN', { role }, 'h2'), ...narrow })
        .thenRefused('scope-missing')
      given(above)
        .when({ type: 'DeleteUser', metadata, ...narrow })
        .thenRefused('scope-missing')
      given(above)
        .when({ type: 'UnlockUser', metadata, last: noLogins, ...narrow })
        .thenRefused('scope-missing')
    }
    given()
      .when({ ...create('GLOBAL_ADMIN', 'ADMIN'), ...token(...ROLE_SCOPES.ADMIN) })
      .then(created({ role: 'ADMIN' }))
  })

  test('creates users of their own role and below, not above', () => {
    given()
      .when(create('ADMIN', 'ADMIN'))
      .then(created({ role: 'ADMIN' }))
    given().when(create('ADMIN', 'GLOBAL_ADMIN')).thenRefused('role-missing')
  })
  test('creates users whose display name defaults to the username', () => {
    given()
      .when({ ...create('ADMIN', 'USER'), input: { ...input, displayName: null } })
      .then(created({ displayName: 'ada' }))
  })
  test('can neither raise a user above their own role nor change a user who is above it', () => {
    given(created())
      .when(update('ADMIN', { role: 'GLOBAL_ADMIN' }))
      .thenRefused('role-missing')
    const above = created({ role: 'GLOBAL_ADMIN' })
    given(above)
      .when(update('ADMIN', { role: 'USER' }))
      .thenRefused('role-missing')
    given(above)
      .when({ type: 'DeleteUser', metadata, by: all('ADMIN') })
      .thenRefused('role-missing')
    given(above)
      .when({ type: 'UnlockUser', metadata, last: noLogins, by: all('ADMIN') })
      .thenRefused('role-missing')
  })
  test('may demote a user of their own role', () => {
    given(created({ role: 'ADMIN' }))
      .when(update('ADMIN'))
      .then(updated())
  })
  test('changes nothing with the same values', () => {
    given(created()).when(update('ADMIN')).then()
  })
  test('changes fields and password in one append', () => {
    given(created())
      .when(update('ADMIN', { email: 'ada@example.com' }, 'h2'))
      .then(updated({ email: 'ada@example.com' }), {
        type: 'PasswordChanged',
        data: { passwordHash: 'h2', changedAt: NOW },
      })
  })
  test('cannot leave a user with neither password nor single sign-on', () => {
    const sso = created({ sso: true, passwordHash: null })
    given(sso).when(update('ADMIN')).thenRefused('invalid-request')
    given(sso)
      .when(update('ADMIN', {}, 'h2'))
      .then(updated(), { type: 'PasswordChanged', data: { passwordHash: 'h2', changedAt: NOW } })
  })
  test('is refused with an outdated revision; unlocking makes a revision outdated, a logout does not', () => {
    const atFirst = { type: 'DeleteUser' as const, metadata, by: all('ADMIN'), ifMatch: [0] }
    const unlocked: UserEvent = { type: 'UserUnlocked', data: { at: NOW, lockedUntil: LATER } }
    given(created(), { type: 'UserLoggedOut', data: { at: NOW } })
      .when(atFirst)
      .then(deleted)
    given(created(), unlocked).when(atFirst).thenRefused('precondition-failed')
  })
  test('cannot change a deleted user', () => {
    given(created(), deleted).when(update('GLOBAL_ADMIN')).thenRefused('user-not-found')
    given(created(), deleted)
      .when({ type: 'UnlockUser', metadata, last: noLogins, by: all('GLOBAL_ADMIN') })
      .thenRefused('user-not-found')
  })
})

describe('unlocking', () => {
  const unlock = (last: LoginState, by: Role = 'ADMIN') => ({
    type: 'UnlockUser' as const,
    metadata,
    by: all(by),
    last,
  })
  const unlockedFrom = (lockedUntil: string | null): UserEvent => ({
    type: 'UserUnlocked',
    data: { at: NOW, lockedUntil },
  })
  test('lifts a lock and resets the count of wrong passwords', () => {
    given(created())
      .when(unlock({ ...noLogins, lock: { lockedUntil: LATER, userRevision: 0 } }))
      .then(unlockedFrom(LATER))
    given(created())
      .when(unlock({ ...noLogins, failed: 1, userRevision: 0 }))
      .then(unlockedFrom(null))
    given(created()).when(unlock(noLogins)).then()
    given(created())
      .when(unlock({ ...noLogins, lock: { lockedUntil: NOW, userRevision: 0 } }))
      .then()
  })
  test('changes nothing when the user was unlocked after the last login event', () => {
    const last = { ...noLogins, failed: 3, userRevision: 0, lock: { lockedUntil: LATER, userRevision: 0 } }
    given(created(), unlockedFrom(LATER)).when(unlock(last)).then()
  })
})

describe('logging out', () => {
  const loggedOut: UserEvent = { type: 'UserLoggedOut', data: { at: NOW } }
  const logOut = (last?: LoginState) => ({ type: 'LogOut' as const, metadata, ...(last && { last }) })
  const ofGeneration = (generation: number): LoginState => ({ ...noLogins, userRevision: 0, generation })
  test('with a login token revokes it', () => {
    given(created()).when(logOut()).then(loggedOut)
  })
  test('with another credential is recorded only if there was a login since the last revocation', () => {
    given(created()).when(logOut(noLogins)).then()
    given(created())
      .when(logOut(ofGeneration(0)))
      .then(loggedOut)
    given(created(), loggedOut)
      .when(logOut(ofGeneration(0)))
      .then()
    given(created(), loggedOut)
      .when(logOut(ofGeneration(1)))
      .then(loggedOut)
  })
})

describe('login tokens', () => {
  const generation = (...events: UserEvent[]) => {
    const { state } = given(created(), ...events)
    return state.status === 'Live' ? state.generation : state.status
  }
  test('are revoked by logging out, a new password and deactivation', () => {
    const inactive: UserEvent = {
      type: 'UserUpdated',
      data: { ...input, status: 'INACTIVE', updatedAt: NOW },
    }
    expect(generation()).toBe(0)
    expect(generation({ type: 'UserLoggedOut', data: { at: NOW } })).toBe(1)
    expect(generation({ type: 'PasswordChanged', data: { passwordHash: 'h2', changedAt: NOW } })).toBe(1)
    expect(generation(inactive)).toBe(1)
    expect(generation(inactive, inactive)).toBe(1)
  })
  test('stay valid after a new username', () => {
    const renamed: UserEvent = { type: 'UserUpdated', data: { ...input, username: 'b', updatedAt: NOW } }
    expect(generation(renamed)).toBe(0)
  })
})

test('no change for public events and the audit log has a password or its hash', () => {
  const events: UserEvent[] = [
    created({ passwordHash: 'SECRET' }),
    { type: 'PasswordChanged', data: { passwordHash: 'SECRET', changedAt: NOW } },
    { type: 'UserUnlocked', data: { at: NOW, lockedUntil: LATER } },
    { type: 'UserLoggedOut', data: { at: NOW } },
    { type: 'UserUpdated', data: { ...input, updatedAt: NOW } },
    deleted,
  ]
  let state = userDecider.initial
  const changes = events.map((event, revision) => {
    const before = state
    state = userDecider.evolve(state, event, revision, metadata.actor)
    return userDecider.describe?.(before, event, state)
  })
  expect(changes.map(change => change?.action)).toEqual([
    'USER_CREATED',
    'USER_PASSWORD_CHANGED',
    'USER_UNLOCKED',
    'USER_LOGGED_OUT',
    'USER_UPDATED',
    'USER_DELETED',
  ])
  expect(changes.every(change => change?.resourceId === ID)).toBe(true)
  expect(changes[0]?.before).toBeNull()
  expect(changes.at(-1)?.after).toBeNull()
  expect(changes[2]).toMatchObject({ before: { lockedUntil: LATER }, after: { lockedUntil: null } })
  expect(JSON.stringify(changes)).not.toContain('SECRET')
})

describe('an erasure', () => {
  const erase = { type: 'EraseUser' as const, metadata, by: all('GLOBAL_ADMIN') }
  const erased: UserEvent = { type: 'UserErased', data: { id: ID, erasedAt: NOW } }
  const { username, displayName, email, ...rest } = input
  /** The creation as it is read after the key was deleted. */
  const unreadable: UserEvent = {
    type: 'UserCreated',
    data: { id: ID, ...rest, personal: null, passwordHash: 'h1', createdAt: NOW },
  }

  test('deletes a user before it erases them, and happens once', () => {
    given().when(erase).thenRefused('user-not-found')
    given(created()).when(erase).then(deleted, erased)
    given(created(), deleted).when(erase).then(erased)
    given(created(), deleted, erased).when(erase).then()
  })

  test('is recorded again in a log that lacks it', () => {
    given(unreadable).when(erase).then(deleted, erased)
    given(unreadable, deleted).when(erase).then(erased)
    given(unreadable, deleted, erased).when(erase).then()
  })

  test('leads to the same state, whether the key was deleted before the events are folded or after', () => {
    const { state } = given(unreadable, deleted, erased)
    expect(state).toEqual({ status: 'Erased', id: ID, deleted: true, erasedAt: NOW })
    expect(given(created(), deleted, erased).state).toEqual(state)
  })

  test('refuses a stale ETag, and of a deleted user any', () => {
    given(created())
      .when({ ...erase, ifMatch: [7] })
      .thenRefused('precondition-failed')
    given(created(), deleted)
      .when({ ...erase, ifMatch: [0] })
      .thenRefused('precondition-failed')
  })

  test('of fields that cannot be decrypted without an erasure is none: folding fails', () => {
    const sealed = { ...unreadable, data: { ...unreadable.data, personal: 'AAAA' } } as unknown as UserEvent
    expect(() => given(sealed)).toThrow('cannot be decrypted')
  })
})
