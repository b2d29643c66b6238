import { setTimeout } from 'node:timers/promises'
import type { Aggregate, CommandMetadata, Log } from '@gantry/event-sourcing'
import type { DeliveryCommand, Outcome } from '../delivery/delivery.decide.ts'
import { type DeliveryEvent, type DeliveryState, INTERRUPTED, type Pending } from '../delivery/delivery.ts'
import { retryAfterMs } from '../delivery/schedule.ts'
import type { NotifierMetrics } from '../metrics.ts'
import type { Answer, Sender } from '../sending/post.ts'
import { signedHeaders } from '../sending/signature.ts'
import type { SigningKeys } from '../webhook/signing-keys.ts'
import type { WebhookCommand } from '../webhook/webhook.decide.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import type { WebhookEvent, WebhookState } from '../webhook/webhook.ts'

export interface AttemptsOptions {
  delivery: Aggregate<DeliveryState, DeliveryCommand, DeliveryEvent>
  webhook: Aggregate<WebhookState, WebhookCommand, WebhookEvent>
  sender: Sender
  keys: SigningKeys
  metrics: NotifierMetrics
  /** Of a whole attempt, in milliseconds. */
  timeoutMs: number
  userAgent: string
  now(): Date
  random(): number
  /** Circumstances of a command of the service itself. */
  metadata(causationId?: string): CommandMetadata
  log: Log
  /** Ends the attempts under way before their time; how far they came is recorded. */
  interrupted: AbortSignal
  /** From then on an outcome that cannot be recorded is left to be found lost. */
  abandoned: AbortSignal
}

/** Makes attempts that were claimed. @returns the state after the outcome, which is recorded */
export type MakeAttempt = (webhook: WebhookDocument, claimed: Pending) => Promise<DeliveryState>

const LONGEST_PAUSE_MS = 5_000

export function attempts(options: AttemptsOptions): MakeAttempt {
  const { delivery, webhook, sender, keys, metrics, now, random, metadata, log } = options

  const send = async ({ secrets }: WebhookDocument, { id, body, url }: Pending, timeoutMs: number) => {
    const bytes = Buffer.from(body)
    const at = now()
    return sender.post({
      url,
      headers: {
        ...signedHeaders(id, Math.floor(at.getTime() / 1_000), bytes, keys.valid(secrets, at)),
        'content-type': 'application/json',
        'user-agent': options.userAgent,
      },
      body: bytes,
      timeoutMs,
      signal: options.interrupted,
    })
  }

  /** Tries until it is recorded: an outcome that is known must not end in a second attempt. */
  const record = async (id: string, outcome: Outcome): Promise<DeliveryState> => {
    let command: DeliveryCommand = { type: 'RecordOutcome', metadata: metadata(), outcome }
    for (let pause = 100; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        return (await delivery.execute(id, command)).state
      } catch (error) {
        if (options.abandoned.aborted) throw error
        log.error({ delivery: id, err: error }, 'an outcome could not be recorded, tries again')
        await setTimeout(pause, undefined, { signal: options.abandoned }).catch(() => {})
        command = { ...command, metadata: { ...command.metadata, repeated: true } }
      }
    }
  }

  return async (target, claimed) => {
    const { id, attempts: number, lastAttemptAt, trigger, url } = claimed
    const left = Date.parse(lastAttemptAt ?? '') + options.timeoutMs - now().getTime()
    // The process was held up for so long that another may already be about to take the attempt for lost.
    if (left <= 0) return claimed
    const answer = await send(target, claimed, left)
    const state = await record(id, outcomeOf(answer, number, now(), random()))
    metrics.attempted(trigger, answer.failure?.code ?? '', answer.durationMs)
    if (state.status !== 'Absent' && state.finishedAt !== null)
      metrics.finished(state.status, Date.parse(state.finishedAt) - Date.parse(state.createdAt))
    if (answer.status === 410) {
      const reason = 'the endpoint answered 410 Gone'
      await webhook.execute(target.id, { type: 'DisableWebhook', metadata: metadata(id), url, reason })
    }
    return state
  }
}

function outcomeOf(answer: Answer, number: number, now: Date, random: number): Outcome {
  const { status, body, durationMs, failure, retryAfter } = answer
  return {
    number,
    durationMs,
    responseStatus: status,
    responseBody: body,
    failure: failure && {
      code: failure.code === 'interrupted' ? INTERRUPTED : failure.code,
      message: failure.message,
    },
    retryAfterMs: retryAfterMs(status, retryAfter, now),
    random,
  }
}
