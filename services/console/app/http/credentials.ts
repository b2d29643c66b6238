import createClient from 'openapi-fetch'
import { answer } from './answer.ts'
import { INTERFACE_PATH } from './place.ts'
import { problemOf, RequestFailed } from './problem.ts'
import type { Paths } from './schemas.ts'
import { type Session, session } from './session.ts'
import { send } from './transport.ts'

/** Sends requests without the session: a refused password must not ask for a new login. */
const plain = createClient<Paths>({ baseUrl: INTERFACE_PATH, fetch: request => send(request) })

/** The login token for a password. @throws RequestFailed, e.g. `wrong-credentials` */
export async function tokenFor(username: string, password: string): Promise<string> {
  const { error, response } = await plain.POST('/login', { body: { username, password } })
  if (!response.ok) throw new RequestFailed(problemOf(response, error))
  return (response.headers.get('authorization') ?? '').replace(/^Bearer /, '')
}

/** The session of a token. @throws RequestFailed, e.g. `unauthenticated` */
export async function sessionOf(token: string): Promise<Session> {
  const request = plain.GET('/session', { headers: { authorization: `Bearer ${token}` } })
  const { user, scopes, credential, accessToken, expiresAt } = await answer(request)
  // The clock of this machine may differ from that of the service.
  const difference =
    Date.now() - (Date.parse((await request).response.headers.get('date') ?? '') || Date.now())
  return {
    token,
    user,
    scopes,
    credential,
    tokenName: accessToken?.name,
    expiresAt: Date.parse(expiresAt) + difference,
  }
}

/** When the session was read last, in milliseconds since the start of the page. */
let readAt = 0

/**
 * Reads what the current token may do, because the role of the user or the scopes of the token may have changed.
 * @param since nothing is read if the session was already read after this time
 */
export async function readSessionAgain(since = Number.POSITIVE_INFINITY): Promise<void> {
  const token = session.current()?.token
  if (!token || readAt > since) return
  readAt = performance.now()
  try {
    session.update(await sessionOf(token))
  } catch {
    // The next request with the token shows what is wrong with it.
  }
}
