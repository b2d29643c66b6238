import { join } from 'node:path'
import type { UserStanding } from '@gantry/contracts'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { expect, test } from 'vitest'
import { projectKnownUser } from './known-user.projection.ts'
import { type KnownUserCommand, type KnownUserEvent, knownUserDecider } from './known-user.ts'
import { unreadTypes } from './standing.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'knownuser',
  decider: knownUserDecider,
  project: projectKnownUser,
})

const { given } = story(knownUserDecider)
const note = (user: UserStanding['user'], revision: number): KnownUserCommand => ({
  type: 'NoteUser',
  metadata,
  standing: { user, revision },
})
const admin = { role: 'ADMIN', status: 'ACTIVE' } as const
const user = { role: 'USER', status: 'ACTIVE' } as const
const noted = (known: typeof admin | typeof user, userRevision: number): KnownUserEvent => ({
  type: 'UserNoted',
  data: { ...known, userRevision },
})
const gone = (userRevision: number): KnownUserEvent => ({ type: 'UserGone', data: { userRevision } })

test('role and status of a user are recorded when they change', () => {
  given().when(note(admin, 0)).then(noted(admin, 0))
  given(noted(admin, 0)).when(note(admin, 4)).then()
  given(noted(admin, 0)).when(note(user, 4)).then(noted(user, 4))
  given(noted(admin, 0)).when(note(null, 5)).then(gone(5))
  given(gone(5)).when(note(null, 6)).then()
})

test('an older or equal revision of a user changes nothing', () => {
  given(noted(user, 4)).when(note(admin, 3)).then()
  given(noted(user, 4)).when(note(admin, 4)).then()
  given(gone(5)).when(note(admin, 4)).then()
})

test('a user that does not exist is recorded as deleted until it is created', () => {
  given().when(note(null, -1)).then(gone(-1))
  given(gone(-1)).when(note(user, 0)).then(noted(user, 0))
})

test('a deleted user keeps its document', () => {
  const { state } = given(noted(user, 4), gone(5))
  expect(projectKnownUser('ada', { state, revision: 1 }, [])).toMatchObject([
    { id: 'ada', doc: { id: 'ada', standing: { user: 'ada', status: 'GONE' } }, revision: 1 },
  ])
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
