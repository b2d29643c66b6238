import { setTimeout } from 'node:timers/promises'
import type { CommandMetadata, Log } from '@gantry/event-sourcing'
import { retryAfterMs } from '@gantry/pacing'
import { measureBuffer, signedHeaders } from '@gantry/service-runtime'
import {
  answered,
  beginContext,
  currentContext,
  inOwnContext,
  inSpan,
  type SpanStart,
  serverAttributes,
} from '@gantry/tracing'
import type { Registry } from 'prom-client'
import manifest from '../../package.json' with { type: 'json' }
import type { Deliveries } from '../delivery/deliveries.ts'
import type { DeliveryCommand, Outcome } from '../delivery/delivery.decide.ts'
import { type DeliveryState, isTest, type Pending } from '../delivery/delivery.ts'
import { MEDIA_TYPES, type Payloads } from '../delivery/payloads.ts'
import { AttemptFailure } from '../http/failure.ts'
import type { PostResult, Sender } from '../http/post.ts'
import { type RecordedHeaders, recordedHeaders } from '../http/recorded-headers.ts'
import type { SigningKeys } from '../webhook/signing.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import type { Webhooks } from '../webhook/webhooks.ts'
import type { NotifierMetrics } from './metrics.ts'

/**
 * Signs and sends the request of a claimed attempt. Never rejects: a request that the service fails to send has a result
 * too, so that the retry schedule applies and attempts end.
 * @returns undefined if nothing was sent because the timeout has passed since the claim
 */
export type SendAttempt = (webhook: WebhookDocument, claimed: Pending) => Promise<Sent | undefined>

/** The result of a request, with the headers that it had, for the delivery record; null if none was made. */
interface Sent extends PostResult {
  requestHeaders: RecordedHeaders | null
}

export interface SendOptions {
  sender: Sender
  payloads: Payloads
  keys: SigningKeys
  /** Timeout of a whole attempt, in milliseconds. */
  timeoutMs: number
  now(): Date
  /** Aborts running attempts. Their outcomes are recorded as interrupted. */
  interrupted: AbortSignal
  log: Log
  metrics: Registry
}

const USER_AGENT = `Gantry/${manifest.version}`

export function sendingAttempts(options: SendOptions): SendAttempt {
  const { sender, payloads, keys, now, log } = options
  const running = new Set<Buffer>()
  measureBuffer(options.metrics, 'webhook-payloads', () =>
    running.values().reduce((sum, { length }) => sum + length, 0),
  )

  const keysOf = ({ secrets }: WebhookDocument, at: Date) => {
    try {
      return keys.valid(secrets, at)
    } catch (error) {
      throw new AttemptFailure('signing-failed', 'the signing secret cannot be opened', error)
    }
  }

  const send = async (webhook: WebhookDocument, claimed: Pending, timeoutMs: number) => {
    const { id, eventId, format, url } = claimed
    const body = await payloads.load(eventId, format)
    if (body === undefined) throw new AttemptFailure('internal-error', 'the payload is not stored')
    const bytes = Buffer.from(body)
    const at = now()
    const traceparent = currentContext()?.traceparent
    const headers = {
      ...signedHeaders(id, Math.floor(at.getTime() / 1_000), bytes, keysOf(webhook, at)),
      'content-type': MEDIA_TYPES[format],
      'user-agent': USER_AGENT,
      ...(traceparent !== undefined && { traceparent }),
    }
    running.add(bytes)
    const request = { url, headers, body: bytes, timeoutMs, signal: options.interrupted }
    const result = await sender.post(request).finally(() => running.delete(bytes))
    return { ...result, requestHeaders: recordedHeaders(headers) }
  }

  return async (webhook, claimed) => {
    const left = Date.parse(claimed.lastAttemptAt ?? '') + options.timeoutMs - now().getTime()
    // The process was paused past the deadline: another process may be about to declare the attempt lost.
    if (left <= 0) return undefined
    try {
      return await inSpan(requestSpanOf(claimed), async span => {
        const result = await send(webhook, claimed, left)
        if (result.status !== null) answered(span, result.status)
        if (result.failure) span?.fail(result.failure.code)
        return result
      })
    } catch (error) {
      log.error({ delivery: claimed.id, err: error }, 'cannot send a delivery')
      const failure =
        error instanceof AttemptFailure
          ? error
          : new AttemptFailure('internal-error', 'the service failed', error)
      const nothing = { status: null, body: null, headers: null, requestHeaders: null, retryAfter: undefined }
      return { ...nothing, failure, durationMs: 0 }
    }
  }
}

/**
 * Makes an attempt that was claimed and records its outcome.
 * @returns the state after the outcome, or the claimed state if nothing was sent
 * @throws an error of the event store when the outcome is not recorded before `abandoned`
 */
export type MakeAttempt = (webhook: WebhookDocument, claimed: Pending) => Promise<DeliveryState>

export interface AttemptsOptions {
  deliveries: Deliveries
  webhooks: Webhooks
  send: SendAttempt
  metrics: NotifierMetrics
  random(): number
  /** Stops retries of recording an outcome. The attempt then counts as lost later. */
  abandoned: AbortSignal
  log: Log
}

const LONGEST_PAUSE_MS = 5_000

export function attempts(options: AttemptsOptions): MakeAttempt {
  const { deliveries, webhooks, send, metrics, random, abandoned, log } = options

  /**
   * Applies the outcome to the webhook before the outcome of the delivery is recorded. If the process dies in between,
   * the attempt counts as lost and is repeated. In the other order a success could be missing, and the webhook could be
   * disabled wrongly.
   */
  const applyToWebhook = async (target: WebhookDocument, claimed: Pending, result: Sent) => {
    const { id: delivery, url } = claimed
    const { status, failure } = result
    try {
      if (status === 410) {
        const reason = 'the endpoint answered 410 Gone'
        await webhooks.issue(target.id, { type: 'DisableWebhook', url, reason }, delivery)
      } else if (!failure) {
        if (target.failingSince !== null)
          await webhooks.issue(target.id, { type: 'RecordSuccess', url }, delivery)
      } else if (!isTest(claimed) && failure.fault === 'RECEIVER') {
        await webhooks.issue(target.id, { type: 'RecordFailure', url, delivery }, delivery)
      }
    } catch (error) {
      log.error({ webhook: target.id, err: error }, 'cannot record an outcome at its webhook')
    }
  }

  /** Retries until the outcome is recorded: an outcome that is known must not lead to a second attempt. */
  const record = async ({ id, attempts }: Pending, result: Sent): Promise<DeliveryState> => {
    let metadata: CommandMetadata = deliveries.metadata()
    const outcome = outcomeOf(result, attempts, new Date(metadata.now), random())
    for (let pause = 100; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        const command: DeliveryCommand = { type: 'RecordOutcome', metadata, outcome }
        const { state, events } = await deliveries.execute(id, command)
        // A late outcome does not finish a delivery, e.g. one that was cancelled during the attempt.
        if (events.length > 0 && isFinishedAt(state, metadata.now)) metrics.finished(state)
        return state
      } catch (error) {
        if (abandoned.aborted) throw error
        log.error({ delivery: id, err: error }, 'cannot record the outcome of an attempt, tries again')
        await setTimeout(pause, undefined, { signal: abandoned }).catch(() => {})
        metadata = { ...metadata, repeated: true }
      }
    }
  }

  const makeAttempt: MakeAttempt = async (target, claimed) => {
    const result = await send(target, claimed)
    if (!result) return claimed
    const { failure, durationMs } = result
    // Resolved addresses are only logged: a failure message must not reveal internal host names to users.
    if (failure?.cause)
      log.info({ delivery: claimed.id, attempt: claimed.attempts, err: failure }, 'an attempt failed')
    await applyToWebhook(target, claimed, result)
    const state = await record(claimed, result)
    metrics.attempted(claimed.trigger, failure?.code ?? '', durationMs)
    return state
  }

  return (target, claimed) => {
    const { id, cause, webhook, attempts } = claimed
    // Another request, or none, may have started the attempt.
    const context = beginContext(cause?.requestId ?? id, cause?.traceparent, {
      name: 'attempt delivery',
      attributes: () => ({
        'gantry.webhook.id': webhook,
        'gantry.delivery.id': id,
        'gantry.delivery.attempt': attempts,
      }),
    })
    return inOwnContext(context, () => makeAttempt(target, claimed))
  }
}

/** The span of the request to a receiver. The path of its URL may be a secret. */
const requestSpanOf = ({ url, attempts }: Pending): SpanStart => ({
  name: 'POST',
  kind: 'client',
  attributes() {
    const { origin } = new URL(url)
    return {
      'http.request.method': 'POST',
      'url.full': `${origin}/REDACTED`,
      ...serverAttributes(new URL(url)),
      ...(attempts > 1 && { 'http.request.resend_count': attempts - 1 }),
    }
  },
})

const isFinishedAt = (state: DeliveryState, time: string) =>
  state.status !== 'Absent' && state.finishedAt === time

function outcomeOf(result: Sent, number: number, now: Date, random: number): Outcome {
  const { status, body, headers, requestHeaders, durationMs, failure, retryAfter } = result
  return {
    number,
    durationMs,
    responseStatus: status,
    responseBody: body,
    requestHeaders,
    responseHeaders: headers,
    failure: failure && { code: failure.code, message: failure.message, fault: failure.fault },
    retryAfterMs: failure && retryAfterMs(status, retryAfter, now),
    random,
  }
}
