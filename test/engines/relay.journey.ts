import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import { relayContract } from '@gantry/event-sourcing/testing'
import { natsBus } from '@gantry/messaging-nats'
import { connect, nanos } from 'nats'
import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Engine } from './src/engine.ts'
import { findNats } from './src/find-nats.ts'
import { ranOn } from './src/ran-on.ts'

/** Duplicate window of the stream of these tests. */
const WINDOW_MS = 100

// The stream of a server at a URL must not be changed.
const found = await findNats()
const servers = found.found && found.kind !== 'url' ? [found] : []
if (servers.length === 0)
  it.skip('the relay over NATS', { meta: { skipped: 'needs a nats-server that the tests start' } }, () => {})

describe.each(servers)('$description', ({ description, start }) => {
  ranOn(description)
  let engine: Engine
  beforeAll(async () => {
    engine = await start()
    const connection = await connect({ servers: engine.url })
    const { streams } = await connection.jetstreamManager()
    await streams.add({ name: 'GANTRY', subjects: ['events.>'], duplicate_window: nanos(WINDOW_MS) })
    await connection.close()
  }, 120_000)
  afterAll(() => engine.stop())

  relayContract(description, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gantry-relay-'))
    const stores = {
      eventStore: sqliteEventStore({ path: join(folder, 'events.db') }),
      otherLog: sqliteEventStore({ path: join(folder, 'other-events.db') }),
      readModels: sqliteReadModels({ path: join(folder, 'read-models.db') }),
      bus: natsBus({ url: engine.url }),
    }
    return {
      ...stores,
      async forgetIds() {
        const probe = { id: randomUUID(), subject: 'events.probe', data: null }
        const first = await stores.bus.publish([probe])
        while ((await stores.bus.publish([probe])) === first) await setTimeout(WINDOW_MS)
      },
      async close() {
        await Promise.all(Object.values(stores).map(store => store.close()))
        await rm(folder, { recursive: true })
      },
    }
  })
})
