import { documentIn, projecting } from '@gantry/event-sourcing/testing'
import { test } from 'vitest'
import { owners, projectOwner } from './owner.projection.ts'
import { type OwnerEvent, ownerDecider } from './owner.ts'

const USER = '22222222-2222-4222-8222-222222222222'
const { given } = projecting(ownerDecider, projectOwner, USER)
const named = (displayName: string, userRevision: number): OwnerEvent => ({
  type: 'OwnerNamed',
  data: { displayName, userRevision },
})
const gone: OwnerEvent = { type: 'OwnerGone', data: { userRevision: 2 } }

test('the document of an owner has the last display name', () => {
  given(named('Ada', 0)).then(documentIn(owners, { id: USER, displayName: 'Ada' }))
  given(named('Ada', 0), named('Ada King', 1)).then(documentIn(owners, { id: USER, displayName: 'Ada King' }))
})

test('a deleted user has no document', () => {
  given(named('Ada', 0), gone).then()
})
