import { documentIn, projecting } from '@gantry/event-sourcing/testing'
import { test } from 'vitest'
import { knownUsers, projectKnownUser } from './known-user.projection.ts'
import { type KnownUserEvent, knownUserDecider } from './known-user.ts'

const { given } = projecting(knownUserDecider, projectKnownUser, 'ada')
const noted = (role: 'ADMIN' | 'USER', userRevision: number): KnownUserEvent => ({
  type: 'UserNoted',
  data: { role, status: 'ACTIVE', userRevision },
})

test('the document of a user has the last role and status', () => {
  given(noted('ADMIN', 0), noted('USER', 4)).then(
    documentIn(knownUsers, { id: 'ada', standing: { user: 'ada', status: 'ACTIVE', role: 'USER' } }),
  )
})

test('a deleted user keeps its document, unlike a user that is unknown', () => {
  given(noted('USER', 4), { type: 'UserGone', data: { userRevision: 5 } }).then(
    documentIn(knownUsers, { id: 'ada', standing: { user: 'ada', status: 'GONE' } }),
  )
  given().then()
})
