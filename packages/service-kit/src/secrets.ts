import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'

/** A key for one purpose, derived from the configured one. @returns 32 bytes (RFC 5869) */
export const deriveKey = (key: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), purpose, 32))

/** Identifies a key without revealing it. @returns 16 hexadecimal digits */
export const fingerprint = (key: Uint8Array): string =>
  createHash('sha256').update('gantry key fingerprint').update(key).digest('hex').slice(0, 16)

/** Encrypts with AES-256-GCM under a 32-byte key. @returns base64url of nonce, tag and ciphertext */
export function seal(key: Uint8Array, plain: Uint8Array | string): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
}

/** Decrypts the result of `seal`. @throws Error when the key is wrong or the text was changed */
export function unseal(key: Uint8Array, sealed: string): Buffer {
  const bytes = Buffer.from(sealed, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(12, 28))
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
}
