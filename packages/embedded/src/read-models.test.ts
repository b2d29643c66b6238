import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readModelsContract } from '@gantry/read-models/testing'
import { sqliteReadModels } from './read-models.ts'

readModelsContract('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-read-models-'))
  const path = join(folder, 'read-models.db')
  const readModels = sqliteReadModels({ path })
  return {
    readModels,
    another: async () => sqliteReadModels({ path }),
    async close() {
      await readModels.close()
      await rm(folder, { recursive: true })
    },
  }
})
