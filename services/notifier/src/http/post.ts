import type { IncomingHttpHeaders } from 'node:http'
import { Agent, type Dispatcher, errors } from 'undici'
import { type ConnectOptions, vettedConnector } from './connect.ts'
import { AttemptFailure } from './failure.ts'
import { type RecordedHeaders, recordedHeaders, withoutCredentials } from './recorded-headers.ts'
import { BODY_LIMIT, bodyText } from './response-body.ts'

export interface PostRequest {
  url: string
  headers: Record<string, string>
  body: Buffer
  /** Timeout from the name lookup to the end of the response, in milliseconds. */
  timeoutMs: number
  /** Aborts the request; its failure is then `interrupted`. */
  signal: AbortSignal
}

/** The outcome of a request. */
export interface PostResult {
  /** Null when there was no response. */
  status: number | null
  /** The beginning of the response body, decoded; null when there is none. */
  body: string | null
  /** The response headers for the delivery record; null when there was no response. */
  headers: RecordedHeaders | null
  /** The Retry-After header as received. */
  retryAfter: string | undefined
  /** Undefined when the attempt succeeded: the status is 2xx, and the body was complete or reached the read limit. */
  failure: AttemptFailure | undefined
  durationMs: number
}

export interface Sender {
  /** Sends the request once, without following redirects or retrying. Never rejects. */
  post(request: PostRequest): Promise<PostResult>
  /** Closes all connections. */
  close(): Promise<void>
}

/**
 * Idle timeout of connections, shorter than the usual one of receivers: a connection that the receiver closes would fail
 * the next attempt.
 */
const KEEP_ALIVE_MS = 3_000

export function sender(options: ConnectOptions): Sender {
  const agent = new Agent({
    connect: vettedConnector(options),
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The timeout of the request replaces these.
    headersTimeout: 0,
    bodyTimeout: 0,
  })

  const post = async (request: PostRequest): Promise<PostResult> => {
    const startedAt = performance.now()
    const received = await exchange(agent, request)
    const durationMs = Math.round((performance.now() - startedAt) * 10) / 10
    const { status, headers, body, failure } = received
    const text = body.length > 0 ? await bodyText(body, single(headers['content-encoding'])) : null
    return {
      status,
      body: text,
      headers: status === null ? null : recordedHeaders(headers),
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

/** Sends the request and reads the response, up to the size limit or the timeout, whichever comes first. */
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
    /** Ends the request and closes its connection. */
    const end = (failure?: AttemptFailure) => {
      settle(failure)
      controller?.abort(failure ?? new Error('reached the size limit'))
    }
    const interrupt = () => end(new AttemptFailure('interrupted', `interrupted ${stage}`))
    const deadline = setTimeout(() => end(new AttemptFailure('timeout', `timed out ${stage}`)), timeoutMs)
    signal.addEventListener('abort', interrupt, { once: true })
    if (signal.aborted) return interrupt()

    agent.dispatch(
      { origin, path: pathname + search, method: 'POST', headers, body },
      {
        onRequestStart(started) {
          controller = started
          // The connection was established after the timeout: the request is not sent.
          if (settled) started.abort(new Error('connected after the timeout'))
          else stage = 'while waiting for a response'
        },
        onResponseStart(_, statusCode, responseHeaders) {
          // An interim response (RFC 9110 §15.2) is not the outcome.
          if (statusCode < 200) return
          status = statusCode
          answered = responseHeaders
          stage = 'while reading the response'
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

/** Maps a connection error to a failure code. */
function failureOfExchange(error: Error, stage: string): AttemptFailure {
  if (error instanceof AttemptFailure) return error
  if (isUnreadable(error))
    return new AttemptFailure('bad-answer', `cannot parse the response: ${error.message}`, error)
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
    const where = location ? ` to ${withoutCredentials(location).slice(0, 200)}` : ''
    return new AttemptFailure('redirect', `answered ${status}${where}, which is not followed`)
  }
  return new AttemptFailure('http-status', `answered ${status}`)
}

const single = (header: string | string[] | undefined) => (Array.isArray(header) ? header.join(', ') : header)
