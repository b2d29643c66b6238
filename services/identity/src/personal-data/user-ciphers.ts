import { createHmac, randomBytes } from 'node:crypto'
import { UserKeyMissing } from '@gantry/audit'
import { atMost, type Log } from '@gantry/event-sourcing'
import { type EncryptionKeys, type Sealer, seal, sealer, unseal } from '@gantry/service-runtime'
import { type UserKeys, UserKeysUnavailable } from '@gantry/stores'
import { LRUCache } from 'lru-cache'

/** Encrypts and decrypts with a key of each user. Calls that need the store of keys can throw UserKeysUnavailable. */
export interface UserCiphers {
  /** Encrypts a text. The first text of a user makes the key. @returns null when the user is erased */
  seal(user: string, text: string): Promise<string | null>
  /**
   * Seals the network address of a user. It never makes a key, because a new one would hide that the user's was lost.
   * @returns null when the user is erased or has no key, and when the store of keys is unavailable: requests do not depend
   * on it
   */
  sealAddress(user: string, address: string): Promise<string | null>
  /**
   * Decrypts a text.
   * @returns null when the user is erased
   * @throws UserKeyMissing when the store has no key of the user, and no record of an erasure
   */
  open(user: string, sealed: string): Promise<string | null>
  /**
   * Makes pseudonyms of texts: HMACs with the key of a user, so that after an erasure a guessed text cannot be compared
   * with them.
   * @returns a function whose result is 43 characters of base64url; null when the user is erased
   * @throws UserKeyMissing
   */
  pseudonyms(user: string): Promise<((text: string) => string) | null>
  /** Deletes the key of a user. @returns the time of the first deletion */
  erase(user: string, at: string): Promise<string>
  /**
   * Seals the stored key of a user again, unless the first key of ENCRYPTION_KEY sealed it.
   * @returns whether it was replaced
   * @throws EncryptionKeyMissing
   */
  reseal(user: string, stored: string): Promise<boolean>
  /** Removes the key of a user from the memory of this process. */
  forget(user: string): void
}

const CACHE_SIZE = 10_000
/** How long a key stays in memory, in milliseconds: the limit after an erasure by another process whose broadcast is lost. */
const CACHE_MS = 60_000
const KEY_BYTES = 32

/** Seals and opens stored keys of users. */
export const userKeySealer = (encryptionKeys: EncryptionKeys): Sealer =>
  sealer(encryptionKeys, 'keys of users')

/** Keys are stored encrypted: the store of keys alone reveals nothing, nor does the log with ENCRYPTION_KEY. */
export function userCiphers({
  userKeys,
  encryptionKeys,
  log,
}: {
  userKeys: UserKeys
  encryptionKeys: EncryptionKeys
  log: Pick<Log, 'warn'>
}): UserCiphers {
  const wrapping = userKeySealer(encryptionKeys)
  /**
   * The key of a user; null when the user is erased. A read that is under way when its entry is replaced or deleted is not
   * kept, because its key may be outdated.
   */
  const known = new LRUCache<string, { key: Buffer | null }>({
    ...atMost(CACHE_SIZE),
    ttl: CACHE_MS,
    ignoreFetchAbort: true,
    async fetchMethod(user) {
      const stored = await userKeys.get(user)
      return stored && { key: opened(stored.key) }
    },
  })
  const opened = (key: string | null) => (key === null ? null : wrapping.open(key))
  const keyOf = async (user: string): Promise<Buffer | null | undefined> => (await known.fetch(user))?.key

  const makeKey = async (user: string): Promise<Buffer | null> =>
    opened((await userKeys.add(user, wrapping.seal(randomBytes(KEY_BYTES)))).key)

  const requireKey = async (user: string): Promise<Buffer | null> => {
    const key = await keyOf(user)
    if (key === undefined) throw new UserKeyMissing(user)
    return key
  }

  return {
    async seal(user, text) {
      const found = await keyOf(user)
      const key = found === undefined ? await makeKey(user) : found
      return key && seal(key, text)
    },
    async sealAddress(user, address) {
      try {
        const key = await keyOf(user)
        return key ? seal(key, address) : null
      } catch (err) {
        if (!(err instanceof UserKeysUnavailable)) throw err
        log.warn({ err, userId: user }, 'the audit log lacks the address of a user')
        return null
      }
    },
    async open(user, sealed) {
      const key = await requireKey(user)
      return key && unseal(key, sealed).toString()
    },
    async pseudonyms(user) {
      const key = await requireKey(user)
      return key && (text => createHmac('sha256', key).update(text).digest('base64url'))
    },
    async erase(user, at) {
      const erasedAt = await userKeys.erase(user, at)
      known.set(user, { key: null })
      return erasedAt
    },
    async reseal(user, stored) {
      const renewed = wrapping.renewed(stored)
      return renewed !== stored && userKeys.replace(user, stored, renewed)
    },
    forget(user) {
      known.delete(user)
    },
  }
}
