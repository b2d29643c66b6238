import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { Message } from '@gantry/messaging'
import { type Attributes, errorType, type Span, type SpanStart, type Tracer } from './spans.ts'

/**
 * The attributes that OpenTelemetry's semantic conventions define for operations of several parts of the service.
 * Their package is not imported, because it would be loaded in every process.
 */

/** Attributes of an operation on a subject. @param system name of the message server */
export const messaging = (system: string, operation: 'send' | 'process', subject: string): Attributes => ({
  'messaging.system': system,
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
  'messaging.destination.name': subject,
})

/** The span of an operation on a database. @param collection kind of the records, e.g. category of a stream */
export const databaseSpan = (system: string, operation: string, collection: string): SpanStart => ({
  name: `${operation} ${collection}`,
  kind: 'client',
  attributes: () => ({
    'db.system.name': system,
    'db.operation.name': operation,
    'db.collection.name': collection,
  }),
})

/** The span of an HTTP request that this process sends. @param url whose query is left out */
export const requestSpan = (method: string, url: URL): SpanStart => ({
  name: method,
  kind: 'client',
  attributes: () => ({
    'http.request.method': method,
    'url.full': `${url.origin}${url.pathname}`,
    ...serverAttributes(url),
  }),
})

/** Attributes of the server that a request is sent to. */
export const serverAttributes = ({ protocol, hostname, port }: URL): Attributes => ({
  'server.address': hostname,
  'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
})

/** Records the status of the response to a request that this process sent. */
export function answered(span: Span | undefined, status: number): void {
  span?.set({ 'http.response.status_code': status })
  if (status >= 400) span?.fail(String(status))
}

/** A traceparent of version 00 (W3C Trace Context §3.2). */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/
const ZEROS = /^0+$/
/** Ids that a request may come with. They are safe in headers and log lines. */
export const REQUEST_ID = /^[\w.:@/+=-]{1,128}$/

/** The trace id of a traceparent (W3C Trace Context §3.2). */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35)

/**
 * The request that work belongs to. The work can continue in other processes, and after the response. Trace ids come only
 * from here: spans are started from a context, and a context of a span has its ids.
 */
export class TraceContext {
  readonly requestId: string
  /** The span of the work, if it is recorded. */
  readonly span: Span | undefined
  #traceparent: string | undefined

  /**
   * @param requestId id that came with the request. Unless it is a REQUEST_ID, the context has a new one.
   * @param given traceparent that came with the request. Unless it is valid, the context is the start of a new trace.
   */
  constructor(requestId: string, given: unknown, span?: Span) {
    this.requestId = REQUEST_ID.test(requestId) ? requestId : randomUUID()
    this.span = span
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
const tracers = new AsyncLocalStorage<Tracer>()
/** The contexts that errors were thrown in, for the log lines of callers outside. */
const thrownIn = new WeakMap<object, TraceContext>()

/** Does the work of a process, whose spans the tracer records. Without a tracer no spans are recorded. */
export const withTracer = <Result>(tracer: Tracer | undefined, work: () => Result): Result =>
  tracer ? tracers.run(tracer, work) : work()

/** Whether this process records spans. */
export const isTracing = (): boolean => tracers.getStore() !== undefined

/**
 * The context of work that begins in this process, with a span if the process records spans. The caller ends the span.
 * @param given traceparent that came with the request or message
 */
export function beginContext(requestId: string, given: unknown, start: SpanStart): TraceContext {
  const tracer = tracers.getStore()
  if (!tracer) return new TraceContext(requestId, given)
  const { traceparent, span } = tracer.start(start, isValid(given) ? given : undefined)
  return new TraceContext(requestId, traceparent, span)
}

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
export const enterContext = (context: TraceContext | undefined, call: () => void): void =>
  contexts.run(context, call)

export const currentContext = (): TraceContext | undefined => contexts.getStore()

/** Does work in a context that was begun for it, and ends its span. */
export async function inOwnContext<Result>(
  context: TraceContext,
  work: (span: Span | undefined) => Promise<Result>,
): Promise<Result> {
  const { span } = context
  try {
    return await inContext(context, () => work(span))
  } catch (error) {
    span?.fail(errorType(error))
    throw error
  } finally {
    span?.end()
  }
}

/** Does work in a span below that of the current context. If that has none, nothing is recorded. */
export function inSpan<Result>(
  start: SpanStart,
  work: (span: Span | undefined) => Promise<Result>,
): Promise<Result> {
  const context = currentContext()
  if (!context?.span) return work(undefined)
  const span = context.span.child(start)
  return inOwnContext(new TraceContext(context.requestId, span.traceparent, span), work)
}

const requestIdOf = ({ id, data }: Message): string => {
  const { requestId } = (data ?? {}) as { requestId?: unknown }
  return typeof requestId === 'string' ? requestId : id
}

/**
 * Handles a message in a span, in the context of the request that caused it. The message carries the id and the
 * traceparent of that request.
 * @param system name of the message server
 */
export const handlingMessage = <Result>(
  system: string,
  message: Message,
  work: () => Promise<Result>,
): Promise<Result> => {
  const { id, subject, headers } = message
  const context = beginContext(requestIdOf(message), headers?.traceparent, {
    name: `process ${subject}`,
    kind: 'consumer',
    linked: true,
    attributes: () => ({ ...messaging(system, 'process', subject), 'messaging.message.id': id }),
  })
  return inOwnContext(context, work)
}

/**
 * Publishes messages. Each has a span in its own trace and carries the context of that span.
 * @param system name of the message server
 */
export async function sendingMessages<Sent extends Message, Result>(
  system: string,
  messages: readonly Sent[],
  publish: (messages: readonly Sent[]) => Promise<Result>,
): Promise<Result> {
  if (!isTracing()) return publish(messages)
  const spans: Span[] = []
  const sent = messages.map(message => {
    const { id, subject, headers } = message
    const { span, traceparent } = beginContext(id, headers?.traceparent, {
      name: `send ${subject}`,
      kind: 'producer',
      attributes: () => ({ ...messaging(system, 'send', subject), 'messaging.message.id': id }),
    })
    if (!span) return message
    spans.push(span)
    return { ...message, headers: { ...headers, traceparent } }
  })
  try {
    return await publish(sent)
  } catch (error) {
    for (const span of spans) span.fail(errorType(error))
    throw error
  } finally {
    for (const span of spans) span.end()
  }
}

/** The fields of a log line: of the current context, or without one, of the context in which its error was thrown. */
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
