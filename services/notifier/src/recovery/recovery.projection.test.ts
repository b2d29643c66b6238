import { documentIn, projecting } from '@gantry/event-sourcing/testing'
import { test } from 'vitest'
import { recoveryDecider } from './recovery.decide.ts'
import { projectRecovery, type RecoveryDocument, recoveries } from './recovery.projection.ts'
import type { RecoveryEvent } from './recovery.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const at = '2026-11-21T10:00:00.000Z'
const later = '2026-11-21T11:00:00.000Z'
const { given } = projecting(recoveryDecider({ retentionMs: 60_000 }), projectRecovery, ID)
const range = { id: ID, webhook: 'w1', from: '2026-11-20T00:00:00.000Z', to: at }
const requested = (through = 30): RecoveryEvent => ({
  type: 'RecoveryRequested',
  data: { ...range, after: 10, through, requestedAt: at },
})
const advanced = (position: number, examined: number, recovered: number): RecoveryEvent => ({
  type: 'RecoveryAdvanced',
  data: { position, examined, recovered, at: later },
})
const completed: RecoveryEvent = { type: 'RecoveryCompleted', data: { at: later } }
const document = (fields: Partial<RecoveryDocument> = {}) =>
  documentIn(recoveries, {
    ...range,
    status: 'RUNNING',
    progress: 0,
    examined: 0,
    recovered: 0,
    createdAt: at,
    finishedAt: null,
    runningSince: `${at}/${ID}`,
    ...fields,
  })

test('a running recovery shows its progress through the range and the sums of its counts', () => {
  given(requested()).then(document())
  given(requested(), advanced(15, 5, 1), advanced(25, 9, 2)).then(
    document({ progress: 0.75, examined: 14, recovered: 3 }),
  )
})

test('a recovery that has ended keeps its document and is not among the running ones', () => {
  const ended = { finishedAt: later, runningSince: null }
  const cancelled: RecoveryEvent = { type: 'RecoveryCancelled', data: { reason: 'requested', at: later } }
  given(requested(), advanced(30, 20, 4), completed).then(
    document({ status: 'COMPLETED', progress: 1, examined: 20, recovered: 4, ...ended }),
  )
  given(requested(), cancelled).then(document({ status: 'CANCELLED', ...ended }))
})

test('a recovery of an empty range has no progress until it is completed', () => {
  given(requested(10)).then(document())
  given(requested(10), completed).then(
    document({ status: 'COMPLETED', progress: 1, finishedAt: later, runningSince: null }),
  )
})
