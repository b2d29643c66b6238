import {
  type DeliveryRecord,
  EVENT_TYPES,
  mayReadEvent,
  type Principal,
  type WebhookFormat,
} from '@gantry/contracts'
import type { Project } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/stores'
import { traceIdOf } from '@gantry/tracing'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import { shownUrl } from '../webhook/webhook.ts'
import {
  blocksLater,
  type DeliveryEvent,
  type DeliveryState,
  isPending,
  isTest,
  type Pending,
} from './delivery.ts'
import type { Payloads } from './payloads.ts'

/**
 * A queue of pending deliveries: those of one webhook and one kind. A delivery waits behind none of another kind: first
 * attempts not behind retries, retries that a user requested (`manual`) not behind automatic ones, and tests, which
 * inactive webhooks get as well, not behind deliveries that wait until the webhook is active. `turn` has the blocked
 * deliveries of ordered webhooks.
 */
export interface Queue {
  webhook: string
  kind: 'first' | 'retry' | 'manual' | 'test' | 'turn'
}

/** Sorts after every ISO 8601 time. */
const END = '~'

export const queuePrefix = ({ webhook, kind }: Queue) => `${webhook}/${kind}`

/** Sort key among all pending deliveries: by queue, then by due time (ISO 8601). Unique. */
const queueKey = (queue: Queue, dueAt: string, id: string) => `${queuePrefix(queue)}/${dueAt}/${id}`

/** Greater than every key of the queue, and less than those of all following queues. */
export const queueEnd = (queue: Queue) => `${queuePrefix(queue)}/${END}`

export function parseQueueKey(key: string): { queue: Queue; dueAt: string } {
  const [webhook = '', kind, dueAt = ''] = key.split('/')
  return { queue: { webhook, kind: kind as Queue['kind'] }, dueAt }
}

export const orderingKey = (webhook: string, resource: string) => `${webhook}/${resource}`

/** Condition on the field `queue`: all pending deliveries of a webhook. */
export const pendingOf = (webhook: string) => ({ gte: `${webhook}/`, lt: `${webhook}/${END}` })

/** The document of a delivery, for the REST API and the scheduler. */
export interface DeliveryDocument extends Omit<DeliveryRecord, 'payload'> {
  format: WebhookFormat
  /** Sort key in the queue, see `queueKey`; null when the delivery is finished. */
  queue: string | null
  finishedAt: string | null
  /** The ordering key; null once the delivery no longer blocks later ones, and for webhooks that are not ordered. */
  line: string | null
  /** Sequence number within the ordering key; null for webhooks that are not ordered. */
  turn: number | null
}

export const deliveries = defineCollection<DeliveryDocument>({
  name: 'notifier.deliveries',
  version: 7,
  fields: {
    webhook: 'string',
    eventId: 'string',
    api: 'string',
    status: 'string',
    eventType: 'string',
    createdAt: 'string',
    lastAttemptAt: 'string',
    nextAttemptAt: 'string',
    queue: 'string',
    finishedAt: 'string',
    line: 'string',
    turn: 'number',
  },
})

/** When the scheduler has to handle the delivery: the time of the next attempt, or when the running one counts as lost. */
export const dueAt = ({ next, createdAt }: Pending) =>
  'dueAt' in next ? next.dueAt : 'lostAt' in next ? next.lostAt : createdAt

export const queueOf = (state: Pending): Queue => ({ webhook: state.webhook, kind: kindOf(state) })

/** Deliveries of recoveries are queued with the retries, so that they do not delay new events. */
function kindOf(state: Pending): Queue['kind'] {
  if ('waitsFor' in state.next) return 'turn'
  if (isTest(state)) return 'test'
  if ('dueAt' in state.next && state.trigger === 'MANUAL') return 'manual'
  return state.attempts === 0 && state.trigger !== 'RECOVERY' ? 'first' : 'retry'
}

/**
 * @param isExpired whether the retention of a delivery has passed. A rebuild does not create the document of an expired
 *   delivery whose stream is kept for the audit log. It does create the document of another expired delivery, because
 *   removal finds the stream by the document.
 */
export const projectDelivery =
  (isExpired: (state: DeliveryState) => boolean): Project<DeliveryState, DeliveryEvent> =>
  (id, { state, revision }) => {
    // The state is Absent if the stream was removed.
    const isGone = state.status === 'Absent' || (state.audited && isExpired(state))
    const doc = isGone ? null : documentOf(state)
    return [{ collection: deliveries, id, doc, revision }]
  }

export function documentOf(state: Exclude<DeliveryState, { status: 'Absent' }>): DeliveryDocument {
  const pending = isPending(state) ? state : undefined
  return {
    id: state.id,
    webhook: state.webhook,
    url: state.url,
    eventId: state.eventId,
    eventType: state.eventType,
    traceId: state.cause ? traceIdOf(state.cause.traceparent) : null,
    status: state.status,
    attempts: state.attempts,
    createdAt: state.createdAt,
    lastAttemptAt: state.lastAttemptAt,
    waitsFor: pending && 'waitsFor' in pending.next ? pending.next.waitsFor : null,
    nextAttemptAt: pending && 'dueAt' in pending.next ? pending.next.dueAt : null,
    responseStatus: state.responseStatus,
    failureMessage: state.failureMessage,
    attemptLog: [...state.log],
    format: state.format,
    api: state.api,
    queue: pending ? queueKey(queueOf(pending), dueAt(pending), state.id) : null,
    finishedAt: state.finishedAt,
    line: blocksLater(state) ? orderingKey(state.webhook, state.line.resource) : null,
    turn: state.line?.number ?? null,
  }
}

/** What the record of a delivery needs of its webhook. */
export type Receiver = Pick<WebhookDocument, 'active' | 'eventTypes'>

/**
 * The record as the REST API returns it to a caller. Without the read scope of the event type the record lacks the
 * payload and everything that an endpoint may repeat of it: responses, and the Location in a failure message.
 * @param webhook its readers see its whole URL; undefined if it is deleted
 */
export async function deliveryRecord(
  { format, queue, finishedAt, line, turn, ...stored }: DeliveryDocument,
  payloads: Pick<Payloads, 'load'>,
  caller: Pick<Principal, 'scopes'>,
  webhook: Receiver = { active: true, eventTypes: Object.keys(EVENT_TYPES) },
): Promise<DeliveryRecord> {
  const shown = <Sent extends { url: string }>(sent: Sent): Sent => ({
    ...sent,
    url: shownUrl(sent.url, caller, [stored.eventType, ...webhook.eventTypes]),
  })
  const nextAttemptAt = webhook.active || isTest(stored) ? stored.nextAttemptAt : null
  const fields = { ...shown(stored), nextAttemptAt, attemptLog: stored.attemptLog.map(shown) }
  if (mayReadEvent(caller.scopes, fields.eventType)) {
    const body = await payloads.load(fields.eventId, format)
    return { ...fields, payload: body === undefined ? null : JSON.parse(body) }
  }
  const hidden = { responseBody: null, responseHeaders: null }
  const attemptLog = fields.attemptLog.map(attempt => ({ ...attempt, ...hidden }))
  const failureMessage = fields.failureMessage?.split(':', 1)[0] ?? null
  return { ...fields, attemptLog, failureMessage, api: null, payload: null }
}
