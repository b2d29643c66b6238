import { RequestFailed, unreadable } from './problem.ts'
import { randomId } from './random-id.ts'

/** After this time a request is given up, and the person can send it again. */
const TIMEOUT_MS = 30_000
const WITHOUT_BODY: readonly number[] = [204, 205, 304]

/**
 * Sends a request with a new request id, which problems without a response have too. The time limit includes the bodies of
 * JSON and HTML; other bodies, such as event streams, may take longer.
 * @param token for the Authorization header, unless the request has one
 * @throws RequestFailed without a usable response
 */
export async function send(request: Request, token?: string): Promise<Response> {
  const requestId = randomId()
  request.headers.set('x-request-id', requestId)
  if (token) request.headers.set('authorization', `Bearer ${token}`)
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), TIMEOUT_MS)
  try {
    return await received(
      await fetch(request, { signal: AbortSignal.any([request.signal, limit.signal]) }),
      requestId,
    )
  } catch (error) {
    // The page has dropped the request.
    if (request.signal.aborted || error instanceof RequestFailed) throw error
    throw new RequestFailed({ ...(limit.signal.aborted ? NO_ANSWER : UNREACHABLE), requestId })
  } finally {
    clearTimeout(timer)
  }
}

/** Reads a body of JSON or HTML. @throws RequestFailed if a success has no valid JSON, e.g. a page of a proxy */
async function received(response: Response, requestId: string): Promise<Response> {
  const type = response.headers.get('content-type') ?? ''
  if (WITHOUT_BODY.includes(response.status) || !/^(application\/(problem\+)?json|text\/html)\b/.test(type))
    return response
  const text = await response.text()
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  // A proxy that answers instead of the service sets no request id.
  if (!headers.has('x-request-id')) headers.set('x-request-id', requestId)
  const complete = new Response(text, { status, statusText, headers })
  if (complete.ok && text !== '' && !isJson(text)) throw new RequestFailed(unreadable(complete))
  return complete
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
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
