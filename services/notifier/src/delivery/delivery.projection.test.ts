import { documentIn, projecting } from '@gantry/event-sourcing/testing'
import { describe, test } from 'vitest'
import { deliveryDecider } from './delivery.decide.ts'
import { type DeliveryDocument, deliveries, projectDelivery } from './delivery.projection.ts'
import type { DeliveryEvent } from './delivery.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const at = '2026-11-21T10:00:00.000Z'
const startedAt = '2026-11-21T10:00:01.000Z'
const failedAt = '2026-11-21T10:00:02.000Z'
const retryAt = '2026-11-21T10:05:00.000Z'
const lostAt = '2026-11-21T10:00:21.000Z'
const url = 'https://receiver.example/hook'
const rules = { schedule: [], retentionMs: 60_000 }
const { given } = projecting(
  deliveryDecider(rules),
  projectDelivery(() => false),
  ID,
)

const made = {
  id: ID,
  webhook: 'w1',
  url,
  eventId: 'e1',
  eventType: 'API_CREATED',
  body: '{}',
  createdAt: at,
}
const created = (more: object = {}): DeliveryEvent => ({
  type: 'DeliveryCreated',
  data: { ...made, ...more },
})
const line = { resource: 'r1', number: 7, after: 'd0' }
const started: DeliveryEvent = {
  type: 'AttemptStarted',
  data: { number: 1, trigger: 'AUTOMATIC', url, startedAt, lostAt },
}
const outcome = { number: 1, durationMs: 12, responseBody: 'no' }
const failed = (nextAttemptAt: string | null): DeliveryEvent => ({
  type: 'AttemptFailed',
  data: {
    ...outcome,
    responseStatus: 500,
    error: 'status',
    fault: 'RECEIVER',
    message: '500',
    at: failedAt,
    nextAttemptAt,
  },
})
const succeeded: DeliveryEvent = {
  type: 'AttemptSucceeded',
  data: { ...outcome, responseStatus: 200, at: failedAt },
}
const cancelled: DeliveryEvent = { type: 'DeliveryCancelled', data: { reason: 'requested', at: failedAt } }
const retried: DeliveryEvent = { type: 'RetryRequested', data: { at: retryAt } }

const attempt = { number: 1, trigger: 'AUTOMATIC', url, startedAt } as const
const running = {
  ...attempt,
  durationMs: null,
  responseStatus: null,
  responseBody: null,
  requestHeaders: null,
  responseHeaders: null,
  error: null,
  fault: null,
}
const refused = {
  ...attempt,
  durationMs: 12,
  responseStatus: 500,
  responseBody: 'no',
  requestHeaders: null,
  responseHeaders: null,
  error: 'status',
  fault: 'RECEIVER',
} as const
const document = (fields: Partial<DeliveryDocument> = {}) =>
  documentIn(deliveries, {
    ...made,
    api: null,
    traceId: null,
    status: 'CREATED',
    attempts: 0,
    lastAttemptAt: null,
    waitsFor: null,
    nextAttemptAt: at,
    responseStatus: null,
    failureMessage: null,
    attemptLog: [],
    queue: `w1/first/${at}/${ID}`,
    finishedAt: null,
    line: null,
    turn: null,
    ...fields,
  })
const afterFailure: Partial<DeliveryDocument> = {
  status: 'RETRYING',
  attempts: 1,
  lastAttemptAt: startedAt,
  responseStatus: 500,
  failureMessage: 'status: 500',
  attemptLog: [refused],
}
const finished = { nextAttemptAt: null, queue: null, finishedAt: failedAt } as const

test('a new delivery is queued with the first attempts, one of a recovery with the retries', () => {
  given(created()).then(document())
  given(created({ recovery: 'r1' })).then(document({ queue: `w1/retry/${at}/${ID}` }))
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const cause = { requestId: 'r', traceparent: `00-${traceId}-b7ad6b7169203331-01` }
  given(created({ cause })).then(document({ traceId }))
  given(created({ eventType: 'TEST' })).then(document({ eventType: 'TEST', queue: `w1/test/${at}/${ID}` }))
})

test('a running attempt is queued at the time when it counts as lost', () => {
  given(created(), started).then(
    document({
      attempts: 1,
      lastAttemptAt: startedAt,
      nextAttemptAt: null,
      attemptLog: [running],
      queue: `w1/retry/${lostAt}/${ID}`,
    }),
  )
})

test('a failed delivery is queued at its next attempt, one that a user retries with the manual ones', () => {
  given(created(), started, failed(retryAt)).then(
    document({ ...afterFailure, nextAttemptAt: retryAt, queue: `w1/retry/${retryAt}/${ID}` }),
  )
  given(created(), cancelled, retried).then(
    document({ status: 'RETRYING', nextAttemptAt: retryAt, queue: `w1/manual/${retryAt}/${ID}` }),
  )
})

test('a finished delivery is in no queue', () => {
  const response = { ...refused, responseStatus: 200, error: null, fault: null }
  given(created(), started, succeeded).then(
    document({
      status: 'SUCCESS',
      attempts: 1,
      lastAttemptAt: startedAt,
      responseStatus: 200,
      attemptLog: [response],
      ...finished,
    }),
  )
  const gaveUp: DeliveryEvent = { type: 'DeliveryGaveUp', data: { reason: 'exhausted', at: failedAt } }
  given(created(), started, failed(null), gaveUp).then(
    document({ ...afterFailure, status: 'GIVE_UP', ...finished }),
  )
})

test('a delivery of an ordered webhook has its ordering key until it blocks no later one', () => {
  given(created({ line })).then(
    document({ waitsFor: 'd0', nextAttemptAt: null, queue: `w1/turn/${at}/${ID}`, line: 'w1/r1', turn: 7 }),
  )
  given(created({ line }), { type: 'TurnCame', data: { at: failedAt } }).then(
    document({ nextAttemptAt: failedAt, queue: `w1/first/${failedAt}/${ID}`, line: 'w1/r1', turn: 7 }),
  )
  given(created({ line }), cancelled).then(document({ status: 'CANCELLED', ...finished, turn: 7 }))
})

describe('an expired delivery', () => {
  const expired = projecting(
    deliveryDecider(rules),
    projectDelivery(() => true),
    ID,
  )

  test('has a document until its stream is removed', () => {
    expired.given(created()).then(document())
  })

  test('has no document if its stream is kept for the audit log', () => {
    expired.given(created(), cancelled).then()
  })
})
