import { documentIn, projecting } from '@gantry/event-sourcing/testing'
import { test } from 'vitest'
import { created, deleted, ID, input, LATER, NOW, old } from '../testing/user-events.ts'
import { userDecider } from './user.decide.ts'
import { projectUser, type UserDocument, users } from './user.projection.ts'
import type { UserEvent } from './user.ts'

const { given } = projecting(userDecider, projectUser, ID)
const document = (fields: Partial<UserDocument> = {}) =>
  documentIn(users, {
    id: ID,
    ...input,
    lockedUntil: null,
    createdAt: NOW,
    updatedAt: NOW,
    recordRevision: 0,
    lockRevision: 0,
    ...fields,
  })

test('the document of a user has the last record and no password hash', () => {
  const updated: UserEvent = { type: 'UserUpdated', data: { ...input, role: 'ADMIN', updatedAt: LATER } }
  const password: UserEvent = { type: 'PasswordChanged', data: { passwordHash: 'h2', changedAt: LATER } }
  given(created()).then(document())
  given(created(), updated).then(document({ role: 'ADMIN', updatedAt: LATER, recordRevision: 1 }))
  given(created(), password).then(document({ updatedAt: LATER, recordRevision: 1 }))
})

test('the document of a user has the revision of the event that set or lifted its lock', () => {
  const unlocked: UserEvent = { type: 'UserUnlocked', data: { at: LATER, lockedUntil: LATER } }
  given(created(), old.locked).then(document({ lockedUntil: LATER, recordRevision: 1, lockRevision: 1 }))
  given(created(), old.locked, unlocked).then(document({ recordRevision: 2, lockRevision: 2 }))
})

test('a deleted user has no document', () => {
  given(created(), deleted).then()
})
