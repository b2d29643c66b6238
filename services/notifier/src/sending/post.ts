import type { IncomingHttpHeaders } from 'node:http'
import { Agent, type Dispatcher, errors } from 'undici'
import { BODY_LIMIT, bodyText } from './answer-body.ts'
import { type ConnectOptions, vettedConnector } from './connect.ts'
import { AttemptFailure } from './failure.ts'

export interface PostRequest {
  url: string
  headers: Record<string, string>
  body: Buffer
  /** For everything from the name lookup to the end of the answer, in milliseconds. */
  timeoutMs: number
  /** Ends the attempt before its time. */
  signal: AbortSignal
}

/** What came of an attempt. */
export interface Answer {
  /** Null when there was no answer. */
  status: number | null
  /** The beginning of the answer's body. */
  body: string | null
  /** As the receiver wrote it. */
  retryAfter: string | undefined
  /** Undefined when the attempt succeeded: a complete 2xx answer, or as much of it as is read. */
  failure: AttemptFailure | undefined
  durationMs: number
}

export interface Sender {
  /** Sends once, follows nothing, repeats nothing. Never rejects. */
  post(request: PostRequest): Promise<Answer>
  /** Closes all connections. */
  close(): Promise<void>
}

/** Idle connections are given up before the usual receiver gives them up, which would fail the next attempt. */
const KEEP_ALIVE_MS = 3_000

export function sender(options: ConnectOptions): Sender {
  const agent = new Agent({
    connect: vettedConnector(options),
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The deadline of the attempt stands for these.
    headersTimeout: 0,
    bodyTimeout: 0,
  })

  const post = async (request: PostRequest): Promise<Answer> => {
    const startedAt = performance.now()
    const received = await exchange(agent, request)
    const durationMs = Math.round((performance.now() - startedAt) * 10) / 10
    const { status, headers, body, failure } = received
    const text = body.length > 0 ? await bodyText(body, single(headers['content-encoding'])) : null
    return {
      status,
      body: text,
      retryAfter: single(headers['retry-after']),
      failure: failure ?? failureOfStatus(status, headers),
      durationMs,
    }
  }

  return { post, close: () => agent.destroy() }
}

interface Received {
  status: number | null
  headers: IncomingHttpHeaders
  body: Buffer
  failure: AttemptFailure | undefined
}

/** Sends the request and reads the answer, up to the limit or the deadline, whatever comes first. */
function exchange(agent: Agent, { url, headers, body, timeoutMs, signal }: PostRequest): Promise<Received> {
  const { origin, pathname, search } = new URL(url)
  return new Promise(resolve => {
    let controller: Dispatcher.DispatchController | undefined
    let settled = false
    let status: number | null = null
    let answered: IncomingHttpHeaders = {}
    let stage = 'before the request was sent'
    const parts: Buffer[] = []
    let size = 0

    const settle = (failure?: AttemptFailure) => {
      if (settled) return
      settled = true
      clearTimeout(deadline)
      signal.removeEventListener('abort', interrupt)
      const received = Buffer.concat(parts).subarray(0, BODY_LIMIT)
      resolve({ status, headers: answered, body: received, failure })
    }
    /** Ends the attempt and the connection with it. */
    const end = (failure?: AttemptFailure) => {
      settle(failure)
      controller?.abort(failure ?? new Error('read enough'))
    }
    const interrupt = () => end(new AttemptFailure('interrupted', `interrupted ${stage}`))
    const deadline = setTimeout(
      () => end(new AttemptFailure('timeout', `no complete answer in time: ended ${stage}`)),
      timeoutMs,
    )
    signal.addEventListener('abort', interrupt, { once: true })
    if (signal.aborted) return interrupt()

    agent.dispatch(
      { origin, path: pathname + search, method: 'POST', headers, body },
      {
        onRequestStart(started) {
          controller = started
          // The connection came too late: nothing has been sent on it, and nothing is.
          if (settled) started.abort(new Error('too late'))
          else stage = 'while waiting for an answer'
        },
        onResponseStart(_, statusCode, responseHeaders) {
          // An interim answer (RFC 9110 §15.2) says nothing of the outcome.
          if (statusCode < 200) return
          status = statusCode
          answered = responseHeaders
          stage = 'while reading the answer'
        },
        onResponseData(_, chunk) {
          parts.push(chunk)
          size += chunk.length
          if (size >= BODY_LIMIT) end()
        },
        onResponseEnd() {
          settle()
        },
        onResponseError(_, error) {
          settle(failureOfExchange(error, stage))
        },
      },
    )
  })
}

/** An error of the connection, in our words. */
function failureOfExchange(error: Error, stage: string): AttemptFailure {
  if (error instanceof AttemptFailure) return error
  if (isUnreadable(error))
    return new AttemptFailure('bad-answer', `the answer cannot be read: ${error.message}`, error)
  return new AttemptFailure('closed-early', `the connection was closed ${stage}: ${error.message}`, error)
}

const isUnreadable = (error: Error) =>
  error instanceof errors.HTTPParserError ||
  error instanceof errors.HeadersOverflowError ||
  error instanceof errors.ResponseContentLengthMismatchError ||
  /^bad (response|upgrade)$/.test(error.message)

function failureOfStatus(
  status: number | null,
  { location }: IncomingHttpHeaders,
): AttemptFailure | undefined {
  if (status === null || (status >= 200 && status < 300)) return undefined
  if (status >= 300 && status < 400) {
    const where = location ? ` to ${location.slice(0, 200)}` : ''
    return new AttemptFailure('redirect', `answered ${status}${where}, which is not followed`)
  }
  return new AttemptFailure('http-status', `answered ${status}`)
}

const single = (header: string | string[] | undefined) => (Array.isArray(header) ? header.join(', ') : header)
