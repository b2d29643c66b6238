import { answer, client } from '../http/client.ts'
import { sessionOf, tokenFor } from '../http/credentials.ts'
import { RequestFailed } from '../http/problem.ts'
import { type Session, session } from '../http/session.ts'
import { forgetSearches } from '../parts/recent-searches.ts'

/** Begins a session by password. @throws ProblemError, e.g. `wrong-credentials` */
export async function signInWithPassword(username: string, password: string): Promise<void> {
  session.begin(await sessionOf(await tokenFor(username, password)))
}

/** Begins a session with a pasted token. @throws ProblemError, e.g. `unauthenticated` */
export async function signInWithToken(pasted: string): Promise<void> {
  session.begin(await sessionOf(tokenIn(pasted)))
}

/**
 * Continues a session with a new token.
 * @param secret the password of the user, or a token if the session began with one
 * @throws RequestFailed, e.g. `other-user` for a token of another user
 */
export async function continueSession(current: Session, secret: string): Promise<void> {
  const token = isByPassword(current) ? await tokenFor(current.user.username, secret) : tokenIn(secret)
  const next = await sessionOf(token)
  if (next.user.id !== current.user.id) throw new RequestFailed(otherUser(current, next))
  // The person has signed out while the request was under way.
  if (session.current()?.user.id !== current.user.id) return
  session.begin(next)
}

/** Whether a password continues the session. */
export const isByPassword = ({ credential }: Session): boolean => credential === 'LOGIN'

/** Forgets the token and everything that was read with it, in all tabs of the user. */
export function signOut(): void {
  forgetSearches()
  session.end()
}

/** Revokes all login tokens of the user, then forgets this one. @throws ProblemError or ConnectionError */
export async function signOutEverywhere(): Promise<void> {
  await answer(client.logout())
  signOut()
}

/** The token in pasted text, which may be a whole Authorization header. @throws RequestFailed `not-a-token` */
function tokenIn(pasted: string): string {
  const token = pasted.trim().replace(/^(authorization:\s*)?bearer\s+/i, '')
  // Other characters cannot be sent in a header.
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new RequestFailed({
    status: 0,
    code: 'not-a-token',
    title: 'This is not an access token',
    detail: 'A token has no spaces and only letters, digits and punctuation of ASCII.',
  })
}

const otherUser = ({ user }: Session, next: Session) => ({
  status: 0,
  code: 'other-user',
  title: 'This is another user',
  detail: `The token belongs to ${next.user.username}. This page was opened by ${user.username}.`,
})
