import { expect, test } from 'vitest'
import { deriveKey, seal, unseal } from './encryption-keys.ts'

const key = deriveKey(Buffer.alloc(32, 1), 'a purpose')

test('a sealed secret is decrypted with its key and with no other', () => {
  const sealed = seal(key, 'whsec_secret')
  expect(sealed).not.toContain('secret')
  expect(unseal(key, sealed).toString()).toBe('whsec_secret')
  expect(() => unseal(deriveKey(Buffer.alloc(32, 1), 'another purpose'), sealed)).toThrow()
  expect(() => unseal(deriveKey(Buffer.alloc(32, 2), 'a purpose'), sealed)).toThrow()
})

test('the same secret is sealed differently each time, and a changed one is refused', () => {
  const sealed = seal(key, 'x')
  expect(seal(key, 'x')).not.toBe(sealed)
  const bytes = Buffer.from(sealed, 'base64url')
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  expect(() => unseal(key, bytes.toString('base64url'))).toThrow()
})
