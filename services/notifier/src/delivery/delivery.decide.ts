import {
  type Attempt,
  type Change,
  type DeliveryStatus,
  Refusal,
  type WebhookFormat,
} from '@gantry/contracts'
import type { CommandMetadata, Decider } from '@gantry/event-sourcing'
import type { RecordedHeaders } from '../http/recorded-headers.ts'
import {
  actionOf,
  type DeliveryEvent,
  type DeliveryState,
  deliveryEvents,
  evolveDelivery,
  type Fault,
  firstTrigger,
  INTERRUPTED,
  initialDelivery,
  isBlocked,
  isPending,
  isRunning,
  isTest,
  type OrderPosition,
  type Pending,
} from './delivery.ts'

const JITTER = 0.2

/**
 * The pause after a failed attempt.
 * @param schedule pauses in milliseconds
 * @param failures number of failed attempts before this one
 * @param random from 0 (inclusive) to 1 (exclusive); makes the pause up to a fifth shorter or longer
 * @param retryAfterMs minimum pause that the receiver requested, in milliseconds
 * @returns milliseconds; undefined when the schedule is exhausted
 */
function pauseAfter(
  schedule: readonly number[],
  failures: number,
  random: number,
  retryAfterMs = 0,
): number | undefined {
  const pause = schedule[failures]
  if (pause === undefined) return undefined
  return Math.max(Math.round(pause * (1 - JITTER + 2 * JITTER * random)), retryAfterMs)
}

/** Claim of an attempt that the process is about to make. */
export interface AttemptClaim {
  url: string
  /** Time until the attempt counts as lost, in milliseconds. */
  lostAfterMs: number
}

export interface Outcome {
  number: number
  durationMs: number
  responseStatus: number | null
  responseBody: string | null
  requestHeaders?: RecordedHeaders | null
  responseHeaders?: RecordedHeaders | null
  /** Undefined when it succeeded. */
  failure?: { code: string; message: string; fault: Fault } | undefined
  retryAfterMs?: number | undefined
  /** Determines the jitter of the next pause, from 0 (inclusive) to 1 (exclusive). */
  random: number
}

interface Commanded {
  metadata: CommandMetadata
}

export type DeliveryCommand =
  /** With a claim the first attempt starts in the same append. */
  | ({
      type: 'CreateDelivery'
      id: string
      webhook: string
      url: string
      eventId: string
      eventType: string
      format: WebhookFormat
      api: string | null
      recovery?: string | undefined
      /** When the event was committed. No delivery is created for an event older than the retention. */
      committedAt?: string | undefined
      /** With a predecessor the first attempt waits, even with a claim. */
      position?: OrderPosition | undefined
      claim?: AttemptClaim | undefined
    } & Commanded)
  /**
   * All previous deliveries of the ordering key have finished. With a claim the first attempt starts in the same append.
   */
  | ({ type: 'Unblock'; claim?: AttemptClaim | undefined } & Commanded)
  | ({ type: 'StartAttempt'; claim: AttemptClaim } & Commanded)
  /** The process that makes attempts started before this time, ISO 8601, has died. */
  | ({ type: 'LoseAttempt'; before: string } & Commanded)
  | ({ type: 'RecordOutcome'; outcome: Outcome } & Commanded)
  | ({ type: 'RetryDelivery'; webhookDeleted: boolean } & Commanded)
  /** Retries a delivery that was given up, once for each recovery. */
  | ({ type: 'RecoverDelivery'; recovery: string } & Commanded)
  | ({ type: 'CancelDelivery' } & Commanded)
  /** The webhook was deleted. */
  | ({ type: 'AbandonDelivery' } & Commanded)

export interface DeliveryRules {
  /** Pauses between attempts, in milliseconds. */
  schedule: readonly number[]
  /** How long finished deliveries can be read and retried, in milliseconds. */
  retentionMs: number
}

export function deliveryDecider(
  rules: DeliveryRules,
): Decider<DeliveryState, DeliveryCommand, DeliveryEvent> {
  return {
    initial: initialDelivery,
    events: deliveryEvents,
    evolve: evolveDelivery,
    decide: (state, command) => decide(rules, state, command),
    describe,
  }
}

function decide(rules: DeliveryRules, state: DeliveryState, command: DeliveryCommand): DeliveryEvent[] {
  const { now, requestId, traceparent } = command.metadata
  if (command.type === 'CreateDelivery') {
    // The event was handled before.
    if (state.status !== 'Absent') return []
    const { id, webhook, url, eventId, eventType, format, api, recovery, committedAt, position, claim } =
      command
    if (isTooOld(command, rules)) return []
    const created: DeliveryEvent = {
      type: 'DeliveryCreated',
      data: {
        id,
        webhook,
        url,
        eventId,
        eventType,
        format,
        api,
        createdAt: now,
        ...(recovery && { recovery }),
        ...(committedAt && !recovery && { committedAt }),
        ...(position && { line: position }),
        ...(traceparent && { cause: { requestId, traceparent } }),
      },
    }
    return claim && !position?.after ? [created, started(1, firstTrigger(command), claim, now)] : [created]
  }
  if (state.status === 'Absent') {
    if (command.type === 'RetryDelivery' || command.type === 'CancelDelivery')
      throw new Refusal('delivery-not-found')
    return []
  }

  switch (command.type) {
    case 'Unblock': {
      if (!isBlocked(state)) return []
      const came: DeliveryEvent = { type: 'TurnCame', data: { at: now } }
      return command.claim ? [came, started(1, state.trigger, command.claim, now)] : [came]
    }
    case 'StartAttempt':
      return isPending(state) ? claimed(state, command.claim, now) : []
    case 'LoseAttempt':
      return isPending(state) && 'sending' in state.next && (state.lastAttemptAt ?? '') < command.before
        ? [lost(state.next.sending, now)]
        : []
    case 'RecordOutcome':
      return recorded(rules, state, command.outcome, now)
    case 'RetryDelivery': {
      if (expired(state, rules, now)) throw new Refusal('delivery-not-found')
      if (state.status === 'CREATED' || state.status === 'SUCCESS')
        throw new Refusal('delivery-not-failed', { detail: `the delivery is ${state.status}` })
      if (command.webhookDeleted) throw new Refusal('webhook-deleted')
      return [{ type: 'RetryRequested', data: { at: now } }]
    }
    case 'RecoverDelivery':
      if (state.status !== 'GIVE_UP' || isTest(state) || expired(state, rules, now)) return []
      if (state.recovery === command.recovery) return []
      return [{ type: 'RetryRequested', data: { at: now, recovery: command.recovery } }]
    case 'CancelDelivery':
      if (expired(state, rules, now)) throw new Refusal('delivery-not-found')
      if (!isPending(state))
        throw new Refusal('delivery-not-pending', { detail: `the delivery is ${state.status}` })
      return [{ type: 'DeliveryCancelled', data: { reason: 'requested', at: now } }]
    case 'AbandonDelivery':
      if (!isPending(state)) return []
      return [{ type: 'DeliveryCancelled', data: { reason: 'webhook-deleted', at: now } }]
    default: {
      const missing: never = command
      return missing
    }
  }
}

/** Starts an attempt if one is due. Decides nothing while another attempt is running that does not count as lost. */
function claimed({ next, trigger, attempts }: Pending, claim: AttemptClaim, now: string): DeliveryEvent[] {
  if ('waitsFor' in next) return []
  if ('dueAt' in next) return next.dueAt <= now ? [started(attempts + 1, trigger, claim, now)] : []
  if (next.lostAt > now) return []
  return [lost(next.sending, now), started(attempts + 1, trigger, claim, now)]
}

const lost = (number: number, at: string): DeliveryEvent => ({ type: 'AttemptLost', data: { number, at } })

const started = (
  number: number,
  trigger: Attempt['trigger'],
  { url, lostAfterMs }: AttemptClaim,
  now: string,
): DeliveryEvent => ({
  type: 'AttemptStarted',
  data: { number, trigger, url, startedAt: now, lostAt: after(now, lostAfterMs) },
})

/** Records an outcome once, even if it is late. A late failure does not change the status. */
function recorded(
  { schedule }: DeliveryRules,
  state: Exclude<DeliveryState, { status: 'Absent' }>,
  outcome: Outcome,
  now: string,
): DeliveryEvent[] {
  const { number, durationMs, responseStatus, responseBody, failure, requestHeaders, responseHeaders } =
    outcome
  const known = state.log.find(attempt => attempt.number === number)
  if (known && known.durationMs !== null) return []
  const answered = {
    ...{ number, durationMs, responseStatus, responseBody },
    ...(requestHeaders && { requestHeaders }),
    ...(responseHeaders && { responseHeaders }),
  }
  if (!failure) return [{ type: 'AttemptSucceeded', data: { ...answered, at: now } }]

  const failed = (nextAttemptAt: string | null): DeliveryEvent => ({
    type: 'AttemptFailed',
    data: {
      ...answered,
      error: failure.code,
      fault: failure.fault,
      message: failure.message,
      at: now,
      nextAttemptAt,
    },
  })
  if (!isRunning(state, number)) return [failed(null)]
  const givenUp = (reason: 'exhausted' | 'gone' | 'test'): DeliveryEvent[] => [
    failed(null),
    { type: 'DeliveryGaveUp', data: { reason, at: now } },
  ]
  if (failure.code === INTERRUPTED) return [failed(now)]
  if (responseStatus === 410) return givenUp('gone')
  if (state.next.again) return [failed(now)]
  if (isTest(state)) return givenUp('test')
  const pause = pauseAfter(schedule, state.failures, outcome.random, outcome.retryAfterMs)
  return pause === undefined ? givenUp('exhausted') : [failed(after(now, pause))]
}

/** Whether no delivery is created for an event, because it is unknown whether the event was delivered. */
export const isTooOld = (
  { committedAt, metadata: { now } }: { committedAt?: string | undefined; metadata: { now: string } },
  { retentionMs }: DeliveryRules,
): boolean => committedAt !== undefined && after(committedAt, retentionMs) < now

/** Whether the retention of the delivery has passed, so that its document is removed or will be. */
export function expired(state: DeliveryState, { retentionMs }: DeliveryRules, now: string): boolean {
  if (state.status === 'Absent' || state.finishedAt === null) return false
  return after(state.finishedAt, retentionMs) < now
}

const after = (time: string, ms: number) => new Date(Date.parse(time) + ms).toISOString()

/** Changes exist for users' commands only; all other events follow from events that are recorded elsewhere. */
function describe(before: DeliveryState, event: DeliveryEvent, after: DeliveryState): Change | null {
  const action = actionOf(event)
  if (!action || after.status === 'Absent') return null
  const { webhook, eventId, eventType } = after
  const of = (status: DeliveryStatus) => ({ webhook, eventId, eventType, status })
  return {
    action,
    resourceType: 'DELIVERY',
    resourceId: after.id,
    before: before.status === 'Absent' ? null : of(before.status),
    after: of(after.status),
  }
}
