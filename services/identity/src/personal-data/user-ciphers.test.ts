import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserKeyMissing } from '@gantry/audit'
import { sqliteUserKeys } from '@gantry/embedded'
import { plainKey } from '@gantry/service-runtime'
import { type UserKeys, UserKeysUnavailable } from '@gantry/stores'
import { expect, onTestFinished, test } from 'vitest'
import { sealedChange, type UserChange } from './sealed-change.ts'
import { type UserCiphers, userCiphers } from './user-ciphers.ts'

const log = { warn() {} }
const ERASED_AT = '2026-11-21T10:00:00.000Z'

/** Two processes with one store of keys. The first one can hold a key that it has read. */
async function twoProcesses() {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-keys-'))
  const store = sqliteUserKeys({ path: join(folder, 'user-keys.db') })
  onTestFinished(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  const encryptionKeys = plainKey(randomBytes(32))
  let held = Promise.resolve()
  const get: typeof store.get = async user => {
    const found = await store.get(user)
    await held
    return found
  }
  const slow = userCiphers({ userKeys: { ...store, get }, encryptionKeys, log })
  const other = userCiphers({ userKeys: store, encryptionKeys, log })
  const sealed = (await other.seal('ada', 'text')) ?? ''
  return {
    slow,
    other,
    sealed,
    /** Begins to decrypt. @returns a function that lets it go on */
    async opening() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      const opened = slow.open('ada', sealed)
      await store.get('ada')
      return async () => {
        resolve()
        await opened
      }
    },
  }
}

test('a key that is being read while its user is erased does not stay in memory', async () => {
  const { slow, sealed, opening } = await twoProcesses()
  const read = await opening()
  await slow.erase('ada', ERASED_AT)
  await read()
  expect(await slow.open('ada', sealed)).toBeNull()
})

test('nor does one that is being read while another process erases the user', async () => {
  const { slow, other, sealed, opening } = await twoProcesses()
  const read = await opening()
  await other.erase('ada', ERASED_AT)
  slow.forget('ada')
  await read()
  expect(await slow.open('ada', sealed)).toBeNull()
})

test('an address is sealed with an existing key only, so that a lost key stays missing', async () => {
  const { other } = await twoProcesses()
  expect(await other.open('ada', (await other.sealAddress('ada', '192.0.2.7')) ?? '')).toBe('192.0.2.7')
  expect(await other.sealAddress('grace', '192.0.2.7')).toBeNull()
  await expect(other.pseudonyms('grace')).rejects.toThrow(UserKeyMissing)
})

test('an address is left out and logged while the store of keys is unavailable; other faults are thrown', async () => {
  const logged: object[] = []
  const failing = (error: Error) =>
    userCiphers({
      userKeys: { get: () => Promise.reject(error) } as unknown as UserKeys,
      encryptionKeys: plainKey(randomBytes(32)),
      log: { warn: (line: object) => logged.push(line) },
    }).sealAddress('ada', '192.0.2.7')
  const err = new UserKeysUnavailable('it is down')
  expect(await failing(err)).toBeNull()
  expect(logged).toEqual([{ err, userId: 'ada' }])
  await expect(failing(new Error('a fault'))).rejects.toThrow('a fault')
})

/** Shows what is encrypted. */
const ciphers = { seal: async (_, text) => text } as Pick<UserCiphers, 'seal'> as UserCiphers

test('what is encrypted and committed to is canonical JSON', async () => {
  const ada = { role: 'USER', username: 'ada', displayName: 'Ada "Byron" Ä\u2028', email: undefined }
  const king = { ...ada, email: 'ada@example.com' }
  const change = { action: 'USER_UPDATED', resourceType: 'USER', resourceId: 'u', before: ada, after: king }
  const { personal, before } = await sealedChange(change as unknown as UserChange, ciphers)
  const { sealed = '', commitment } = personal ?? {}
  const { salt } = JSON.parse(sealed)
  expect(sealed).toBe(
    `{"after":{"displayName":"Ada \\"Byron\\" Ä\u2028","email":"ada@example.com","username":"ada"},"before":{"displayName":"Ada \\"Byron\\" Ä\u2028","email":null,"username":"ada"},"salt":"${salt}"}`,
  )
  expect(commitment).toBe(createHash('sha256').update(sealed).digest('hex'))
  expect(before).toEqual({ role: 'USER' })
})
