import type { LiveUser } from './user.ts'

/**
 * The state of a user's logins. Every event in a stream of logins contains the state after it, so that a command reads only
 * the last event, however many there are.
 */
export interface LoginState {
  /** Number of wrong passwords since the last successful login, lock or unlocking. */
  failed: number
  /** End of the last lock, ISO 8601 UTC, which may have passed; null for none. */
  lockedUntil: string | null
  /** Revision of the user's stream up to which this state includes its events; -1 for none. */
  userRevision: number
  /** Generation of the login tokens of the last login; null for none. */
  generation: number | null
}

export const noLogins: LoginState = { failed: 0, lockedUntil: null, userRevision: -1, generation: null }

/**
 * Combines the state after the last event of the logins with the later events of the user's stream: unlocking, and the
 * logins that replicas of an earlier release write there.
 */
export function loginsOf({ record, logins }: LiveUser, last: LoginState): LoginState {
  const { lockedUntil } = logins.revision > last.userRevision ? record : last
  const before = logins.revision > last.userRevision ? 0 : last.failed
  const since = logins.failed.filter(revision => revision > last.userRevision).length
  return { ...last, failed: before + since, lockedUntil }
}

/** Whether the user may have a valid login token. A token lives for an hour, and `last` covers at least the last month. */
export const mayBeLoggedIn = ({ logins, generation }: LiveUser, last: LoginState): boolean =>
  Math.max(logins.generation ?? -1, last.generation ?? -1) >= generation
