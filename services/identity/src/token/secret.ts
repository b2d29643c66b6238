import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * The secret of an access token: `pat_`, 32 random bytes and a checksum, both in base62. The checksum shows without a
 * database lookup that a token is mistyped or cut off, and lets secret scanners recognize tokens.
 */
const SECRET = /^pat_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/
export const PREFIX = 'pat_'
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 62^43 > 256^32 and 62^6 > 2^32. */
const BODY_LENGTH = 43
const CHECKSUM_LENGTH = 6

function base62(number: bigint, length: number): string {
  let digits = ''
  for (let rest = number; digits.length < length; rest /= 62n) digits = ALPHABET[Number(rest % 62n)] + digits
  return digits
}

const checksum = (body: string) => base62(BigInt(crc32(PREFIX + body)), CHECKSUM_LENGTH)

/** @param bytes 32 random bytes */
export function secretOf(bytes: Uint8Array): string {
  const body = base62(BigInt(`0x${Buffer.from(bytes).toString('hex')}`), BODY_LENGTH)
  return PREFIX + body + checksum(body)
}

export function isSecret(text: string): boolean {
  const [, body, sum] = SECRET.exec(text) ?? []
  return body !== undefined && sum === checksum(body)
}

/** The stored form of a secret. The secret has 256 random bits, so that it needs neither a salt nor a slow hash. */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')
