import { describe, expect, test } from 'vitest'
import {
  deriveKey,
  type EncryptionKeys,
  parseEncryptionKeys,
  plainKey,
  seal,
  sealer,
  unseal,
} from './encryption-keys.ts'

const bytes = (n: number) => Buffer.alloc(32, n)
const text = (n: number) => bytes(n).toString('base64')
const ring = (...elements: [string, number][]) =>
  parseEncryptionKeys(elements.map(([id, n]) => `${id}:${text(n)}`).join(','))
const secrets = (keys: EncryptionKeys) => sealer(keys, 'a purpose')

test.each([
  [text(1), ['0']],
  ['01'.repeat(32), ['0']],
  [`a:${text(2)}`, ['a']],
  [`2:${text(2)}, 0:${'01'.repeat(32)}`, ['2', '0']],
])('reads %j', (setting, ids) => {
  const keys = parseEncryptionKeys(setting)
  expect(keys.all.map(({ id }) => id)).toEqual(ids)
  expect(keys.first).toBe(keys.all[0])
})

test.each([
  ['a key that is too short', `1:${bytes(1).subarray(1).toString('base64')}`, 'key 1 must be 32 bytes'],
  ['a key with a character that is not base64', `1:${text(1).replace('A', '!')}`, 'key 1 must be 32 bytes'],
  ['an empty element', `1:${text(1)},`, 'key 2 of the list is empty'],
  ['two keys with one id', `1:${text(1)},1:${text(2)}`, 'has two keys with the id 1'],
  ['a key without an id', `1:${text(1)},${text(2)}`, 'key 2 of the list must be ID:KEY'],
  ['an id with a dot', `1.2:${text(1)}`, 'key 1 of the list must be ID:KEY'],
  ['an empty id', `:${text(1)}`, 'key 1 of the list must be ID:KEY'],
  ['a short key without an id', 'c2hvcnQ=', 'must be 32 bytes, in base64 or hexadecimal'],
])('refuses %s, and does not show the key', (_, setting, why) => {
  let said = ''
  try {
    parseEncryptionKeys(setting)
  } catch (error) {
    said = String(error)
  }
  expect(said).toContain(why)
  expect(said).not.toContain(text(1).slice(0, 12))
})

describe('a sealed value', () => {
  test('is opened by every list that has its key, under the same or another id', () => {
    const sealed = secrets(ring(['1', 1])).seal('secret')
    expect(sealed).toMatch(/^1\.[\w-]+$/)
    for (const keys of [ring(['2', 2], ['1', 1]), ring(['1', 2], ['2', 1]), plainKey(bytes(1))]) {
      expect(secrets(keys).open(sealed).toString()).toBe('secret')
      const own = secrets(keys).seal('secret')
      expect(own).toMatch(new RegExp(`^${keys.first.id}\\.[\\w-]+$`))
    }
    expect(() => secrets(ring(['2', 2])).open(sealed)).toThrow('it was sealed with key 1')
    expect(() => sealer(ring(['1', 1]), 'another purpose').open(sealed)).toThrow('no key that opens it')
  })

  test('is sealed again unless the first key sealed it', () => {
    const plain = secrets(plainKey(bytes(1)))
    const next = secrets(ring(['1', 2], ['0', 1]))
    const unchanged = (sealed: string) =>
      [plain, next].map(one => {
        try {
          return one.renewed(sealed) === sealed
        } catch {
          return undefined
        }
      })
    expect(unchanged(plain.seal('x'))).toEqual([true, false])
    expect(unchanged(next.seal('x'))).toEqual([undefined, true])
    const renewed = next.renewed(plain.seal('secret'))
    expect(
      secrets(ring(['1', 2]))
        .open(renewed)
        .toString(),
    ).toBe('secret')
    // Another key had the same id.
    expect(secrets(ring(['1', 3], ['2', 2])).renewed(renewed)).not.toBe(renewed)
  })
})

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
