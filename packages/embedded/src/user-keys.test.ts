import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { UserKeysUnavailable } from '@gantry/stores'
import { userKeysContract } from '@gantry/stores/testing'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteUserKeys } from './user-keys.ts'

userKeysContract('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-user-keys-'))
  const path = join(folder, 'user-keys.db')
  const keys = sqliteUserKeys({ path })
  return {
    keys,
    another: async () => sqliteUserKeys({ path }),
    async close() {
      await keys.close()
      await rm(folder, { recursive: true })
    },
  }
})

test('no file has a deleted key once the deletion has succeeded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-user-keys-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const keys = sqliteUserKeys({ path: join(folder, 'user-keys.db') })
  const inFiles = async (text: string) => {
    const files = await readdir(folder)
    const contents = await Promise.all(files.map(name => readFile(join(folder, name))))
    return contents.some(content => content.includes(text))
  }
  await keys.add('ada', 'the key of ada')
  expect(await inFiles('the key of ada')).toBe(true)
  const reader = new DatabaseSync(join(folder, 'user-keys.db'))
  reader.exec('BEGIN')
  reader.prepare('SELECT user FROM user_keys').all()
  const at = '2026-11-21T10:00:00.000Z'
  await expect(keys.erase('ada', at)).rejects.toThrow(UserKeysUnavailable)
  reader.close()
  expect(await keys.erase('ada', '2026-11-22T10:00:00.000Z')).toBe(at)
  expect(await inFiles('the key of ada')).toBe(false)
  await keys.close()
})
