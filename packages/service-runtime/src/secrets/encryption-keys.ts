import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import { z } from 'zod'

// Keys are KeyObjects, because Node takes ten times as long for a key in bytes.

/** A key for one purpose, derived from the configured one. @returns 32 bytes (RFC 5869) */
export const deriveKey = (key: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', createSecretKey(key), Buffer.alloc(0), purpose, 32))

/** Identifies a key without revealing it. @returns 16 hexadecimal digits */
export const fingerprint = (key: Uint8Array): string =>
  createHash('sha256').update('gantry key fingerprint').update(key).digest('hex').slice(0, 16)

/** Encrypts with AES-256-GCM under a 32-byte key. @returns base64url of nonce, tag and ciphertext */
export function seal(key: Uint8Array, plain: Uint8Array | string): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', createSecretKey(key), nonce)
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
}

/** Decrypts the result of `seal`. @throws Error when the key is wrong or the text was changed */
export function unseal(key: Uint8Array, sealed: string): Buffer {
  const bytes = Buffer.from(sealed, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', createSecretKey(key), bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(12, 28))
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
}

interface EncryptionKey {
  id: string
  /** 32 bytes. */
  bytes: Uint8Array
}

export interface EncryptionKeys {
  /** The key that seals. */
  first: EncryptionKey
  /** The keys that open, the first one included. Their ids are unique. */
  all: readonly EncryptionKey[]
}

/** Seals and opens values of one purpose. It cannot open values of another purpose. */
export interface Sealer {
  /** Encrypts with the first key. @returns the id of the key, a dot, and the result of `seal` */
  seal(plain: Uint8Array | string): string
  /** Decrypts with the key that sealed the value. @throws EncryptionKeyMissing when the keys lack it, or the value was changed */
  open(sealed: string): Buffer
  /** The value sealed with the first key; unchanged if it already is. @throws EncryptionKeyMissing */
  renewed(sealed: string): string
}

/** A key that sealed stored values, as it is recorded. */
export interface KeyInUse {
  id: string
  /** Result of `fingerprint`. */
  fingerprint: string
}

/** No key of ENCRYPTION_KEY opens a value. */
export class EncryptionKeyMissing extends Error {
  /** @param id of the key that sealed the value */
  constructor(id: string) {
    super(`ENCRYPTION_KEY has no key that opens it; it was sealed with key ${id}`)
    this.name = 'EncryptionKeyMissing'
  }
}

/** The id of a key that has none in the setting. */
const PLAIN_ID = '0'
const RULE = 'must be 32 bytes, in base64 or hexadecimal'
const ID = /^[A-Za-z0-9_-]{1,32}$/
const ENCODED = /^(?:[0-9a-f]{64}|[A-Za-z0-9+/_-]{43}=?)$/i

/** One key without an id. @param bytes 32 bytes */
export function plainKey(bytes: Uint8Array): EncryptionKeys {
  const first = { id: PLAIN_ID, bytes }
  return { first, all: [first] }
}

/**
 * Parses keys `ID:KEY` separated by commas, or one key without an id. The first one seals. A key is 32 bytes in base64
 * or hexadecimal.
 * @throws Error with what is wrong, which does not contain a key
 */
export function parseEncryptionKeys(text: string): EncryptionKeys {
  if (!/[,:]/.test(text)) {
    const bytes = decoded(text)
    if (bytes.length !== 32) throw new Error(RULE)
    return plainKey(bytes)
  }
  const all = text.split(',').map((element, index) => elementKey(element.trim(), index + 1))
  const twice = all.find(({ id }, index) => all.findIndex(other => other.id === id) < index)
  if (twice) throw new Error(`has two keys with the id ${twice.id}`)
  const [first] = all
  if (!first) throw new Error(RULE)
  return { first, all }
}

/** A setting that `parseEncryptionKeys` reads. @param error message when it is not set */
export const encryptionKeys = (error = 'must be set') =>
  z.string({ error }).transform((text, context) => {
    try {
      return parseEncryptionKeys(text)
    } catch (cause) {
      context.addIssue({ code: 'custom', message: (cause as Error).message })
      return z.NEVER
    }
  })

export function sealer({ first, all }: EncryptionKeys, purpose: string): Sealer {
  const derived = all.map(({ id, bytes }) => ({ id, key: deriveKey(bytes, purpose) }))
  const own = deriveKey(first.bytes, purpose)
  const prefix = `${first.id}.`
  const sealedNow = (plain: Uint8Array | string) => `${prefix}${seal(own, plain)}`
  const open = (sealed: string): Buffer => {
    const { id, value } = parts(sealed)
    // The setting may have given the key another id since, and the id of the value to another key.
    const named = derived.filter(key => key.id === id)
    const others = derived.filter(key => key.id !== id)
    for (const { key } of [...named, ...others]) {
      const opened = tried(key, value)
      if (opened) return opened
    }
    throw new EncryptionKeyMissing(id)
  }
  const isCurrent = (sealed: string) =>
    sealed.startsWith(prefix) && tried(own, parts(sealed).value) !== undefined
  return {
    seal: sealedNow,
    open,
    renewed: sealed => (isCurrent(sealed) ? sealed : sealedNow(open(sealed))),
  }
}

/** The recorded keys that are not among the given ones. */
export const missingKeys = ({ all }: EncryptionKeys, recorded: readonly KeyInUse[]): KeyInUse[] => {
  const known = new Set(all.map(({ bytes }) => fingerprint(bytes)))
  return recorded.filter(key => !known.has(key.fingerprint))
}

/** The first key, as it is recorded. */
export const firstInUse = ({ first }: EncryptionKeys): KeyInUse => ({
  id: first.id,
  fingerprint: fingerprint(first.bytes),
})

const decoded = (text: string) => Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64')

function elementKey(element: string, number: number): EncryptionKey {
  if (element === '') throw new Error(`key ${number} of the list is empty`)
  const [id = '', text, ...rest] = element.split(':')
  if (text === undefined || rest.length > 0 || !ID.test(id))
    throw new Error(
      `key ${number} of the list must be ID:KEY, with an id of 1 to 32 letters, digits, "-" and "_"`,
    )
  if (!ENCODED.test(text)) throw new Error(`key ${id} ${RULE}`)
  return { id, bytes: decoded(text) }
}

/** @returns the id of the key, and the rest */
function parts(sealed: string): { id: string; value: string } {
  const end = sealed.indexOf('.')
  return { id: sealed.slice(0, end), value: sealed.slice(end + 1) }
}

function tried(key: Uint8Array, value: string): Buffer | undefined {
  try {
    return unseal(key, value)
  } catch {
    return undefined
  }
}
