import type { EventStore } from '@gantry/event-sourcing'
import { eventStoreContract } from '@gantry/event-sourcing/testing'
import { checkEventStore, esdbEventStore } from '@gantry/event-store-esdb'
import { afterAll, beforeAll, describe } from 'vitest'
import type { Engine } from './src/engine.ts'
import { findEventStore } from './src/find-event-store.ts'

const { description, start } = await findEventStore()
process.stdout.write(`EventStoreDB: tested on ${description}\n`)

describe(description, () => {
  let engine: Engine
  beforeAll(async () => {
    engine = await start()
    await checkEventStore(engine.url)
  }, 120_000)
  afterAll(() => engine.stop())

  eventStoreContract('the adapter', async () => {
    const stores: EventStore[] = []
    const open = () => {
      const store = esdbEventStore({ connectionString: engine.url })
      stores.push(store)
      return store
    }
    return {
      eventStore: open(),
      reopen: async () => open(),
      close: async () => void (await Promise.all(stores.map(store => store.close()))),
    }
  })
})
