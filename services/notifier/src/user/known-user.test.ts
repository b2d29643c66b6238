import { join } from 'node:path'
import type { UserStanding } from '@gantry/contracts'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { expect, test } from 'vitest'
import { type KnownUserCommand, type KnownUserEvent, knownUserDecider } from './known-user.ts'
import { projectKnownUser } from './known-users.ts'
import { unreadTypes } from './standing.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'knownuser',
  decider: knownUserDecider,
  project: projectKnownUser,
})

const { given } = story(knownUserDecider)
const record = (user: UserStanding['user'], revision: number): KnownUserCommand => ({
  type: 'RecordUser',
  metadata,
  standing: { user, revision },
})
const admin = { role: 'ADMIN', status: 'ACTIVE' } as const
const user = { role: 'USER', status: 'ACTIVE' } as const
const userNoted = (known: typeof admin | typeof user, userRevision: number): KnownUserEvent => ({
  type: 'UserNoted',
  data: { ...known, userRevision },
})
const userGone = (userRevision: number): KnownUserEvent => ({ type: 'UserGone', data: { userRevision } })

test('role and status of a user are recorded when they change', () => {
  given().when(record(admin, 0)).then(userNoted(admin, 0))
  given(userNoted(admin, 0)).when(record(admin, 4)).then()
  given(userNoted(admin, 0)).when(record(user, 4)).then(userNoted(user, 4))
  given(userNoted(admin, 0)).when(record(null, 5)).then(userGone(5))
  given(userGone(5)).when(record(null, 6)).then()
})

test('an older or equal revision of a user changes nothing', () => {
  given(userNoted(user, 4)).when(record(admin, 3)).then()
  given(userNoted(user, 4)).when(record(admin, 4)).then()
  given(userGone(5)).when(record(admin, 4)).then()
})

test('a user that does not exist is recorded as deleted until it is created', () => {
  given().when(record(null, -1)).then(userGone(-1))
  given(userGone(-1)).when(record(user, 0)).then(userNoted(user, 0))
})

test('role and status determine the readable event types; types of later releases are ignored', () => {
  const types = ['API_CREATED', 'CONFIGURATION_CHANGED', 'OF_A_LATER_RELEASE']
  const active = { user: 'ada', status: 'ACTIVE' } as const
  expect(unreadTypes({ ...active, role: 'ADMIN' }, types)).toEqual([])
  expect(unreadTypes({ ...active, role: 'USER' }, types)).toEqual(['CONFIGURATION_CHANGED'])
  const none = types.slice(0, 2)
  expect(unreadTypes({ ...active, role: 'NO_ACCESS' }, types)).toEqual(none)
  expect(unreadTypes({ ...active, role: 'ADMIN', status: 'INACTIVE' }, types)).toEqual(none)
  expect(unreadTypes({ user: 'ada', status: 'GONE' }, types)).toEqual(none)
})
