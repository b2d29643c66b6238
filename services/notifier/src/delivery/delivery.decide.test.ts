import { join } from 'node:path'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import { notifierSettings } from '../settings.ts'
import { type DeliveryCommand, deliveryDecider, type Outcome } from './delivery.decide.ts'
import { dueAt, projectDelivery, queueOf } from './delivery.projection.ts'
import {
  blockerAfter,
  blocksLater,
  type DeliveryEvent,
  type DeliveryState,
  type OrderPosition,
  type Pending,
} from './delivery.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'delivery',
  decider: deliveryDecider({ schedule: [], retentionMs: 0 }),
  project: projectDelivery(() => false),
})

const SECOND = 1_000
const NOW = metadata.now
const at = (seconds: number) => new Date(Date.parse(NOW) + seconds * SECOND).toISOString()
const ID = '7d1c5b7e-6a1f-4d0e-9a51-0e5c2b7f3a10'
const URL = 'https://example.com/hook'
const { given } = story(
  deliveryDecider({ schedule: [10 * SECOND, 60 * SECOND], retentionMs: 3_600 * SECOND }),
)
/** Tells the command after the history. */
const on = (history: readonly DeliveryEvent[], command: DeliveryCommand) => given(...history).when(command)

const fields = {
  id: ID,
  webhook: 'b6b8e0d4-1c55-4b52-8b65-1f0f7f6f2a01',
  url: URL,
  eventId: 'e3a0c1b2-7f4d-4b8e-8a57-2d9c3e1f0b02',
  eventType: 'API_DEPLOYED',
  format: 'STANDARD',
  api: null,
} as const
const claim = { url: URL, lostAfterMs: 20 * SECOND }
const create = { type: 'CreateDelivery', metadata, ...fields } as const
const start: DeliveryCommand = { type: 'StartAttempt', metadata, claim }
const retry: DeliveryCommand = { type: 'RetryDelivery', metadata, webhookDeleted: false }
const cancel: DeliveryCommand = { type: 'CancelDelivery', metadata }
const abandon: DeliveryCommand = { type: 'AbandonDelivery', metadata }
/** The same command, the given number of seconds later. */
const later = (seconds: number, command: DeliveryCommand): DeliveryCommand => ({
  ...command,
  metadata: { ...metadata, now: at(seconds) },
})

const created: DeliveryEvent = { type: 'DeliveryCreated', data: { ...fields, createdAt: NOW } }
const testCreated: DeliveryEvent = {
  type: 'DeliveryCreated',
  data: { ...fields, eventType: 'TEST', createdAt: NOW },
}
const started = (
  number: number,
  trigger: 'AUTOMATIC' | 'MANUAL' | 'TEST' = 'AUTOMATIC',
  seconds = 0,
): DeliveryEvent => ({
  type: 'AttemptStarted',
  data: { number, trigger, url: URL, startedAt: at(seconds), lostAt: at(seconds + 20) },
})
const answered = (number: number, responseStatus: number | null) => ({
  number,
  durationMs: 12.5,
  responseStatus,
  responseBody: 'said',
  requestHeaders: { 'webhook-signature': '***' },
  responseHeaders: { server: 'nginx' },
})
const succeeded = (number: number, seconds = 0): DeliveryEvent => ({
  type: 'AttemptSucceeded',
  data: { ...answered(number, 200), at: at(seconds) },
})
const failed = (
  number: number,
  nextInSeconds: number | null,
  { status = 500 as number | null, seconds = 0, error = 'http-status' } = {},
): DeliveryEvent => ({
  type: 'AttemptFailed',
  data: {
    ...answered(number, status),
    error,
    fault: error === 'interrupted' ? 'SERVICE' : 'RECEIVER',
    message: 'why',
    at: at(seconds),
    nextAttemptAt: nextInSeconds === null ? null : at(nextInSeconds),
  },
})
const lost = (number: number, seconds = 0): DeliveryEvent => ({
  type: 'AttemptLost',
  data: { number, at: at(seconds) },
})
const gaveUp = (reason: 'exhausted' | 'gone' | 'test', seconds = 0): DeliveryEvent => ({
  type: 'DeliveryGaveUp',
  data: { reason, at: at(seconds) },
})
const cancelled = (reason: 'requested' | 'webhook-deleted' = 'requested'): DeliveryEvent => ({
  type: 'DeliveryCancelled',
  data: { reason, at: NOW },
})
const retryRequested: DeliveryEvent = { type: 'RetryRequested', data: { at: NOW } }

/** An outcome; a failure unless the status is 2xx. `random` 0.5 gives a pause without jitter. */
const outcome = (number: number, status: number | null, more: Partial<Outcome> = {}): DeliveryCommand => ({
  type: 'RecordOutcome',
  metadata,
  outcome: {
    ...answered(number, status),
    failure: status === 200 ? undefined : { code: 'http-status', message: 'why', fault: 'RECEIVER' },
    random: 0.5,
    ...more,
  },
})

/** Event histories by the status that they end in. */
const CREATED = [created]
const FIRST_UNDER_WAY = [created, started(1)]
const RETRYING = [...FIRST_UNDER_WAY, failed(1, 10)]
const SECOND_UNDER_WAY = [...RETRYING, started(2, 'AUTOMATIC', 10)]
const SUCCESS = [...FIRST_UNDER_WAY, succeeded(1)]
const GIVE_UP = [...FIRST_UNDER_WAY, failed(1, null), gaveUp('exhausted')]
const CANCELLED = [created, cancelled()]

const statusOf = (events: DeliveryEvent[]) => given(...events).state.status
const nextOf = (state: DeliveryState) => ('next' in state ? state.next : undefined)

describe('a matching event', () => {
  test('creates a delivery', () => {
    given().when(create).then(created)
  })
  test('claims the first attempt in the same append when there is a slot', () => {
    on([], { ...create, claim }).then(created, started(1))
  })
  test('creates no second delivery when it is handled again', () => {
    for (const history of [CREATED, SUCCESS, CANCELLED]) on(history, { ...create, claim }).then()
  })
})

describe('an attempt', () => {
  test('is not claimed before it is due', () => {
    on(CREATED, start).then(started(1))
    on(RETRYING, later(9.999, start)).then()
    on(RETRYING, later(10, start)).then(started(2, 'AUTOMATIC', 10))
  })
  test('is claimed once: a second claim decides nothing', () => {
    on(FIRST_UNDER_WAY, later(19.999, start)).then()
  })
  test('counts as lost after its deadline, and the next attempt starts at once', () => {
    on(FIRST_UNDER_WAY, later(20, start)).then(lost(1, 20), started(2, 'AUTOMATIC', 20))
  })
  test('is not made for a finished delivery or one that does not exist', () => {
    for (const history of [[], SUCCESS, GIVE_UP, CANCELLED]) on(history, later(999, start)).then()
  })
})

describe('a 2xx', () => {
  test('turns CREATED and RETRYING into SUCCESS', () => {
    on(FIRST_UNDER_WAY, outcome(1, 200)).then(succeeded(1))
    on(SECOND_UNDER_WAY, outcome(2, 200)).then(succeeded(2))
    expect(statusOf([...SECOND_UNDER_WAY, succeeded(2)])).toBe('SUCCESS')
  })
  test('counts even if its attempt was declared lost', () => {
    const history = [...FIRST_UNDER_WAY, lost(1, 20), started(2, 'AUTOMATIC', 20)]
    on(history, later(21, outcome(1, 200))).then(succeeded(1, 21))
    const { state } = given(...history, succeeded(1, 21))
    expect(state).toMatchObject({ status: 'SUCCESS', responseStatus: 200, failureMessage: null })
  })
  test('is recorded once', () => {
    on(SUCCESS, outcome(1, 200)).then()
  })
})

describe('a failure', () => {
  test('is followed by attempts on the retry schedule', () => {
    on(FIRST_UNDER_WAY, outcome(1, 500)).then(failed(1, 10))
    on(SECOND_UNDER_WAY, later(11, outcome(2, 500))).then(failed(2, 71, { seconds: 11 }))
  })
  test('is followed by the next attempt with a jitter of up to a fifth', () => {
    on(FIRST_UNDER_WAY, outcome(1, 500, { random: 0 })).then(failed(1, 8))
    on(FIRST_UNDER_WAY, outcome(1, 500, { random: 1 })).then(failed(1, 12))
  })
  test('is followed by no attempt before the Retry-After of the receiver', () => {
    on(FIRST_UNDER_WAY, outcome(1, 503, { retryAfterMs: 30 * SECOND })).then(failed(1, 30, { status: 503 }))
    on(FIRST_UNDER_WAY, outcome(1, 503, { retryAfterMs: 1 * SECOND })).then(failed(1, 10, { status: 503 }))
  })
  test('leads to GIVE_UP when the schedule is exhausted', () => {
    const history = [...SECOND_UNDER_WAY, failed(2, 60), started(3, 'AUTOMATIC', 60)]
    on(history, outcome(3, null)).then(failed(3, null, { status: null }), gaveUp('exhausted'))
    expect(statusOf([...history, failed(3, null), gaveUp('exhausted')])).toBe('GIVE_UP')
  })
  test('leads to GIVE_UP at once when it is a 410', () => {
    on(FIRST_UNDER_WAY, outcome(1, 410)).then(failed(1, null, { status: 410 }), gaveUp('gone'))
  })
  test('changes no status when its attempt was declared lost before', () => {
    const history = [...FIRST_UNDER_WAY, lost(1, 20), started(2, 'AUTOMATIC', 20)]
    on(history, later(21, outcome(1, 500))).then(failed(1, null, { seconds: 21 }))
    const { state } = given(...history, failed(1, null, { seconds: 21 }))
    expect(state).toMatchObject({ status: 'CREATED', next: { sending: 2 }, responseStatus: null })
  })
  test('by interruption is retried at once and consumes no attempt of the schedule', () => {
    const interrupted = { failure: { code: 'interrupted', message: 'why', fault: 'SERVICE' as const } }
    const failure = failed(1, 0, { status: null, error: 'interrupted' })
    on(FIRST_UNDER_WAY, outcome(1, null, interrupted)).then(failure)
    on([...FIRST_UNDER_WAY, failure, started(2)], outcome(2, 500)).then(failed(2, 10))
  })
})

describe('cancelling', () => {
  test('turns CREATED and RETRYING into CANCELLED', () => {
    for (const history of [CREATED, FIRST_UNDER_WAY, RETRYING, SECOND_UNDER_WAY]) {
      on(history, cancel).then(cancelled())
      expect(statusOf([...history, cancelled()])).toBe('CANCELLED')
    }
  })
  test('is refused for anything else', () => {
    for (const history of [SUCCESS, GIVE_UP, CANCELLED])
      on(history, cancel).thenRefused('delivery-not-pending')
    given().when(cancel).thenRefused('delivery-not-found')
  })
  test('takes precedence over the running attempt, whose outcome is still recorded', () => {
    const history = [...FIRST_UNDER_WAY, cancelled()]
    on(history, outcome(1, 200)).then(succeeded(1))
    on(history, outcome(1, 500)).then(failed(1, null))
    for (const event of [succeeded(1), failed(1, null)]) {
      const { state } = given(...history, event)
      expect(state).toMatchObject({ status: 'CANCELLED', finishedAt: NOW, log: [{ durationMs: 12.5 }] })
    }
  })
  test('happens to pending deliveries when their webhook is deleted', () => {
    for (const history of [CREATED, FIRST_UNDER_WAY, RETRYING])
      on(history, abandon).then(cancelled('webhook-deleted'))
    for (const history of [[], SUCCESS, GIVE_UP, CANCELLED]) on(history, abandon).then()
  })
})

describe('a retry requested by a user', () => {
  test('turns RETRYING, GIVE_UP and CANCELLED into RETRYING that is due now', () => {
    for (const history of [RETRYING, GIVE_UP, CANCELLED]) {
      on(history, retry).then(retryRequested)
      const { state } = given(...history, retryRequested)
      expect(state).toMatchObject({ status: 'RETRYING', finishedAt: null, next: { dueAt: NOW } })
    }
    on([...GIVE_UP, retryRequested], start).then(started(2, 'MANUAL'))
  })
  test('restarts the retry schedule', () => {
    const history = [...GIVE_UP, retryRequested, started(2, 'MANUAL')]
    on(history, outcome(2, 500)).then(failed(2, 10))
    on([...history, failed(2, 10), started(3, 'AUTOMATIC', 10)], outcome(3, 500)).then(failed(3, 60))
  })
  test('is refused for anything else', () => {
    for (const history of [CREATED, FIRST_UNDER_WAY, SUCCESS])
      on(history, retry).thenRefused('delivery-not-failed')
    given().when(retry).thenRefused('delivery-not-found')
    on(GIVE_UP, { type: 'RetryDelivery', metadata, webhookDeleted: true }).thenRefused('webhook-deleted')
  })
  test('during an attempt leads to another attempt at once if that one fails', () => {
    const history = [...SECOND_UNDER_WAY, retryRequested]
    expect(nextOf(given(...history).state)).toEqual({ sending: 2, lostAt: at(30), again: true })
    on(history, start).then()
    on(history, outcome(2, 500)).then(failed(2, 0))
    on([...history, failed(2, 0)], start).then(started(3, 'MANUAL'))
    on([...history, failed(2, 0), started(3, 'MANUAL')], outcome(3, 500)).then(failed(3, 10))
    on(history, outcome(2, 200)).then(succeeded(2))
  })
  test('is refused after the retention of the delivery, as is cancelling', () => {
    on(GIVE_UP, later(3_600, retry)).then({ type: 'RetryRequested', data: { at: at(3_600) } })
    on(GIVE_UP, later(3_600.001, retry)).thenRefused('delivery-not-found')
    on(GIVE_UP, later(3_600.001, cancel)).thenRefused('delivery-not-found')
  })
})

describe('a recovery', () => {
  const recover: DeliveryCommand = { type: 'RecoverDelivery', metadata, recovery: 'r' }
  const recovering: DeliveryEvent = { type: 'RetryRequested', data: { at: NOW, recovery: 'r' } }
  test('retries a delivery that was given up, once', () => {
    on(GIVE_UP, recover).then(recovering)
    on([...GIVE_UP, recovering, started(2, 'MANUAL'), failed(2, null), gaveUp('exhausted')], recover).then()
  })
  test('changes no other delivery, no test, and none after its retention', () => {
    for (const history of [[], CREATED, RETRYING, SUCCESS, CANCELLED]) on(history, recover).then()
    on([testCreated, started(1, 'TEST'), failed(1, null), gaveUp('test')], recover).then()
    on(GIVE_UP, later(3_600.001, recover)).then()
  })
})

describe('a test', () => {
  const UNDER_WAY = [testCreated, started(1, 'TEST')]
  test('has one attempt', () => {
    on([], { ...create, eventType: 'TEST', claim }).then(...UNDER_WAY)
    on(UNDER_WAY, outcome(1, 500)).then(failed(1, null), gaveUp('test'))
    on(UNDER_WAY, outcome(1, 200)).then(succeeded(1))
  })
  test('that a user retries has one attempt again', () => {
    const again = [...UNDER_WAY, failed(1, null), gaveUp('test'), retryRequested, started(2, 'MANUAL')]
    on(again, outcome(2, 500)).then(failed(2, null), gaveUp('test'))
  })
  test('is sent again when its attempt was lost', () => {
    on(UNDER_WAY, later(20, start)).then(lost(1, 20), started(2, 'TEST', 20))
  })
})

test('a pending delivery is queued by its next attempt; a running one at the time when it counts as lost', () => {
  const recovered: DeliveryEvent = {
    type: 'DeliveryCreated',
    data: { ...fields, createdAt: NOW, recovery: 'r' },
  }
  const queued = [CREATED, [recovered], FIRST_UNDER_WAY, RETRYING].map(history => {
    const state = given(...history).state as Pending
    return [queueOf(state).kind, dueAt(state)]
  })
  expect(queued).toEqual([
    ['first', NOW],
    ['retry', NOW],
    ['retry', at(20)],
    ['retry', at(10)],
  ])
})

describe('the record of a delivery', () => {
  test('keeps the latest 100 attempts', () => {
    const history: DeliveryEvent[] = [created]
    for (let number = 1; number <= 130; number++) history.push(started(number), failed(number, 0))
    const { state } = given(...history)
    expect(state).toMatchObject({ attempts: 130 })
    expect('log' in state && [state.log.length, state.log[0]?.number]).toEqual([100, 31])
  })
})

describe('the audit log', () => {
  const { describe: change } = deliveryDecider({ schedule: [], retentionMs: 1 })
  const changeOf = (history: DeliveryEvent[], event: DeliveryEvent) =>
    change?.(given(...history).state, event, given(...history, event).state)
  test('has no entry for changes by the service itself', () => {
    for (const event of [started(1), failed(1, 10), succeeded(1), cancelled('webhook-deleted')])
      expect(changeOf(FIRST_UNDER_WAY, event)).toBeNull()
  })
})

describe('a delivery to an ordered webhook', () => {
  const BEFORE = '0b6e7a52-0f5e-4d6c-8f6d-3a1b2c3d4e01'
  const first: OrderPosition = { resource: 'payments', number: 1, after: null }
  const second: OrderPosition = { resource: 'payments', number: 2, after: BEFORE }
  const inLine = (line: OrderPosition): DeliveryEvent => ({
    type: 'DeliveryCreated',
    data: { ...fields, createdAt: NOW, line },
  })
  const turnCame: DeliveryEvent = { type: 'TurnCame', data: { at: NOW } }
  const takeTurn: DeliveryCommand = { type: 'Unblock', metadata, claim }

  test('starts at once when it has no predecessor', () => {
    on([], { ...create, position: first, claim }).then(inLine(first), started(1))
  })
  test('waits for its predecessor, whatever command tries to start it', () => {
    on([], { ...create, position: second, claim }).then(inLine(second))
    given(inLine(second)).when(later(3_600, start)).then()
    given(inLine(second)).when(retry).thenRefused('delivery-not-failed')
  })
  test('starts when its predecessor has finished, at once or when there is a slot', () => {
    given(inLine(second)).when(takeTurn).then(turnCame, started(1))
    given(inLine(second)).when({ type: 'Unblock', metadata }).then(turnCame)
    given(inLine(second), turnCame).when(start).then(started(1))
  })
  test('is unblocked once', () => {
    given(inLine(second), turnCame).when(takeTurn).then()
    given(inLine(second), cancelled()).when(takeTurn).then()
    given(inLine(first)).when(takeTurn).then()
    given().when(takeTurn).then()
  })
  test('blocks its successors until it has finished, but not while it is retried afterwards', () => {
    const obstacleAfter = (...events: DeliveryEvent[]) => blockerAfter(given(...events).state)
    expect(obstacleAfter(inLine(first))).toBe(ID)
    expect(obstacleAfter(inLine(second))).toBe(ID)
    expect(obstacleAfter(inLine(second), turnCame, started(1), failed(1, 10))).toBe(ID)
    expect(obstacleAfter(inLine(second), turnCame, started(1), lost(1))).toBe(ID)
    expect(obstacleAfter(inLine(second), turnCame, started(1), succeeded(1))).toBeNull()
    const exhausted = [inLine(first), started(1), failed(1, null), gaveUp('exhausted')]
    expect(obstacleAfter(...exhausted)).toBeNull()
    expect(obstacleAfter(...exhausted, retryRequested)).toBeNull()
    expect(blocksLater(given(...exhausted, retryRequested).state)).toBe(false)
  })
  test('that is cancelled while blocked leaves its successors blocked by its predecessor', () => {
    const { state } = given(inLine(second), cancelled())
    expect(blockerAfter(state)).toBe(BEFORE)
    expect(blocksLater(state)).toBe(false)
    expect(blockerAfter(given(inLine(second), cancelled(), retryRequested).state)).toBe(BEFORE)
  })
  test('does not block others if the webhook is not ordered', () => {
    expect(blockerAfter(given(created).state)).toBeNull()
    expect(blockerAfter(given().state)).toBeNull()
  })
})

test('an event that is older than the retention creates no delivery', () => {
  on([], { ...create, committedAt: at(-3_601) }).then()
  const committedAt = at(-3_600)
  on([], { ...create, committedAt }).then({
    type: 'DeliveryCreated',
    data: { ...fields, createdAt: NOW, committedAt },
  })
  on([], { ...create, committedAt, recovery: 'r' }).then({
    type: 'DeliveryCreated',
    data: { ...fields, createdAt: NOW, recovery: 'r' },
  })
})

const DAY = 86_400_000

describe('the schedule', () => {
  const { WEBHOOK_RETRY_SCHEDULE: schedule } = notifierSettings.parse({})

  test('defaults to the documented one, which ends before the tenth day', () => {
    expect(schedule.slice(0, 9)).toEqual([5e3, 3e5, 18e5, 72e5, 18e6, 36e6, 504e5, 72e6, DAY])
    const all = schedule.reduce((sum, pause) => sum + pause, 0)
    expect(all).toBeLessThanOrEqual(10 * DAY)
    expect(all + DAY).toBeGreaterThan(10 * DAY)
  })
})
