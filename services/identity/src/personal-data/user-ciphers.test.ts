import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteUserKeys } from '@gantry/embedded'
import { plainKey } from '@gantry/service-runtime'
import { expect, onTestFinished, test } from 'vitest'
import { userCiphers } from './user-ciphers.ts'

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
  const slow = userCiphers({ userKeys: { ...store, get }, encryptionKeys })
  const other = userCiphers({ userKeys: store, encryptionKeys })
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
