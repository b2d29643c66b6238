import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { Headers, Message } from '@gantry/messaging'

/** A traceparent of version 00 (W3C Trace Context §3.2). */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/
const ZEROS = /^0+$/
/** Ids that a request may come with. They are safe in headers and log lines. */
export const REQUEST_ID = /^[\w.:@/+=-]{1,128}$/

/** The trace id of a traceparent (W3C Trace Context §3.2). */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35)

/** The request that work belongs to, which can continue in other processes and after the response. */
export class TraceContext {
  readonly requestId: string
  #traceparent: string | undefined

  /**
   * @param requestId id that came with the request. Unless it is a REQUEST_ID, the context has a new one.
   * @param given traceparent that came with the request. Unless it is valid, the context is the start of a new trace.
   */
  constructor(requestId: string, given: unknown) {
    this.requestId = REQUEST_ID.test(requestId) ? requestId : randomUUID()
    this.#traceparent = isValid(given) ? given : undefined
  }

  /** Made on access, because many requests do not need it. Not sampled: no spans are recorded. */
  get traceparent(): string {
    this.#traceparent ??= `00-${randomHex()}-${randomHex().slice(16)}-00`
    return this.#traceparent
  }

  get traceId(): string {
    return traceIdOf(this.traceparent)
  }

  get spanId(): string {
    return this.traceparent.slice(36, 52)
  }

  /** The headers that carry the context to another process. */
  get headers(): { 'x-request-id': string; traceparent: string } {
    return { 'x-request-id': this.requestId, traceparent: this.traceparent }
  }
}

function isValid(given: unknown): given is string {
  const [, traceId = '0', spanId = '0'] = (typeof given === 'string' && TRACEPARENT.exec(given)) || []
  return !ZEROS.test(traceId) && !ZEROS.test(spanId)
}

const randomHex = () => randomUUID().replaceAll('-', '')

const contexts = new AsyncLocalStorage<TraceContext | undefined>()
/** The contexts that errors were thrown in, for the log lines of callers outside. */
const thrownIn = new WeakMap<object, TraceContext>()

/** Does work in a context, e.g. of a received message. `undefined` is for work that belongs to no request. */
export async function inContext<Result>(
  context: TraceContext | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await contexts.run(context, work)
  } catch (error) {
    // Contexts can be nested. The error was thrown in the innermost one.
    if (context && typeof error === 'object' && error !== null && !thrownIn.has(error))
      thrownIn.set(error, context)
    throw error
  }
}

/** Calls a function in a context. What it starts, such as timers and promises, stays in the context. */
export const enterContext = (context: TraceContext, call: () => void): void => contexts.run(context, call)

export const currentContext = (): TraceContext | undefined => contexts.getStore()

/** The context in the headers of a request between services; undefined when it has none. */
export function contextOf(headers: Headers | undefined): TraceContext | undefined {
  const { 'x-request-id': requestId, traceparent } = headers ?? {}
  return requestId === undefined ? undefined : new TraceContext(requestId, traceparent)
}

/** Does the work on a message in the context of the request that caused it, of which the message has id and traceparent. */
export function inContextOfMessage<Result>(message: Message, work: () => Promise<Result>): Promise<Result> {
  const { requestId } = (message.data ?? {}) as { requestId?: unknown }
  const id = typeof requestId === 'string' ? requestId : message.id
  return inContext(new TraceContext(id, message.headers?.traceparent), work)
}

/** The fields of a log line: those of the current context, or else of the context that its error was thrown in. */
export function contextFields(details: object): object {
  // A line that is written outside the context of its request names the ids itself.
  if ('traceId' in details) return {}
  const { err } = details as { err?: unknown }
  const context =
    currentContext() ?? (typeof err === 'object' && err !== null ? thrownIn.get(err) : undefined)
  if (!context) return {}
  const { requestId, traceId, spanId } = context
  return { requestId, traceId, spanId }
}
