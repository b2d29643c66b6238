import { type DeliveryRecord, mayReadEvent, type Principal, readableData } from '@gantry/contracts'
import type { Project } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/read-models'
import {
  type DeliveryEvent,
  type DeliveryState,
  holdsUp,
  isPending,
  isTest,
  type Pending,
} from './delivery.ts'
import { type Lane, lineKey, queueKey } from './lane.ts'

/** A delivery as its readers and the scheduler need it. */
export interface DeliveryDocument extends Omit<DeliveryRecord, 'payload'> {
  body: string
  /** Place in its lane; null when nothing is left to do. */
  queue: string | null
  finishedAt: string | null
  /** The line in which others stand behind it; null when none has to wait for it. */
  line: string | null
  /** Its number in the line. */
  turn: number | null
}

export const deliveries = defineCollection<DeliveryDocument>({
  name: 'notifier.deliveries',
  version: 3,
  fields: {
    webhook: 'string',
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

/** When the scheduler has to look at it: for the next attempt, or because the one under way is lost. */
export const dueAt = ({ next, createdAt }: Pending) =>
  'dueAt' in next ? next.dueAt : 'lostAt' in next ? next.lostAt : createdAt

export const laneOf = (state: Pending): Lane => ({ webhook: state.webhook, kind: kindOf(state) })

/** What a recovery makes up for stands with the retries: what happens now goes before it. */
function kindOf(state: Pending): Lane['kind'] {
  if ('waitsFor' in state.next) return 'turn'
  if (isTest(state)) return 'test'
  if ('dueAt' in state.next && state.trigger === 'MANUAL') return 'manual'
  return state.attempts === 0 && state.trigger !== 'RECOVERY' ? 'first' : 'retry'
}

/**
 * @param isExpired whether the record of a delivery is no longer kept. A rebuild does not bring it back where the stream
 *   stays; where it does, the stream is still to be removed, and its record is how that is found.
 */
export const projectDelivery =
  (isExpired: (state: DeliveryState) => boolean): Project<DeliveryState, DeliveryEvent> =>
  (id, { state, revision }) => {
    // Absent once its stream was removed.
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
    status: state.status,
    attempts: state.attempts,
    createdAt: state.createdAt,
    lastAttemptAt: state.lastAttemptAt,
    waitsFor: pending && 'waitsFor' in pending.next ? pending.next.waitsFor : null,
    nextAttemptAt: pending && 'dueAt' in pending.next ? pending.next.dueAt : null,
    responseStatus: state.responseStatus,
    failureMessage: state.failureMessage,
    attemptLog: [...state.log],
    body: state.body,
    queue: pending ? queueKey(laneOf(pending), dueAt(pending), state.id) : null,
    finishedAt: state.finishedAt,
    line: holdsUp(state) ? lineKey(state.webhook, state.line.resource) : null,
    turn: state.line?.number ?? null,
  }
}

/**
 * The record as the interface shows it to a caller. Only a caller with the scope of its event type sees the payload, and
 * what an endpoint may repeat of it: the body of an answer, and a Location in the message of a failure.
 */
export function deliveryRecord(
  { body, queue, finishedAt, line, turn, ...fields }: DeliveryDocument,
  { scopes }: Pick<Principal, 'scopes'>,
): DeliveryRecord {
  if (mayReadEvent(scopes, fields.eventType))
    return { ...fields, payload: readableData(fields.eventType, JSON.parse(body)) }
  const attemptLog = fields.attemptLog.map(attempt => ({ ...attempt, responseBody: null }))
  const failureMessage = fields.failureMessage?.split(':', 1)[0] ?? null
  return { ...fields, attemptLog, failureMessage, payload: null }
}

/** The record of a state that was just reached. */
export const recordOf = (
  state: Exclude<DeliveryState, { status: 'Absent' }>,
  caller: Pick<Principal, 'scopes'>,
) => deliveryRecord(documentOf(state), caller)
