import type { Attempt, ChangeAction, DeliveryStatus, WebhookFormat } from '@gantry/contracts'
import type { EventSchemas } from '@gantry/event-sourcing'
import type { RecordedHeaders } from '../http/recorded-headers.ts'

/** The response to an attempt; success and failure are separate events. */
interface Response {
  number: number
  durationMs: number
  responseStatus: number | null
  /** The beginning of the body. */
  responseBody: string | null
  /** Absent if no request was made. */
  requestHeaders?: RecordedHeaders
  /** Absent if there was no response. */
  responseHeaders?: RecordedHeaders
}

/** Position of a delivery in the serial order of its ordering key: the webhook and the resource. */
export interface OrderPosition {
  resource: string
  /** Sequence number, greater than that of the previous delivery. */
  number: number
  /** Id of the previous delivery, which has to finish first; null when there is none. */
  after: string | null
}

/** The request that caused the event of a delivery. */
interface Cause {
  requestId: string
  traceparent: string
}

export type DeliveryEvent =
  | {
      type: 'DeliveryCreated'
      data: {
        id: string
        webhook: string
        url: string
        eventId: string
        eventType: string
        format: WebhookFormat
        /** Id of the API that the data of the event name; null if they name none. */
        api: string | null
        createdAt: string
        /** Id of the recovery that created the delivery, if one did. */
        recovery?: string
        /**
         * When the event was committed, ISO 8601. Left out if it equals `createdAt`, and if a recovery created the
         * delivery.
         */
        committedAt?: string
        /** Only for an ordered webhook. */
        line?: OrderPosition
        /** Absent if the event has no trace context. */
        cause?: Cause
      }
    }
  /** All previous deliveries of the ordering key have finished: the delivery is no longer blocked. */
  | { type: 'TurnCame'; data: { at: string } }
  /** Claims the attempt: only the process that appends this event sends it, until the attempt counts as lost. */
  | {
      type: 'AttemptStarted'
      data: {
        number: number
        trigger: Attempt['trigger']
        url: string
        startedAt: string
        /** When the attempt counts as lost if its outcome is not recorded. */
        lostAt: string
      }
    }
  | { type: 'AttemptSucceeded'; data: Response & { at: string } }
  | {
      type: 'AttemptFailed'
      data: Response & {
        /** Error code; stable. */
        error: string
        fault: Fault
        message: string
        at: string
        /** Null when no attempt follows. */
        nextAttemptAt: string | null
      }
    }
  /** The outcome of an attempt is unknown because its process died. The next attempt follows at once. */
  | { type: 'AttemptLost'; data: { number: number; at: string } }
  | { type: 'DeliveryGaveUp'; data: { reason: 'exhausted' | 'gone' | 'test'; at: string } }
  | { type: 'DeliveryCancelled'; data: { reason: 'requested' | 'webhook-deleted'; at: string } }
  /** Requested by the recovery with the id `recovery`, or by a user if it is absent. */
  | { type: 'RetryRequested'; data: { at: string; recovery?: string } }

interface Delivery {
  id: string
  webhook: string
  /** URL of the last attempt. */
  url: string
  eventId: string
  eventType: string
  format: WebhookFormat
  api: string | null
  createdAt: string
  /** When its event was committed. */
  committedAt: string
  /** Number of attempts so far. */
  attempts: number
  /** The latest attempts, in order. */
  log: readonly Attempt[]
  lastAttemptAt: string | null
  responseStatus: number | null
  failureMessage: string | null
  /** Failed attempts since the retry schedule started. */
  failures: number
  finishedAt: string | null
  /** Id of the last recovery that created or retried the delivery; null when none did. */
  recovery: string | null
  /**
   * True if a user's command created, retried or cancelled the delivery. The audit log is made from its stream, which is
   * then kept.
   */
  audited: boolean
  /**
   * `ended` is true once the delivery has reached a final status; it stays true if the delivery is retried. Null unless
   * the webhook is ordered.
   */
  line: (OrderPosition & { ended: boolean }) | null
  cause?: Cause
}

/** A delivery that waits for an attempt or has a running one. */
export interface Pending extends Delivery {
  status: Extract<DeliveryStatus, 'CREATED' | 'RETRYING'>
  /** The trigger of the next attempt, or of the running one. */
  trigger: Attempt['trigger']
  next:
    | { dueAt: string }
    /** `again` is true if a user requested a retry during this attempt. */
    | { sending: number; lostAt: string; again: boolean }
    /** Blocked by the delivery with this id, or by a predecessor of it. */
    | { waitsFor: string }
}

interface Finished extends Delivery {
  status: Extract<DeliveryStatus, 'SUCCESS' | 'GIVE_UP' | 'CANCELLED'>
  finishedAt: string
}

export type DeliveryState = { status: 'Absent' } | Pending | Finished

/** The party that caused a failure. When in doubt it is the receiver, and the failure counts against its webhook. */
export type Fault = NonNullable<Attempt['fault']>

/** Every event type that this release knows, with its upcasters. */
export const deliveryEvents: EventSchemas<DeliveryEvent> = {
  DeliveryCreated: [],
  TurnCame: [],
  AttemptStarted: [],
  AttemptSucceeded: [],
  AttemptFailed: [],
  AttemptLost: [],
  DeliveryGaveUp: [],
  DeliveryCancelled: [],
  RetryRequested: [],
}

export const initialDelivery: DeliveryState = { status: 'Absent' }

/** Maximum number of attempts in the state and the delivery record; the event log has all of them. */
const LOGGED_ATTEMPTS = 100

/** Error code of an attempt that the service aborted because it was stopping. */
export const INTERRUPTED = 'interrupted'

export const isPending = (state: DeliveryState): state is Pending =>
  state.status === 'CREATED' || state.status === 'RETRYING'

export const isTest = ({ eventType }: { eventType: string }) => eventType === 'TEST'

/** The trigger of the first attempt. */
export const firstTrigger = (made: {
  eventType: string
  recovery?: string | undefined
}): Attempt['trigger'] => (isTest(made) ? 'TEST' : made.recovery === undefined ? 'AUTOMATIC' : 'RECOVERY')

/** Whether the delivery is blocked by previous deliveries of its ordering key. */
export const isBlocked = (state: DeliveryState): state is Pending & { next: { waitsFor: string } } =>
  isPending(state) && 'waitsFor' in state.next

interface Ordered {
  line: OrderPosition & { ended: boolean }
}

export const blocksLater = <State extends DeliveryState>(state: State): state is State & Ordered =>
  state.status !== 'Absent' && state.line !== null && !state.line.ended

/**
 * Returns the delivery that the successor must wait for, or null. A delivery that was cancelled while it was blocked
 * passes on its own predecessor. A removed stream blocks nothing: its delivery finished after its predecessors, because
 * a delivery that a user cancelled keeps its stream.
 */
export function blockerAfter(state: DeliveryState): string | null {
  if (state.status === 'Absent' || !state.line) return null
  return state.line.ended ? state.line.after : state.id
}

/** The action name in the audit log; undefined for events that no user's command caused. */
export function actionOf(event: DeliveryEvent): ChangeAction<'DELIVERY'> | undefined {
  switch (event.type) {
    case 'DeliveryCreated':
      return isTest(event.data) ? 'WEBHOOK_TESTED' : undefined
    case 'RetryRequested':
      return event.data.recovery === undefined ? 'DELIVERY_RETRIED' : undefined
    case 'DeliveryCancelled':
      return event.data.reason === 'requested' ? 'DELIVERY_CANCELLED' : undefined
    default:
      return undefined
  }
}

export function evolveDelivery(state: DeliveryState, event: DeliveryEvent): DeliveryState {
  const next = evolved(state, event)
  return next.status === 'Absent' || actionOf(event) === undefined ? next : { ...next, audited: true }
}

function evolved(state: DeliveryState, event: DeliveryEvent): DeliveryState {
  if (event.type === 'DeliveryCreated') return created(event.data)
  if (state.status === 'Absent') return state

  switch (event.type) {
    case 'TurnCame':
      if (!isPending(state)) return state
      return { ...state, line: state.line && { ...state.line, after: null }, next: { dueAt: event.data.at } }
    case 'AttemptStarted': {
      if (!isPending(state)) return state
      const { number, trigger, url, startedAt, lostAt } = event.data
      const attempt: Attempt = {
        number,
        trigger,
        url,
        startedAt,
        durationMs: null,
        responseStatus: null,
        responseBody: null,
        requestHeaders: null,
        responseHeaders: null,
        error: null,
        fault: null,
      }
      return {
        ...state,
        url,
        attempts: number,
        lastAttemptAt: startedAt,
        log: [...state.log, attempt].slice(-LOGGED_ATTEMPTS),
        trigger,
        next: { sending: number, lostAt, again: false },
      }
    }
    case 'AttemptSucceeded': {
      const { number, responseStatus, at } = event.data
      const log = withOutcome(state, number, { ...responseOf(event.data), error: null, fault: null })
      // A delivery that was cancelled or given up meanwhile keeps its status. The log has the outcome anyway.
      if (!isPending(state)) return { ...state, log }
      return finished({ ...state, log, responseStatus, failureMessage: null }, 'SUCCESS', at)
    }
    case 'AttemptFailed':
      return failed(state, event.data)
    case 'AttemptLost': {
      const { number, at } = event.data
      const log = withOutcome(state, number, { error: 'lost', fault: 'SERVICE' })
      if (!isRunning(state, number)) return { ...state, log }
      return { ...state, log, failureMessage: 'lost: its outcome is unknown', next: { dueAt: at } }
    }
    case 'DeliveryGaveUp':
      return isPending(state) ? finished(state, 'GIVE_UP', event.data.at) : state
    case 'DeliveryCancelled':
      return isPending(state) ? finished(state, 'CANCELLED', event.data.at) : state
    case 'RetryRequested': {
      if (isPending(state) && 'sending' in state.next) {
        return { ...state, next: { ...state.next, again: true } }
      }
      return {
        ...state,
        status: 'RETRYING',
        finishedAt: null,
        failures: 0,
        recovery: event.data.recovery ?? state.recovery,
        trigger: event.data.recovery === undefined ? 'MANUAL' : 'RECOVERY',
        next: { dueAt: event.data.at },
      }
    }
    default:
      event satisfies never
      return state
  }
}

type Running = Pending & { next: { sending: number; lostAt: string; again: boolean } }

/** Whether the delivery waits for the outcome of the attempt with this number. */
export const isRunning = (state: DeliveryState, number: number): state is Running =>
  isPending(state) && 'sending' in state.next && state.next.sending === number

const withOutcome = ({ log }: Delivery, number: number, outcome: Partial<Attempt>): Attempt[] =>
  log.map(attempt => (attempt.number === number ? { ...attempt, ...outcome } : attempt))

const responseOf = ({ durationMs, responseStatus, responseBody, ...data }: Response) => ({
  durationMs,
  responseStatus,
  responseBody,
  requestHeaders: data.requestHeaders ?? null,
  responseHeaders: data.responseHeaders ?? null,
})

function finished(state: Pending, status: Finished['status'], finishedAt: string): Finished {
  const { trigger, next, line, ...delivery } = state
  return { ...delivery, status, finishedAt, line: line && { ...line, ended: true } }
}

type DataOf<Type extends DeliveryEvent['type']> = Extract<DeliveryEvent, { type: Type }>['data']

function created(data: DataOf<'DeliveryCreated'>): Pending {
  const { line, recovery = null, ...fields } = data
  return {
    ...fields,
    committedAt: fields.committedAt ?? fields.createdAt,
    status: 'CREATED',
    attempts: 0,
    log: [],
    lastAttemptAt: null,
    responseStatus: null,
    failureMessage: null,
    failures: 0,
    finishedAt: null,
    audited: false,
    line: line ? { ...line, ended: false } : null,
    recovery,
    trigger: firstTrigger(data),
    next: line?.after ? { waitsFor: line.after } : { dueAt: fields.createdAt },
  }
}

function failed(state: Pending | Finished, data: DataOf<'AttemptFailed'>): Pending | Finished {
  const { number, responseStatus, error, fault, message, nextAttemptAt } = data
  const log = withOutcome(state, number, { ...responseOf(data), error, fault })
  if (!isRunning(state, number)) return { ...state, log }
  const known = { ...state, log, responseStatus, failureMessage: `${error}: ${message}` }
  // An attempt that the service aborted says nothing about the receiver: it is repeated and not counted.
  if (error === INTERRUPTED && nextAttemptAt !== null)
    return { ...known, status: 'RETRYING', next: { dueAt: nextAttemptAt } }
  const failures = state.next.again ? 0 : state.failures + 1
  if (nextAttemptAt === null) return { ...known, failures }
  const trigger = state.next.again ? 'MANUAL' : 'AUTOMATIC'
  return { ...known, failures, trigger, status: 'RETRYING', next: { dueAt: nextAttemptAt } }
}
