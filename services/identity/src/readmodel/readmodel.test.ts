import { join } from 'node:path'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { expect, test } from 'vitest'
import { type RebuildRequestsEvent, rebuildRequestsDecider } from './readmodel.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'readmodel',
  decider: rebuildRequestsDecider,
})

const request = { name: 'catalog.projector', rebuild: 'a' }
const requested: RebuildRequestsEvent = { type: 'RebuildRequested', data: request }

test('each request for a rebuild and each cancellation is an event', () => {
  const { given } = story(rebuildRequestsDecider)
  given()
    .when({ type: 'RequestRebuild', metadata, ...request })
    .then(requested)
  given(requested)
    .when({ type: 'RequestRebuild', metadata, ...request })
    .then(requested)
  given(requested)
    .when({ type: 'CancelRebuild', metadata, ...request })
    .then({ type: 'RebuildCancelled', data: request })
  expect(given(requested).state).toEqual({ rebuild: { id: 'a', status: 'REQUESTED' } })
})
