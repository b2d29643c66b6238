import { join } from 'node:path'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import { type RecoveryCommand, recoveryDecider } from './recovery.decide.ts'
import { projectRecovery, recordOf } from './recovery.projection.ts'
import type { RecoveryEvent } from './recovery.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'recovery',
  decider: recoveryDecider({ retentionMs: 0 }),
  project: projectRecovery,
})

const HOUR_MS = 3_600_000
const NOW = metadata.now
const hoursAgo = (hours: number) => new Date(Date.parse(NOW) - hours * HOUR_MS).toISOString()
const { given } = story(recoveryDecider({ retentionMs: 24 * HOUR_MS }))

const fields = {
  id: '3c9e1b7a-5d2f-4e80-9a61-7b0c4d8e2f15',
  webhook: '7a1d2c3b-0e4f-4a5b-8c6d-9e0f1a2b3c4d',
  from: hoursAgo(2),
  to: hoursAgo(1),
  after: 10,
  through: 50,
  end: null,
}
const request = (changes: object = {}): RecoveryCommand => ({
  type: 'RequestRecovery',
  metadata,
  ...fields,
  ...changes,
})
const advance = (after: number, position: number): RecoveryCommand => ({
  type: 'AdvanceRecovery',
  metadata,
  after,
  position,
  examined: 5,
  recovered: 2,
})
const requested = (changes: object = {}): RecoveryEvent => ({
  type: 'RecoveryRequested',
  data: { ...fields, requestedAt: NOW, ...changes },
})
const advanced = (position: number): RecoveryEvent => ({
  type: 'RecoveryAdvanced',
  data: { position, examined: 5, recovered: 2, at: NOW },
})
const count = (total: number): RecoveryCommand => ({ type: 'CountRecovery', metadata, total })
const counted = (total: number): RecoveryEvent => ({ type: 'RecoveryCounted', data: { total, at: NOW } })
const completed: RecoveryEvent = { type: 'RecoveryCompleted', data: { at: NOW } }
const cancelled = (reason: 'requested' | 'webhook-deleted' = 'requested'): RecoveryEvent => ({
  type: 'RecoveryCancelled',
  data: { reason, at: NOW },
})
const cancel: RecoveryCommand = { type: 'CancelRecovery', metadata }
const abandon: RecoveryCommand = { type: 'AbandonRecovery', metadata }

describe('a recovery', () => {
  test('has a past range, which ends now by default', () => {
    given().when(request()).then(requested())
    given()
      .when(request({ to: null }))
      .then(requested({ to: NOW }))
    given(requested()).when(request()).then()
  })
  test.for([
    ['ends before it begins', { from: hoursAgo(1), to: hoursAgo(2) }],
    ['ends in the future', { to: hoursAgo(-1) }],
    ['begins in the future', { from: hoursAgo(-1), to: null }],
    ['starts before the retention', { from: hoursAgo(24.1) }],
  ] as const)('is refused where the range %s', ([, changes]) => {
    given().when(request(changes)).thenRefused('invalid-request')
  })
  test('advances from its position only, so that no event counts twice', () => {
    given(requested()).when(advance(10, 30)).then(advanced(30))
    given(requested(), advanced(30)).when(advance(10, 30)).then()
    given(requested(), advanced(30)).when(advance(30, 50)).then(advanced(50), completed)
    given(requested(), advanced(50), completed).when(advance(50, 50)).then()
  })
  test('counts its events once', () => {
    given(requested()).when(count(20)).then(counted(20))
    given(requested(), counted(20)).when(count(30)).then()
    given(requested(), counted(20), completed).when(count(30)).then()
  })
  test('shows the share of its events that it has examined', () => {
    const progressAfter = (...events: RecoveryEvent[]) => {
      const { state } = given(requested(), ...events)
      return state.status === 'Absent' ? undefined : recordOf(state).progress
    }
    expect(progressAfter()).toBe(0)
    expect(progressAfter(counted(20), advanced(30))).toBe(0.25)
    expect(progressAfter(counted(20), advanced(30), cancelled())).toBe(0.25)
    expect(progressAfter(counted(20), advanced(30), completed)).toBe(1)
  })
  test('of an empty range is completed at once', () => {
    given(requested({ through: 10 }))
      .when(advance(10, 10))
      .then(advanced(10), completed)
    const { state } = given(requested({ through: 10 }), advanced(10), completed)
    expect(projectRecovery(fields.id, { state, revision: 2 }, [])).toMatchObject([{ doc: { progress: 1 } }])
  })
  test('can be cancelled only while it runs', () => {
    given(requested()).when(cancel).then(cancelled())
    given(requested(), cancelled()).when(cancel).thenRefused('recovery-not-running')
    given(requested(), cancelled()).when(advance(10, 30)).then()
    given().when(cancel).thenRefused('recovery-not-found')
  })
  test('is cancelled when its webhook is deleted', () => {
    given(requested()).when(abandon).then(cancelled('webhook-deleted'))
    given(requested(), cancelled()).when(abandon).then()
  })
})
