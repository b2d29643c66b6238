import type { RequestBody } from './content.ts'
import { ConnectionError, invalidResponse, ProblemError, problemOf } from './problem.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_BACKOFF_MS = 10_000

export interface ClientOptions {
  /**
   * URL of the service with its BASE_PATH, e.g. `https://example.com/gantry`. On a page, and with a `fetch` of your own, it can
   * be a path or empty.
   */
  baseUrl: string
  /** Login token, access token or JWT of the platform, also after `Bearer `; or a function that gives it for each attempt. */
  token?: string | (() => string | undefined | Promise<string | undefined>) | undefined
  /** How often a request is sent again. Default: 4. */
  retries?: number
  /** A longer `Retry-After` is not waited for: the request fails. Default: 60,000 ms. */
  longestPauseMs?: number
  /** Sends requests. Default: `globalThis.fetch`. */
  fetch?: typeof globalThis.fetch
}

interface Outgoing {
  method: string
  /** Path with query, after the base URL. */
  path: string
  headers: Record<string, string>
  body?: RequestBody | undefined
  /** Whether a second request has the same effect and response as one. */
  repeatable: boolean
  signal?: AbortSignal | undefined
}

/**
 * Sends a request until it succeeds or is refused. `read` takes what is needed from a successful response, or one with the
 * status 304; a body that is cut off counts as a broken connection.
 */
export type Send = <Read>(request: Outgoing, read: (response: Response) => Promise<Read>) => Promise<Read>

/**
 * Requests with retries. The service has not carried out a request that it answers with 429, or with 503 and a code other
 * than `unavailable`, so that such a request is always sent again. After a broken connection, `unavailable`, and errors of
 * proxies, only a repeatable one is.
 */
export function transport(options: ClientOptions): Send {
  const { retries = 4, longestPauseMs = 60_000, fetch = (...given) => globalThis.fetch(...given) } = options
  const baseUrl = checkedUrl(options)

  const attempt = async <Read>(
    request: Outgoing,
    token: string | undefined,
    read: (of: Response) => Read,
  ) => {
    const { method, path, body, signal } = request
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token.replace(/^Bearer /, '')}` }),
        ...(body?.contentType && { 'content-type': body.contentType }),
        ...request.headers,
      },
      ...(body && { body: body.init(), duplex: 'half' }),
      ...(signal && { signal }),
    } as RequestInit)
    if (!response.ok && response.status !== 304) throw await problemOf(response)
    return read(response)
  }

  return async (request, read) => {
    for (let failures = 0; ; failures++) {
      const token = typeof options.token === 'function' ? await options.token() : options.token
      try {
        return await attempt(request, token, read)
      } catch (error) {
        request.signal?.throwIfAborted()
        const pause = pauseAfter(error, request, failures)
        if (failures >= retries || pause === undefined || pause > longestPauseMs)
          throw error instanceof ProblemError
            ? error
            : new ConnectionError(`${request.method} ${baseUrl}${request.path}`, error)
        await sleep(pause, request.signal)
        request.signal?.throwIfAborted()
      }
    }
  }
}

/**
 * The base URL without slashes at its end.
 * @throws TypeError for what is no URL, because requests would fail only after all retries
 */
function checkedUrl({ baseUrl, fetch }: ClientOptions): string {
  const { location } = globalThis as { location?: unknown }
  const resolved = fetch !== undefined || location !== undefined
  if (
    !(resolved && /^(\/|$)/.test(baseUrl)) &&
    !(/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/i.test(baseUrl) && URL.canParse(baseUrl))
  )
    throw new TypeError(
      'baseUrl must be an http or https URL without user and query, e.g. https://example.com/gantry',
    )
  return baseUrl.replace(/\/+$/, '')
}

/** Milliseconds until the request is sent again; undefined if it must not be. */
function pauseAfter(error: unknown, { repeatable, body }: Outgoing, failures: number): number | undefined {
  if (body?.once || (error instanceof ProblemError && !isPassing(error, repeatable))) return undefined
  if (!(error instanceof ProblemError) && !repeatable) return undefined
  const asked = error instanceof ProblemError ? error.retryAfterMs : undefined
  return asked === undefined ? backoffMs(failures) : asked * (1 + 0.1 * Math.random())
}

function isPassing({ status, code }: ProblemError, repeatable: boolean): boolean {
  if (status === 429 || code === 'request-in-progress') return true
  const refused = status === 503 && code !== 'unavailable' && code !== 'invalid-response'
  return refused || (repeatable && (status === 502 || status === 503 || status === 504))
}

/** Doubles with each failure; up to half is left out at random, so that clients do not retry in step. */
export const backoffMs = (failures: number): number =>
  Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_BACKOFF_MS) * (1 - 0.5 * Math.random())

/** Resolves after a time, or as soon as the signal is aborted. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}

/** The path with the parameters that it names; all others are its query. */
export function pathOf(template: string, parameters: Record<string, unknown>): string {
  const query = new URLSearchParams()
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(`${parameters[name]}`))
  for (const [name, value] of Object.entries(parameters)) {
    if (template.includes(`{${name}}`)) continue
    for (const each of [value].flat()) if (each !== undefined) query.append(name, `${each}`)
  }
  return query.size > 0 ? `${path}?${query}` : path
}

/** The JSON body of a response; undefined if it is empty. @throws ProblemError `invalid-response` */
export async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text()
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new ProblemError(invalidResponse(response), response.headers)
  }
}
