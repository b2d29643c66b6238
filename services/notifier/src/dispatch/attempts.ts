import { setTimeout } from 'node:timers/promises'
import type { Aggregate, CommandMetadata, Log } from '@gantry/event-sourcing'
import type { DeliveryCommand, Outcome } from '../delivery/delivery.decide.ts'
import { type DeliveryEvent, type DeliveryState, isTest, type Pending } from '../delivery/delivery.ts'
import { retryAfterMs } from '../delivery/schedule.ts'
import type { NotifierMetrics } from '../metrics.ts'
import { AttemptFailure } from '../sending/failure.ts'
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

  /** What cannot be sent by our own fault has an outcome all the same: it is tried again by schedule, not for ever. */
  const sent = async (...args: Parameters<typeof send>): Promise<Answer> => {
    try {
      return await send(...args)
    } catch (error) {
      log.error({ delivery: args[1].id, err: error }, 'a delivery could not be sent')
      const failure =
        error instanceof AttemptFailure
          ? error
          : new AttemptFailure('internal-error', 'the service failed', error)
      return { status: null, body: null, retryAfter: undefined, failure, durationMs: 0 }
    }
  }

  /**
   * What the outcome means for the webhook, told before it is recorded: the death of the process in between makes the
   * attempt a lost one, whereas a webhook that did not hear of a success might be disabled.
   */
  const tell = async (target: WebhookDocument, claimed: Pending, { status, failure }: Answer) => {
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
      log.error({ webhook: target.id, err: error }, 'a webhook could not be told of an outcome')
    }
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
    const { id, attempts: number, lastAttemptAt, trigger } = claimed
    const left = Date.parse(lastAttemptAt ?? '') + options.timeoutMs - now().getTime()
    // The process was held up for so long that another may already be about to take the attempt for lost.
    if (left <= 0) return claimed
    const answer = await sent(target, claimed, left)
    // Addresses are in the log alone: a webhook must not tell what internal names there are.
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

function outcomeOf(answer: Answer, number: number, now: Date, random: number): Outcome {
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
