import { describe, expect, test } from 'vitest'
import { CHEAP } from '../testing/identity-host.ts'
import type { Hashing } from './hashing.ts'
import { hash } from './hashing-thread.ts'
import { argon2idPasswords } from './password.ts'

const CLIENT = { address: '192.0.2.1', name: 'ada' }

describe('a password', () => {
  test('is hashed with argon2id, with its parameters and its own salt', async () => {
    const passwords = argon2idPasswords()
    const [first, second] = [await passwords.hash('correct horse'), await passwords.hash('correct horse')]
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(second).not.toBe(first)
  })
  test('is verified with the parameters in its hash', async () => {
    // reference implementation: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1
    const reference = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
    const { verify } = argon2idPasswords(async hashing => hash(hashing))
    expect(await verify('password', reference, CLIENT)).toBe(true)
    expect(await verify('passwore', reference, CLIENT)).toBe(false)
  })
  test('matches in composed and in decomposed characters', async () => {
    const passwords = argon2idPasswords(async hashing => hash(hashing), CHEAP)
    const stored = await passwords.hash('pässwörd-schön'.normalize('NFC'))
    expect(await passwords.verify('pässwörd-schön'.normalize('NFD'), stored, CLIENT)).toBe(true)
  })
  test('never matches when the user has none, which is found at the cost of a wrong password', async () => {
    const computed: Hashing[] = []
    const { verify } = argon2idPasswords(async hashing => {
      computed.push(hashing)
      return Buffer.alloc(32)
    })
    expect(await verify('', null, CLIENT)).toBe(false)
    expect(computed).toMatchObject([{ parameters: { memory: 19_456, passes: 2, parallelism: 1 } }])
  })
})
