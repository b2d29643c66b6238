import { problemOf, RequestFailed } from './problem.ts'

/** Result of a request of a client. */
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
  const { data, error, response } = await request
  if (!response.ok) throw new RequestFailed(problemOf(response, error))
  return { body: data as Body, etag: response.headers.get('etag') ?? '' }
}
