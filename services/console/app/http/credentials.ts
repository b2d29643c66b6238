import createClient from 'openapi-fetch'
import { answer } from './answer.ts'
import { INTERFACE_PATH } from './place.ts'
import { problemOf, RequestFailed } from './problem.ts'
import type { Paths } from './schemas.ts'
import { type Session, session } from './session.ts'
import { send } from './transport.ts'

/** Time between two reads of the session, so that a page that is refused again and again does not ask each time. */
const READ_AGAIN_AFTER_MS = 5_000

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

let reading = false
let readAt = 0

/** Reads what the current token may do, because the role of the user or the scopes of the token may have changed. */
export async function readSessionAgain(): Promise<void> {
  const token = session.current()?.token
  if (!token || reading || Date.now() - readAt < READ_AGAIN_AFTER_MS) return
  reading = true
  try {
    session.update(await sessionOf(token))
  } catch {
    // The next request with the token shows what is wrong with it.
  } finally {
    reading = false
    readAt = Date.now()
  }
}
