import { describe, expect, test } from 'vitest'
import { hashOf, isSecret, secretOf } from './secret.ts'

describe('the secret of an access token', () => {
  const secret = secretOf(Buffer.alloc(32, 1))

  test('is determined by the bytes, and always has the same length', () => {
    expect(secret).toBe(secretOf(Buffer.alloc(32, 1)))
    expect(secret).toMatch(/^pat_[0-9A-Za-z]{49}$/)
    expect(secretOf(Buffer.alloc(32, 0))).toMatch(/^pat_0{43}[0-9A-Za-z]{6}$/)
    expect(secretOf(Buffer.alloc(32, 255))).toMatch(/^pat_[0-9A-Za-z]{49}$/)
  })
  test('differs if one bit differs', () => {
    const bytes = Buffer.alloc(32, 1)
    bytes[31] = 0
    expect(secretOf(bytes)).not.toBe(secret)
    expect(hashOf(secretOf(bytes))).not.toBe(hashOf(secret))
  })
  test('is recognized, and a mistyped, shortened or extended one is not', () => {
    expect(isSecret(secret)).toBe(true)
    const mistyped = `${secret.slice(0, 10)}${secret[10] === 'A' ? 'B' : 'A'}${secret.slice(11)}`
    for (const other of [mistyped, secret.slice(0, -1), `${secret}0`, secret.slice(4), 'pat_', ''])
      expect(isSecret(other)).toBe(false)
  })
})
