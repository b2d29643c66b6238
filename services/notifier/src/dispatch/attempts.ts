import { setTimeout } from 'node:timers/promises'
import type { Aggregate, CommandMetadata, Log } from '@gantry/event-sourcing'
import type { DeliveryCommand, Outcome } from '../delivery/delivery.decide.ts'
import { type DeliveryEvent, type DeliveryState, isTest, type Pending } from '../delivery/delivery.ts'
import { retryAfterMs } from '../delivery/schedule.ts'
import { AttemptFailure } from '../http/failure.ts'
import type { PostResult, Sender } from '../http/post.ts'
import { signedHeaders } from '../http/signature.ts'
import type { SigningKeys } from '../webhook/signing-keys.ts'
import type { WebhookCommand } from '../webhook/webhook.decide.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import type { WebhookEvent, WebhookState } from '../webhook/webhook.ts'
import type { NotifierMetrics } from './metrics.ts'

export interface AttemptsOptions {
  delivery: Aggregate<DeliveryState, DeliveryCommand, DeliveryEvent>
  webhook: Aggregate<WebhookState, WebhookCommand, WebhookEvent>
  sender: Sender
  keys: SigningKeys
  metrics: NotifierMetrics
  /** Timeout of a whole attempt, in milliseconds. */
  timeoutMs: number
  userAgent: string
  now(): Date
  random(): number
  /** Metadata of a command that the service issues by itself. */
  metadata(causationId?: string): CommandMetadata
  log: Log
  /** Aborts running attempts. Their outcomes are recorded as interrupted. */
  interrupted: AbortSignal
  /** Stops retries of recording an outcome. The attempt then counts as lost later. */
  abandoned: AbortSignal
}

/**
 * Makes an attempt that was claimed and records its outcome. Sends nothing if the timeout has passed since the claim.
 * @returns the state after the outcome, or the claimed state if nothing was sent
 * @throws an error of the event store when the outcome is not recorded before `abandoned`
 */
export type MakeAttempt = (webhook: WebhookDocument, claimed: Pending) => Promise<DeliveryState>

const LONGEST_PAUSE_MS = 5_000

export function attempts(options: AttemptsOptions): MakeAttempt {
  const { delivery, webhook, sender, keys, metrics, now, random, metadata, log } = options

  const keysOf = ({ secrets }: WebhookDocument, at: Date) => {
    try {
      return keys.valid(secrets, at)
    } catch (error) {
      throw new AttemptFailure('signing-failed', 'the signing secret cannot be opened', error)
    }
  }

  const send = async (target: WebhookDocument, { id, body, url }: Pending, timeoutMs: number) => {
    const bytes = Buffer.from(body)
    const at = now()
    return sender.post({
      url,
      headers: {
        ...signedHeaders(id, Math.floor(at.getTime() / 1_000), bytes, keysOf(target, at)),
        'content-type': 'application/json',
        'user-agent': options.userAgent,
      },
      body: bytes,
      timeoutMs,
      signal: options.interrupted,
    })
  }

  /** A request that the service fails to send gets an outcome too, so that the retry schedule applies and attempts end. */
  const sent = async (...args: Parameters<typeof send>): Promise<PostResult> => {
    try {
      return await send(...args)
    } catch (error) {
      log.error({ delivery: args[1].id, err: error }, 'cannot send a delivery')
      const failure =
        error instanceof AttemptFailure
          ? error
          : new AttemptFailure('internal-error', 'the service failed', error)
      return { status: null, body: null, retryAfter: undefined, failure, durationMs: 0 }
    }
  }

  /**
   * Applies the outcome to the webhook before the outcome of the delivery is recorded. If the process dies in between,
   * the attempt counts as lost and is repeated. In the other order a success could be missing, and the webhook could be
   * disabled wrongly.
   */
  const tell = async (target: WebhookDocument, claimed: Pending, { status, failure }: PostResult) => {
    const { id, url } = claimed
    const about = { metadata: metadata(id), url }
    try {
      if (status === 410) {
        const reason = 'the endpoint answered 410 Gone'
        await webhook.execute(target.id, { type: 'DisableWebhook', ...about, reason })
      } else if (!failure) {
        if (target.failing) await webhook.execute(target.id, { type: 'NoteSuccess', ...about })
      } else if (!isTest(claimed) && failure.fault === 'RECEIVER') {
        await webhook.execute(target.id, { type: 'NoteFailure', ...about, delivery: id })
      }
    } catch (error) {
      log.error({ webhook: target.id, err: error }, 'cannot record an outcome at its webhook')
    }
  }

  /** Retries until the outcome is recorded: an outcome that is known must not lead to a second attempt. */
  const record = async (id: string, outcome: Outcome): Promise<DeliveryState> => {
    let command: DeliveryCommand = { type: 'RecordOutcome', metadata: metadata(), outcome }
    for (let pause = 100; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        return (await delivery.execute(id, command)).state
      } catch (error) {
        if (options.abandoned.aborted) throw error
        log.error({ delivery: id, err: error }, 'cannot record the outcome of an attempt, tries again')
        await setTimeout(pause, undefined, { signal: options.abandoned }).catch(() => {})
        command = { ...command, metadata: { ...command.metadata, repeated: true } }
      }
    }
  }

  return async (target, claimed) => {
    const { id, attempts: number, lastAttemptAt, trigger } = claimed
    const left = Date.parse(lastAttemptAt ?? '') + options.timeoutMs - now().getTime()
    // The process was paused past the deadline: another process may be about to declare the attempt lost.
    if (left <= 0) return claimed
    const answer = await sent(target, claimed, left)
    // Resolved addresses are only logged: a failure message must not reveal internal host names to users.
    if (answer.failure?.cause)
      log.info({ delivery: id, attempt: number, err: answer.failure }, 'an attempt failed')
    await tell(target, claimed, answer)
    const state = await record(id, outcomeOf(answer, number, now(), random()))
    metrics.attempted(trigger, answer.failure?.code ?? '', answer.durationMs)
    if (state.status !== 'Absent' && state.finishedAt !== null)
      metrics.finished(state.status, Date.parse(state.finishedAt) - Date.parse(state.committedAt))
    return state
  }
}

function outcomeOf(answer: PostResult, number: number, now: Date, random: number): Outcome {
  const { status, body, durationMs, failure, retryAfter } = answer
  return {
    number,
    durationMs,
    responseStatus: status,
    responseBody: body,
    failure: failure && { code: failure.code, message: failure.message, fault: failure.fault },
    retryAfterMs: retryAfterMs(status, retryAfter, now),
    random,
  }
}
