import { gantryClient } from '@gantry/client'
import { readSessionAgain } from './credentials.ts'
import { INTERFACE_PATH } from './place.ts'
import { session } from './session.ts'
import { send } from './transport.ts'

export { answer, tagged } from './answer.ts'

export const authorizedFetch = authorized(send)

/** The client of the REST interface, without retries: those of reads are in `queries`. */
export const client = gantryClient({ baseUrl: INTERFACE_PATH, fetch: authorizedFetch, retries: 0 })

/**
 * Sends requests with the token of the session. When the token is refused, the person signs in again in a dialog, and the
 * request is sent again, so that no input is lost.
 * @returns a fetch that throws RequestFailed without a response
 */
export function authorized(send: typeof fetch): typeof fetch {
  return async (url, init) => {
    const sender = session.current()
    const sentAt = performance.now()
    const response = await send(url, withToken(init, sender?.token))
    if (response.status === 403) void readSessionAgain(sentAt)
    if (response.status !== 401 || !sender) return response
    if (!(await session.renewed(sender.token))) return response
    const renewed = session.current()
    // Another person may have signed in meanwhile. The request is not theirs.
    if (renewed?.user.id !== sender.user.id) return response
    return send(url, withToken(init, renewed.token))
  }
}

function withToken(init: RequestInit | undefined, token: string | undefined): RequestInit {
  const headers = new Headers(init?.headers)
  if (token) headers.set('authorization', `Bearer ${token}`)
  return { ...init, headers }
}
