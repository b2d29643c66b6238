import { createHmac, randomBytes } from 'node:crypto'
import { UserKeyMissing } from '@gantry/audit'
import { type EncryptionKeys, type Sealer, seal, sealer, unseal } from '@gantry/service-runtime'
import type { UserKeys } from '@gantry/stores'
import { LRUCache } from 'lru-cache'

/** Encrypts and decrypts with a key of each user. Calls that need the store of keys can throw UserKeysUnavailable. */
export interface UserCiphers {
  /** Encrypts a text. The first text of a user makes the key. @returns null when the user is erased */
  seal(user: string, text: string): Promise<string | null>
  /**
   * Decrypts a text.
   * @returns null when the user is erased
   * @throws UserKeyMissing when the store has no key of the user, and no record of an erasure
   */
  open(user: string, sealed: string): Promise<string | null>
  /**
   * Makes pseudonyms of texts: HMACs with the key of a user, so that nothing guesses the text after an erasure.
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
}: {
  userKeys: UserKeys
  encryptionKeys: EncryptionKeys
}): UserCiphers {
  const wrapping = userKeySealer(encryptionKeys)
  /** The key of a user; null when the user is erased. */
  const known = new LRUCache<string, { key: Buffer | null }>({ max: CACHE_SIZE, ttl: CACHE_MS })
  /** Counts calls of `erase` and `forget`: a key that was read before one of them may be outdated. */
  let invalidations = 0
  const remembering = () => {
    const before = invalidations
    return (user: string, stored: string | null): Buffer | null => {
      const key = stored === null ? null : wrapping.open(stored)
      if (invalidations === before) known.set(user, { key })
      return key
    }
  }

  const keyOf = async (user: string): Promise<Buffer | null | undefined> => {
    const cached = known.get(user)
    if (cached) return cached.key
    const remember = remembering()
    const stored = await userKeys.get(user)
    return stored && remember(user, stored.key)
  }

  const makeKey = async (user: string): Promise<Buffer | null> => {
    const remember = remembering()
    const { key } = await userKeys.add(user, wrapping.seal(randomBytes(KEY_BYTES)))
    return remember(user, key)
  }

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
      invalidations++
      known.set(user, { key: null })
      return erasedAt
    },
    async reseal(user, stored) {
      const renewed = wrapping.renewed(stored)
      return renewed !== stored && userKeys.replace(user, stored, renewed)
    },
    forget(user) {
      invalidations++
      known.delete(user)
    },
  }
}
