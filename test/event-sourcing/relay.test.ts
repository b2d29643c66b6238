import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteBus, sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import { type Log, startRelay } from '@gantry/event-sourcing'
import { relayContract, storyMetadata } from '@gantry/event-sourcing/testing'
import type { Bus } from '@gantry/messaging'
import type { ReadModels } from '@gantry/read-models'
import { expect, onTestFinished, test, vi } from 'vitest'

const open = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-relay-'))
  const stores = {
    eventStore: sqliteEventStore({ path: join(folder, 'events.db') }),
    otherLog: sqliteEventStore({ path: join(folder, 'other-events.db') }),
    readModels: sqliteReadModels({ path: join(folder, 'read-models.db') }),
    bus: sqliteBus({ path: join(folder, 'messages.db') }),
  }
  return {
    ...stores,
    // The embedded bus never forgets ids.
    async forgetIds() {},
    async close() {
      await Promise.all(Object.values(stores).map(store => store.close()))
      await rm(folder, { recursive: true })
    },
  }
}

relayContract('SQLite', open)

/** A relay over the embedded stores. `replace` overrides some of them. */
const relay = async (replace: (stores: { bus: Bus; readModels: ReadModels }) => object = () => ({})) => {
  const stores = await open()
  const { eventStore, readModels, bus } = stores
  const append = async (number: number) => {
    const { actor, requestId, now: at } = storyMetadata
    const fact = {
      id: `fact-${number}`,
      type: 'Counted',
      data: { number },
      metadata: { actor, requestId, at },
    }
    await eventStore.append(`counter-${number}`, [fact], -1)
  }
  const lines: string[] = []
  const say = (_: object, line: string) => void lines.push(line)
  const log: Log = { info: say, warn: say, error: say }
  const worker = startRelay({
    name: 'test.relay',
    eventStore,
    readModels,
    bus,
    publication: {
      streamPrefixes: ['counter-'],
      publicEvents: ({ id, data }) => [{ id, subject: 'events.test.COUNTED', data }],
      subjects: ['events.test.*'],
    },
    holder: 'one',
    log,
    ...replace({ bus, readModels }),
  })
  onTestFinished(async () => {
    await worker.stop()
    await stores.close()
  })
  const published = async () => {
    const seen: unknown[] = []
    const { signal } = new AbortController()
    for await (const { id } of bus.read({ after: 0, live: false, subjects: ['events.>'], signal }))
      seen.push(id)
    return seen
  }
  return { append, published, lines }
}

test('a relay loses no events while the bus is away', async () => {
  let away = true
  const { append, published } = await relay(({ bus }) => ({
    bus: {
      ...bus,
      async publish(...given: Parameters<Bus['publish']>) {
        if (away) throw new Error('the bus is away')
        return bus.publish(...given)
      },
    },
  }))
  for (const number of [1, 2]) await append(number)
  expect(await published()).toEqual([])
  away = false
  await vi.waitFor(async () => expect(await published()).toEqual(['fact-1', 'fact-2']), { timeout: 10_000 })
})

test('a relay publishes nothing after its lease expired without a renewal', async () => {
  const hanging = Promise.withResolvers<undefined>()
  onTestFinished(() => hanging.resolve(undefined))
  let publishing = 0
  let acquired = 0
  const { append, published, lines } = await relay(({ bus, readModels }) => ({
    bus: {
      ...bus,
      publish(...given: Parameters<Bus['publish']>) {
        publishing++
        return bus.publish(...given)
      },
    },
    readModels: {
      ...readModels,
      leases: {
        ...readModels.leases,
        acquire(...given: Parameters<ReadModels['leases']['acquire']>) {
          return acquired++ === 0 ? readModels.leases.acquire(...given) : hanging.promise
        },
      },
    },
  }))
  await append(1)
  await vi.waitFor(async () => expect(await published()).toEqual(['fact-1']))
  const since = performance.now()
  await vi.waitFor(() => expect(performance.now() - since).toBeGreaterThan(5_500), { timeout: 10_000 })
  await append(2)
  hanging.resolve(undefined)
  await vi.waitFor(() => expect(lines).toContain('lost its lease, waits for it'))
  expect(publishing).toBe(1)
})

test('the documentation has the procedure for a restored log', async () => {
  const operations = await readFile(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
  expect(operations).toContain('\n## Restoring the log\n')
})
