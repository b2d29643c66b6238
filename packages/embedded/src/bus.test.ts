import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { busContract } from '@gantry/messaging/testing'
import { sqliteBus } from './bus.ts'

busContract('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-messages-'))
  return {
    connect: async () => sqliteBus({ path: join(folder, 'messages.db') }),
    close: () => rm(folder, { recursive: true }),
  }
})
