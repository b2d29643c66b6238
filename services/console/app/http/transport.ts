import { RequestFailed, unreadable } from './problem.ts'
import { randomId } from './random-id.ts'

/** After this time a request is given up, and the person can send it again. */
const TIMEOUT_MS = 30_000

/**
 * Sends a request with a new request id, which problems without a response have too. The time limit includes the bodies of
 * JSON and HTML; other bodies, such as event streams, may take longer.
 * @throws RequestFailed without a usable response
 */
export const send: typeof fetch = async (url, init) => {
  const requestId = randomId()
  const headers = new Headers(init?.headers)
  headers.set('x-request-id', requestId)
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), TIMEOUT_MS)
  const signal = init?.signal ? AbortSignal.any([init.signal, limit.signal]) : limit.signal
  try {
    return await received(await fetch(url, { ...init, headers, signal }), requestId)
  } catch (error) {
    // The page has dropped the request.
    if (init?.signal?.aborted || error instanceof RequestFailed) throw error
    throw new RequestFailed({ ...(limit.signal.aborted ? NO_ANSWER : UNREACHABLE), requestId })
  } finally {
    clearTimeout(timer)
  }
}

/** Reads a body of JSON or HTML. @throws RequestFailed for a success with HTML, which is the page of a proxy */
async function received(response: Response, requestId: string): Promise<Response> {
  const { ok, status, statusText } = response
  const type = response.headers.get('content-type') ?? ''
  if (!/^(application\/(problem\+)?json|text\/html)\b/.test(type)) return response
  const text = await response.text()
  const headers = new Headers(response.headers)
  // A proxy that answers instead of the service sets no request id.
  if (!headers.has('x-request-id')) headers.set('x-request-id', requestId)
  if (ok && type.startsWith('text'))
    throw new RequestFailed({ ...unreadable(status), requestId: headers.get('x-request-id') ?? requestId })
  return new Response(text || null, { status, statusText, headers })
}

const NO_ANSWER = {
  status: 0,
  code: 'no-answer',
  title: 'The service does not answer',
  detail: `There was no answer within ${TIMEOUT_MS / 1_000} seconds.`,
}
const UNREACHABLE = {
  status: 0,
  code: 'unreachable',
  title: 'The service cannot be reached',
  detail: 'The request could not be sent, or its response was cut off.',
}
