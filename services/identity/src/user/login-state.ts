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

/** The state after the last event of the logins and any later unlocking in the user's stream. */
export const loginsOf = ({ unlockedRevision }: LiveUser, last: LoginState): LoginState =>
  unlockedRevision > last.userRevision ? { ...last, failed: 0, lockedUntil: null } : last

/** Whether the user may have a valid login token. A token lives for an hour, and `last` covers at least the last month. */
export const mayBeLoggedIn = ({ generation }: LiveUser, last: LoginState): boolean =>
  last.generation !== null && last.generation >= generation
