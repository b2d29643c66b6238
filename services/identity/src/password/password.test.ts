import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { argon2idPasswords } from './password.ts'

const passwords = argon2idPasswords()

describe('a password', () => {
  test('is hashed with argon2id, with its parameters and its own salt', async () => {
    const [first, second] = await Promise.all([
      passwords.hash('correct horse'),
      passwords.hash('correct horse'),
    ])
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(second).not.toBe(first)
  })
  test('is verified with the parameters in its hash', async () => {
    // reference implementation: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1
    const reference = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
    expect(await passwords.verify('password', reference)).toBe(true)
    expect(await passwords.verify('passwore', reference)).toBe(false)
  })
  test('matches in composed and in decomposed characters', async () => {
    const hash = await passwords.hash('pässwörd-schön'.normalize('NFC'))
    expect(await passwords.verify('pässwörd-schön'.normalize('NFD'), hash)).toBe(true)
  })
  test('never matches when the user has none', async () => {
    expect(await passwords.verify('', null)).toBe(false)
  })
  test('that is being hashed does not delay reading a file', async () => {
    const ended: string[] = []
    const { hash } = argon2idPasswords({ concurrent: 8, queued: 0 })
    const hashes = Array.from({ length: 8 }, () => hash('correct horse').then(() => ended.push('a hash')))
    await readFile(import.meta.filename)
    ended.push('the file')
    await Promise.all(hashes)
    expect(ended[0]).toBe('the file')
  })
})
