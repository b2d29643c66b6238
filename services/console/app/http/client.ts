import createClient from 'openapi-fetch'
import { INTERFACE_PATH } from './place.ts'
import { problemOf, RequestFailed } from './problem.ts'
import type { Paths } from './schemas.ts'
import { session } from './session.ts'

/** After this time a request is given up and can be repeated by the person. */
const TIMEOUT_MS = 30_000

/** The client of the REST interface. Pass its results to `answer`. */
export const client = createClient<Paths>({ baseUrl: INTERFACE_PATH, fetch: authorizedFetch })

/** Result of a request of `client`. */
interface Result<Body> {
  data?: Body
  error?: unknown
  response: Response
}

/** The body of a successful response. @throws RequestFailed */
export async function answer<Body>(request: Promise<Result<Body>>): Promise<Body> {
  return (await tagged(request)).body
}

/** The body of a successful response with its entity tag, for `If-Match`. @throws RequestFailed */
export async function tagged<Body>(request: Promise<Result<Body>>): Promise<{ body: Body; etag: string }> {
  const { data, error, response } = await request.catch(failure => {
    throw failure instanceof RequestFailed ? failure : unreadable(failure)
  })
  if (!response.ok) throw new RequestFailed(problemOf(response, error))
  return { body: data as Body, etag: response.headers.get('etag') ?? '' }
}

const unreadable = (failure: unknown) =>
  new RequestFailed({
    status: 0,
    code: 'invalid-response',
    title: 'The response cannot be read',
    detail: failure instanceof Error ? failure.message : String(failure),
  })

/**
 * Sends a request with the token of the session. When the token is refused, the person signs in again in a dialog, and the
 * request is sent again, so that no input is lost.
 * @throws RequestFailed without a response
 */
export async function authorizedFetch(request: Request): Promise<Response> {
  const token = session.current()?.token
  const response = await sent(request.clone(), token)
  if (response.status !== 401 || !token) return response
  if (!(await session.renewed(token))) return response
  return sent(request, session.current()?.token)
}

async function sent(request: Request, token: string | undefined): Promise<Response> {
  if (token) request.headers.set('authorization', `Bearer ${token}`)
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  try {
    return await fetch(request, { signal: AbortSignal.any([request.signal, timeout]) })
  } catch (error) {
    // The page has dropped the request.
    if (request.signal.aborted) throw error
    throw new RequestFailed(timeout.aborted ? NO_ANSWER : UNREACHABLE)
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
