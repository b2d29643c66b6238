/** The key of a user, as text that only its owner can read; null once it was deleted. */
export type UserKey = { key: string; erasedAt: null } | { key: null; erasedAt: string }

/** A user whose key was deleted. */
interface ErasedUser {
  user: string
  /** Time of the first deletion, ISO 8601 UTC. */
  erasedAt: string
}

/**
 * The keys that the personal data of users in the log are encrypted with. They are no read model: they cannot be computed
 * again, and no rebuild touches them. Adapters: packages/embedded (SQLite), packages/stores-mongo.
 * All calls can throw UserKeysUnavailable.
 */
export interface UserKeys {
  /** The key of a user; undefined when the user never had one. */
  get(user: string): Promise<UserKey | undefined>
  /** Stores a key, durably, unless the user has one or is erased. @returns what is stored afterwards */
  add(user: string, key: string): Promise<UserKey>
  /** Keys of users whose ids come after the given one (`''` for the first), in the order of the ids, at most `limit`. */
  list(after: string, limit: number): Promise<{ user: string; key: string }[]>
  /** Replaces the key of a user, unless it is another one by now. @returns whether it was replaced */
  replace(user: string, key: string, by: string): Promise<boolean>
  /**
   * Deletes the key of a user, if there is one, and records the time. The time of an erased user does not change.
   * @returns the recorded time
   */
  erase(user: string, at: string): Promise<string>
  /** All erased users, in no particular order. */
  erased(): AsyncIterable<ErasedUser>
  /** Resolves when the store answers. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** The store does not answer. A missing answer says nothing about the user: the call can be tried again later. */
export class UserKeysUnavailable extends Error {
  /** Carried across bus requests, so that the requesting service also answers 503. */
  readonly code = 'unavailable'
  readonly details = {}
  constructor(cause: unknown) {
    super(`user keys unavailable: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'UserKeysUnavailable'
  }
}
