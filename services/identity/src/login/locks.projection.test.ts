import type { RecordedEvent } from '@gantry/event-sourcing'
import { storyMetadata } from '@gantry/event-sourcing/testing'
import { expect, test } from 'vitest'
import { ID, LATER, NOW } from '../testing/user-events.ts'
import { locksProjection } from './locks.projection.ts'

/** The document after these events of a month each, as a store keeps it: that of the greatest revision. */
const documentAfter = async (...events: [event: object, month: string, revision: number][]) => {
  const { actor, requestId, now: at } = storyMetadata
  const recorded = events.map(
    ([event, month, revision], index) =>
      ({
        id: `event-${index}`,
        stream: `logins-${ID}-${month}`,
        revision,
        position: String(index),
        recordedAt: at,
        metadata: { actor, requestId, at },
        data: {},
        ...event,
      }) as RecordedEvent,
  )
  const { writes } = await locksProjection.writes(recorded, false)
  return writes.toSorted((one, other) => other.revision - one.revision)[0]?.doc
}
const state = { failed: 0, lockedUntil: LATER, userRevision: 3, generation: null }
const locked = (until: string) => ({
  type: 'UserLocked',
  data: { until, state: { ...state, lockedUntil: until } },
})
const lock = (lockedUntil: string) => ({ id: ID, lockedUntil, userRevision: 3 })

test('the document of a lock has its end and the revision of the user that it takes into account', async () => {
  expect(await documentAfter([locked(LATER), '2026-11', 5])).toEqual(lock(LATER))
})

test('a lock of a later month replaces one with a greater revision in its stream', async () => {
  const next = '2026-12-01T00:15:00.000Z'
  expect(await documentAfter([locked(next), '2026-12', 0], [locked(LATER), '2026-11', 5])).toEqual(lock(next))
})

test('other events of logins have no document', async () => {
  expect(
    await documentAfter([{ type: 'LoginFailed', data: { at: NOW, state } }, '2026-11', 0]),
  ).toBeUndefined()
  expect(await documentAfter([{ type: 'OfALaterRelease' }, '2026-11', 0])).toBeUndefined()
})
