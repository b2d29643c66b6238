import createClient from 'openapi-fetch'
import { readSessionAgain } from './credentials.ts'
import { INTERFACE_PATH } from './place.ts'
import type { Paths } from './schemas.ts'
import { session } from './session.ts'
import { send } from './transport.ts'

export { answer, tagged } from './answer.ts'

/** The client of the REST interface. Pass its results to `answer`. */
export const client = createClient<Paths>({ baseUrl: INTERFACE_PATH, fetch: authorizedFetch })

/**
 * Sends a request with the token of the session. When the token is refused, the person signs in again in a dialog, and the
 * request is sent again, so that no input is lost.
 * @throws RequestFailed without a response
 */
export async function authorizedFetch(request: Request): Promise<Response> {
  const sender = session.current()
  const sentAt = performance.now()
  const response = await send(request.clone(), sender?.token)
  if (response.status === 403) void readSessionAgain(sentAt)
  if (response.status !== 401 || !sender) return response
  if (!(await session.renewed(sender.token))) return response
  const renewed = session.current()
  // Another person may have signed in meanwhile. The request is not theirs.
  if (renewed?.user.id !== sender.user.id) return response
  return send(request, renewed.token)
}
