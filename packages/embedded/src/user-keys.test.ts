import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { userKeysContract } from '@gantry/read-models/testing'
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

test('no file has a deleted key', async () => {
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
  await keys.erase('ada', '2026-11-21T10:00:00.000Z')
  expect(await inFiles('the key of ada')).toBe(false)
  await keys.close()
})
