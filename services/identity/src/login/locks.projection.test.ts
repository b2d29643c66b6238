import { documentIn, projectingEach } from '@gantry/event-sourcing/testing'
import { test } from 'vitest'
import { ID, LATER, NOW } from '../testing/user-events.ts'
import { locks } from '../user/user.projection.ts'
import { locksProjection } from './locks.projection.ts'

const { given } = projectingEach(locksProjection)
const inMonth = (month: string, revision = 0) => ({ stream: `logins-${ID}-${month}`, revision })
const state = { failed: 0, lockedUntil: LATER, userRevision: 3, generation: null }
const locked = (until: string) => ({
  type: 'UserLocked',
  data: { until, state: { ...state, lockedUntil: until } },
})
const lock = (lockedUntil: string) => documentIn(locks, { id: ID, lockedUntil, userRevision: 3 })

test('the document of a lock has its end and the revision of the user that it takes into account', async () => {
  await given({ ...locked(LATER), ...inMonth('2026-11', 5) }).then(lock(LATER))
})

test('a lock of a later month replaces one with a greater revision in its stream', async () => {
  const next = '2026-12-01T00:15:00.000Z'
  await given(
    { ...locked(next), ...inMonth('2026-12', 0) },
    { ...locked(LATER), ...inMonth('2026-11', 5) },
  ).then(lock(next))
})

test('other events of logins have no document', async () => {
  const failed = { type: 'LoginFailed', data: { at: NOW, state } }
  await given({ ...failed, ...inMonth('2026-11') }).then()
  await given({ type: 'OfALaterRelease', ...inMonth('2026-11') }).then()
})
