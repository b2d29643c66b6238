import { answer, client } from '../http/client.ts'
import { INTERFACE_PATH } from '../http/place.ts'
import { problemOf, RequestFailed } from '../http/problem.ts'
import { queries } from '../http/queries.ts'
import { type Session, session } from '../http/session.ts'

/** Begins a session by password. @throws RequestFailed, e.g. `wrong-credentials` */
export async function signInWithPassword(username: string, password: string): Promise<void> {
  const { data, error, response } = await client.POST('/login', { body: { username, password } })
  if (!data) throw new RequestFailed(problemOf(response, error))
  const token = (response.headers.get('authorization') ?? '').replace(/^Bearer /, '')
  session.begin(await sessionOf(token, 'login'))
}

/** Begins a session with an access token. @throws RequestFailed, e.g. `unauthenticated` */
export async function signInWithToken(token: string): Promise<void> {
  session.begin(await sessionOf(token, 'token'))
}

/** Asks the service what a token may do. */
async function sessionOf(token: string, kind: Session['kind']): Promise<Session> {
  const response = await fetch(`${INTERFACE_PATH}/session`, { headers: { authorization: `Bearer ${token}` } })
  const body = await response.json().catch(() => undefined)
  if (!response.ok) throw new RequestFailed(problemOf(response, body))
  const { user, scopes, expiresAt } = body
  return { token, user, scopes, expiresAt: expiresAt && Date.parse(expiresAt), kind }
}

/** Forgets the token and everything that was read with it. */
export function signOut(): void {
  session.end()
  queries.clear()
}

/** Revokes all login tokens of the user, then forgets this one. @throws RequestFailed */
export async function signOutEverywhere(): Promise<void> {
  await answer(client.POST('/logout'))
  signOut()
}
