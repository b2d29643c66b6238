import type { LiveUser } from './user.ts'

/** The state of a user's logins, which are in a stream of their own. */
export interface LoginState {
  /** Number of wrong passwords since the last successful login, lock or unlocking. */
  failed: number
  /** Revision of the user's stream up to which `failed` includes its events; -1 for none. */
  userRevision: number
  /** The last lock, which may have ended or have been lifted; null for none. */
  lock: Lock | null
  /** Generation of the login tokens of the last login; null for none. */
  generation: number | null
}

/** A lock of a user until a time (ISO 8601 UTC), with the `userRevision` when it began. */
export interface Lock {
  lockedUntil: string
  userRevision: number
}

export const noLogins: LoginState = { failed: 0, userRevision: -1, lock: null, generation: null }

/** The number of wrong passwords and the end of the lock, both as of the last unlocking in the user's stream. */
export const loginsOf = (
  user: Pick<LiveUser, 'unlockedRevision'>,
  { failed, userRevision, lock }: LoginState,
) => ({
  failed: user.unlockedRevision > userRevision ? 0 : failed,
  lockedUntil: unliftedLock(user, lock)?.lockedUntil ?? null,
})

/** The lock, unless the user was unlocked after it began. */
export const unliftedLock = <Of extends Pick<Lock, 'userRevision'>>(
  { unlockedRevision }: Pick<LiveUser, 'unlockedRevision'>,
  lock: Of | null | undefined,
): Of | null => (lock && lock.userRevision >= unlockedRevision ? lock : null)

/** Whether the user may have a valid login token. */
export const mayBeLoggedIn = ({ generation }: LiveUser, last: LoginState): boolean =>
  last.generation !== null && last.generation >= generation
