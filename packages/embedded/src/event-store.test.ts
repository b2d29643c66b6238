import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventStoreContract } from '@gantry/event-sourcing/testing'
import { sqliteEventStore } from './event-store.ts'

eventStoreContract('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-events-'))
  const path = join(folder, 'events.db')
  const eventStore = sqliteEventStore({ path })
  return {
    eventStore,
    reopen: async () => sqliteEventStore({ path }),
    async close() {
      await eventStore.close()
      await rm(folder, { recursive: true })
    },
  }
})
