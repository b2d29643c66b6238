import { join } from 'node:path'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { expect, test } from 'vitest'
import { owners, projectOwner } from './owner.projection.ts'
import { type OwnerEvent, ownerDecider } from './owner.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'owner',
  decider: ownerDecider,
  project: projectOwner,
})

const { given } = story(ownerDecider)
const note = (displayName: string | null, userRevision: number) =>
  ({ type: 'NoteOwner', metadata, displayName, userRevision }) as const
const named = (displayName: string, userRevision: number): OwnerEvent => ({
  type: 'OwnerNamed',
  data: { displayName, userRevision },
})
const gone = (userRevision: number): OwnerEvent => ({ type: 'OwnerGone', data: { userRevision } })

test('an owner has the display name of the latest event of their user', () => {
  given().when(note('Ada', 0)).then(named('Ada', 0))
  given(named('Ada', 0)).when(note('Ada L.', 1)).then(named('Ada L.', 1))
  given(named('Ada L.', 1)).when(note('Ada', 0)).then()
  given(named('Ada', 0)).when(note('Ada', 1)).then()
})

test('a deleted user is an owner without a name', () => {
  given(named('Ada', 0)).when(note(null, 1)).then(gone(1))
  given(gone(1)).when(note('Ada', 0)).then()
  expect(projectOwner('u1', { state: { status: 'Deleted', userRevision: 1 }, revision: 1 }, [])).toEqual([
    { collection: owners, id: 'u1', doc: null, revision: 1 },
  ])
})
