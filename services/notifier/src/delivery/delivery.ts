import type { Attempt, DeliveryStatus } from '@gantry/contracts'
import type { EventSchemas } from '@gantry/event-sourcing'

/** What an attempt came to, but for whether it succeeded. */
interface Answered {
  number: number
  durationMs: number
  responseStatus: number | null
  /** Cut. */
  responseBody: string | null
}

/** Where a delivery to an ordered webhook stands among those about the same resource. */
export interface Place {
  resource: string
  /** Greater than that of the delivery before it. */
  number: number
  /** The delivery before it, which has to come to its end first; null when there is none. */
  after: string | null
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
        /** The bytes of the body as text: they are what is signed and sent in every attempt. */
        body: string
        createdAt: string
        /** The recovery that made it, where one did. */
        recovery?: string
        /** When its event was; left out where that is the same, and where a recovery makes up for it. */
        committedAt?: string
        /** Only for an ordered webhook. */
        line?: Place
      }
    }
  /** Nothing of its line that was before it is still to be delivered. */
  | { type: 'TurnCame'; data: { at: string } }
  /** Claims the attempt: whoever appends this sends, and nobody else does until it is lost. */
  | {
      type: 'AttemptStarted'
      data: {
        number: number
        trigger: Attempt['trigger']
        url: string
        startedAt: string
        /** When it counts as lost, should its outcome not be known by then. */
        lostAt: string
      }
    }
  | { type: 'AttemptSucceeded'; data: Answered & { at: string } }
  | {
      type: 'AttemptFailed'
      data: Answered & {
        /** Stable, for programs. */
        error: string
        /** Events of earlier releases do not have it. */
        fault?: Fault
        message: string
        at: string
        /** Null when no attempt follows. */
        nextAttemptAt: string | null
      }
    }
  /** The outcome of an attempt will not be known: its process died. Another follows at once. */
  | { type: 'AttemptLost'; data: { number: number; at: string } }
  | { type: 'DeliveryGaveUp'; data: { reason: 'exhausted' | 'gone' | 'test'; at: string } }
  | { type: 'DeliveryCancelled'; data: { reason: 'requested' | 'webhook-deleted'; at: string } }
  /** By a person, or by a recovery. */
  | { type: 'RetryRequested'; data: { at: string; recovery?: string } }

interface Delivery {
  id: string
  webhook: string
  /** Of the attempt made last. */
  url: string
  eventId: string
  eventType: string
  body: string
  createdAt: string
  /** When its event was committed. */
  committedAt: string
  /** Attempts so far. */
  attempts: number
  /** The latest attempts, in order. */
  log: readonly Attempt[]
  lastAttemptAt: string | null
  responseStatus: number | null
  failureMessage: string | null
  /** Failed attempts since the schedule began. */
  failures: number
  finishedAt: string | null
  /** The recovery that took it up last. */
  recovery: string | null
  /** The audit log tells of something that was done to it by hand, and is made from its stream. */
  audited: boolean
  /** `ended` once it has come to its end, be it that somebody has it sent again later. */
  line: (Place & { ended: boolean }) | null
}

/** It waits for an attempt, or one is under way. */
export interface Pending extends Delivery {
  status: Extract<DeliveryStatus, 'CREATED' | 'RETRYING'>
  /** What causes the next attempt, or caused the one that is under way. */
  trigger: Attempt['trigger']
  next:
    | { dueAt: string }
    /** `again` when somebody asked for an attempt while this one was under way. */
    | { sending: number; lostAt: string; again: boolean }
    /** A delivery, or whatever that one waits for. */
    | { waitsFor: string }
}

export interface Finished extends Delivery {
  status: Extract<DeliveryStatus, 'SUCCESS' | 'GIVE_UP' | 'CANCELLED'>
  finishedAt: string
}

export type DeliveryState = { status: 'Absent' } | Pending | Finished

/** Whose failure it was. In doubt it is the receiver's, whose webhook it then counts against. */
export type Fault = NonNullable<Attempt['fault']>

/** Failures of the service, for events of releases that did not record the fault. The list never changes. */
const FAULTS_BEFORE: ReadonlySet<string> = new Set([
  'resolver-failed',
  'network-failed',
  'signing-failed',
  'internal-error',
  'interrupted',
])
const faultBefore = (error: string): Fault => (FAULTS_BEFORE.has(error) ? 'SERVICE' : 'RECEIVER')

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

/** Attempts that the record tells of; the log has all of them. */
const LOGGED_ATTEMPTS = 100

/** The code of an attempt that the service ended because it was stopping. */
export const INTERRUPTED = 'interrupted'

export const isPending = (state: DeliveryState): state is Pending =>
  state.status === 'CREATED' || state.status === 'RETRYING'

export const isTest = ({ eventType }: { eventType: string }) => eventType === 'TEST'

/** What causes the first attempt. */
export const firstTrigger = (made: {
  eventType: string
  recovery?: string | undefined
}): Attempt['trigger'] => (isTest(made) ? 'TEST' : made.recovery === undefined ? 'AUTOMATIC' : 'RECOVERY')

/** Whether it waits for those before it in its line. */
export const isWaiting = (state: DeliveryState): state is Pending & { next: { waitsFor: string } } =>
  isPending(state) && 'waitsFor' in state.next

interface InLine {
  line: Place & { ended: boolean }
}

/** Whether those behind it in its line have to wait for it. */
export const holdsUp = <State extends DeliveryState>(state: State): state is State & InLine =>
  state.status !== 'Absent' && state.line !== null && !state.line.ended

/**
 * What a delivery that was put behind this one waits for: this one; when this one was cancelled before its turn, what
 * it waited for itself; or nothing. One whose stream was removed had come to its end after its turn: what is cancelled
 * by hand is kept.
 */
export function obstacle(state: DeliveryState): string | null {
  if (state.status === 'Absent' || !state.line) return null
  return state.line.ended ? state.line.after : state.id
}

/** What somebody did by hand, as the audit log calls it. */
export function actionOf(event: DeliveryEvent): string | undefined {
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
  if (event.type === 'DeliveryCreated') {
    const { line, recovery = null, ...fields } = event.data
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
      trigger: firstTrigger(event.data),
      next: line?.after ? { waitsFor: line.after } : { dueAt: fields.createdAt },
    }
  }
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
      const { number, durationMs, responseStatus, responseBody, at } = event.data
      const log = logged(state, number, {
        durationMs,
        responseStatus,
        responseBody,
        error: null,
        fault: null,
      })
      // Whoever cancelled or gave up meanwhile is believed; what arrived is on record all the same.
      if (!isPending(state)) return { ...state, log }
      return finished({ ...state, log, responseStatus, failureMessage: null }, 'SUCCESS', at)
    }
    case 'AttemptFailed': {
      const { number, durationMs, responseStatus, responseBody, error, message, nextAttemptAt } = event.data
      const { fault = faultBefore(error) } = event.data
      const log = logged(state, number, {
        durationMs,
        responseStatus,
        responseBody,
        error,
        fault,
      })
      if (!isUnderWay(state, number)) return { ...state, log }
      const failed = { ...state, log, responseStatus, failureMessage: `${error}: ${message}` }
      // An attempt that we ended ourselves says nothing of the receiver: it is made again, and not counted.
      if (error === INTERRUPTED && nextAttemptAt !== null)
        return { ...failed, status: 'RETRYING', next: { dueAt: nextAttemptAt } }
      const failures = state.next.again ? 0 : state.failures + 1
      if (nextAttemptAt === null) return { ...failed, failures }
      const trigger = state.next.again ? 'MANUAL' : 'AUTOMATIC'
      return { ...failed, failures, trigger, status: 'RETRYING', next: { dueAt: nextAttemptAt } }
    }
    case 'AttemptLost': {
      const { number, at } = event.data
      const log = logged(state, number, { error: 'lost', fault: 'SERVICE' })
      if (!isUnderWay(state, number)) return { ...state, log }
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

type Sending = Pending & { next: { sending: number; lostAt: string; again: boolean } }

/** Whether an attempt is the one whose outcome the delivery waits for. */
export const isUnderWay = (state: DeliveryState, number: number): state is Sending =>
  isPending(state) && 'sending' in state.next && state.next.sending === number

const logged = ({ log }: Delivery, number: number, outcome: Partial<Attempt>): Attempt[] =>
  log.map(attempt => (attempt.number === number ? { ...attempt, ...outcome } : attempt))

function finished(state: Pending, status: Finished['status'], finishedAt: string): Finished {
  const { trigger, next, line, ...delivery } = state
  return { ...delivery, status, finishedAt, line: line && { ...line, ended: true } }
}
