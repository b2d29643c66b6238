import { randomUUID } from 'node:crypto'
import { binaryEvent, EventStoreDBClient } from '@eventstore/db-client'
import type { EventStore } from '@gantry/event-sourcing'
import { eventStoreContract } from '@gantry/event-sourcing/testing'
import { checkEventStore, esdbEventStore } from '@gantry/event-store-esdb'
import { afterAll, beforeAll, describe } from 'vitest'
import type { Engine } from './src/engine.ts'
import { findEventStore } from './src/find-event-store.ts'
import { scavenge } from './src/fixtures/scavenge.ts'
import { ranOn } from './src/ran-on.ts'

const { kind, description, start } = await findEventStore()
ranOn(description)

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
      async appendText(stream, data) {
        const client = EventStoreDBClient.connectionString(engine.url)
        const event = binaryEvent({ id: randomUUID(), type: 'Foreign', data: Buffer.from(data) })
        await client.appendToStream(stream, [event])
        await client.dispose()
      },
      // A real server scavenges asynchronously, and never the file that it writes to.
      ...(kind === 'stand-in' && { scavenge: () => scavenge(engine.url) }),
      close: async () => void (await Promise.all(stores.map(store => store.close()))),
    }
  })
})
