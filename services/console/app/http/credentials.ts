import { gantryClient, logIn } from '@gantry/client'
import { INTERFACE_PATH } from './place.ts'
import { type Session, session } from './session.ts'
import { send } from './transport.ts'

/** Sends requests without the session: a refused password must not ask for a new login. */
const connection = { baseUrl: INTERFACE_PATH, fetch: send, retries: 0 }

/** The login token for a password. @throws ProblemError, e.g. `wrong-credentials` */
export const tokenFor = (username: string, password: string): Promise<string> =>
  logIn({ ...connection, username, password })

/** The session of a token. @throws ProblemError, e.g. `unauthenticated` */
export async function sessionOf(token: string): Promise<Session> {
  const { body, headers } = await gantryClient({ ...connection, token }).getSession()
  const { user, scopes, credential, accessToken, expiresAt } = body
  // The clock of this machine may differ from that of the service.
  const difference = Date.now() - (Date.parse(headers.get('date') ?? '') || Date.now())
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
