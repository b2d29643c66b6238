import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteBus, sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import { type Fact, heldStreams, type Log, startRelay } from '@gantry/event-sourcing'
import { relayContract, storyMetadata } from '@gantry/event-sourcing/testing'
import type { Bus, Message } from '@gantry/messaging'
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

/** A relay that can be started again, with stores that the test replaces. */
const restarting = async () => {
  const stores = await open()
  const folder = await mkdtemp(join(tmpdir(), 'gantry-relay-'))
  const others: Bus[] = []
  const warnings: string[] = []
  const log: Log = { info() {}, warn: (_, line) => void warnings.push(line), error() {} }
  let worker: ReturnType<typeof startRelay> | undefined
  onTestFinished(async () => {
    await worker?.stop()
    await Promise.all(others.map(bus => bus.close()))
    await stores.close()
    await rm(folder, { recursive: true })
  })
  return {
    bus: stores.bus,
    readModels: stores.readModels,
    warnings,
    async append(...numbers: number[]) {
      for (const number of numbers) {
        const { actor, requestId, now: at } = storyMetadata
        const metadata = { actor, requestId, at }
        const fact = { id: `fact-${number}`, type: 'Counted', data: { number }, metadata }
        await stores.eventStore.append(`counter-${number}`, [fact], -1)
      }
    },
    newBus() {
      const bus = sqliteBus({ path: join(folder, `messages-${others.length}.db`) })
      others.push(bus)
      return bus
    },
    async run(
      bus: Bus,
      publicEvents = ({ id, data }: Fact): Message[] => [{ id, subject: 'events.test.C', data }],
      readModels = stores.readModels,
    ) {
      await worker?.stop()
      const { eventStore } = stores
      const publication = { streamPrefixes: ['counter-'], publicEvents, subjects: ['events.test.*'] }
      worker = startRelay({
        name: 'test.relay',
        eventStore,
        readModels,
        bus,
        publication,
        holder: 'one',
        log,
      })
    },
    async expectOn(bus: Bus, ...numbers: number[]) {
      const ids = async () => {
        const seen: string[] = []
        const { signal } = new AbortController()
        for await (const { id } of bus.read({ after: 0, live: false, subjects: ['events.>'], signal }))
          seen.push(id)
        return seen
      }
      await vi.waitFor(
        async () => expect(await ids()).toEqual(numbers.map(number => `fact-${number}`)),
        10_000,
      )
    },
  }
}

test('a relay publishes everything again on a bus that has lost all messages', async () => {
  const { bus, append, newBus, run, expectOn } = await restarting()
  await append(1, 2)
  await run(bus)
  await expectOn(bus, 1, 2)
  const lost = newBus()
  await append(3)
  await run(lost)
  await expectOn(lost, 1, 2, 3)
})

test('a relay that had just started when it published its first message publishes it again on a lost bus', async () => {
  const { bus, readModels, append, newBus, run, expectOn } = await restarting()
  const noted = () => readModels.checkpoints.get('test.relay.published')
  await run(bus)
  await vi.waitFor(async () => expect(await noted()).toBe('0 '), { interval: 5 })
  await append(1)
  await expectOn(bus, 1)
  await vi.waitFor(async () => expect(await noted()).not.toBe('0 '))
  const lost = newBus()
  await run(lost)
  await expectOn(lost, 1)
})

test('a relay notes its last message also when no other follows', async () => {
  const { bus, readModels, append, run, expectOn } = await restarting()
  await run(bus)
  for (const number of [1, 2]) {
    await append(number)
    await expectOn(bus, ...Array.from({ length: number }, (_, index) => index + 1))
  }
  const noted = async () =>
    Number.parseInt((await readModels.checkpoints.get('test.relay.published')) ?? '', 10)
  await vi.waitFor(async () => expect(await noted()).toBe(await bus.head()), 5_000)
})

test('a relay that has published nothing does not take its bus for one that has lost messages', async () => {
  const { bus, readModels, warnings, append, run, expectOn } = await restarting()
  await append(1)
  for (let starts = 0; starts < 2; starts++) {
    await run(bus, () => [])
    await vi.waitFor(async () => expect(await readModels.checkpoints.get('test.relay.published')).toBe('0 '))
  }
  await run(bus, ({ id, data }) => [{ id, subject: 'events.test.C', data }])
  await append(2)
  await expectOn(bus, 2)
  expect(warnings).toEqual([])
})

test('a relay publishes the messages again that a bus has lost at its end', async () => {
  const { bus, readModels, append, newBus, run, expectOn } = await restarting()
  const older = newBus()
  await append(1)
  await run(older)
  await expectOn(older, 1)
  await readModels.checkpoints.clear('test.relay')
  await append(2)
  await run(bus)
  await expectOn(bus, 1, 2)
  await run(older)
  await expectOn(older, 1, 2)
})

test('a relay publishes messages again that a bus has lost right after the last note of one', async () => {
  const { bus, append, newBus, run, expectOn } = await restarting()
  const older = newBus()
  let current = bus
  await append(1)
  await run(new Proxy(bus, { get: (_, name) => Reflect.get(current, name) }))
  await expectOn(bus, 1)
  await append(2)
  await expectOn(bus, 1, 2)
  const { signal } = new AbortController()
  for await (const message of bus.read({ after: 0, live: false, subjects: ['events.>'], signal }))
    if (message.id === 'fact-1') await older.publish([message])
  current = older
  await expectOn(older, 1, 2)
})

test('a relay that dies while it publishes lost messages again continues with those that are missing', async () => {
  const { bus, readModels, append, newBus, run } = await restarting()
  const many = ({ id }: Fact): Message[] =>
    Array.from({ length: 500 }, (_, n) => ({ id: `${id}-${n}`, subject: 'events.test.C', data: n }))
  await append(1, 2)
  await run(bus, many)
  const saved = () => readModels.checkpoints.get('test.relay')
  await vi.waitFor(async () => expect(await bus.head()).toBe(1_000))
  await vi.waitFor(async () => expect(await saved()).toMatch(/2$/))
  const lost = newBus()
  let isAlive = true
  const { checkpoints } = readModels
  const save: typeof checkpoints.save = async (name, ...rest) => {
    isAlive &&= (await lost.head()) === 0
    if (!isAlive && name === 'test.relay') throw new Error('died')
    return checkpoints.save(name, ...rest)
  }
  await run(lost, many, { ...readModels, checkpoints: { ...checkpoints, save } })
  await vi.waitFor(() => expect(isAlive).toBe(false))
  await run(lost, many)
  await vi.waitFor(async () => expect(await lost.head()).toBe(1_000), 5_000)
})

test('a relay notices while it runs that its bus has lost messages', async () => {
  const { bus, append, newBus, run, expectOn } = await restarting()
  const lost = newBus()
  let current = bus
  await append(1, 2)
  await run(new Proxy(bus, { get: (_, name) => Reflect.get(current, name) }))
  await expectOn(bus, 1, 2)
  current = lost
  await expectOn(lost, 1, 2)
  await append(3)
  await expectOn(lost, 1, 2, 3)
})

test('a relay does not publish messages again that were removed because of their age', async () => {
  const { bus, append, newBus, run, expectOn } = await restarting()
  await append(1, 2)
  await run(bus)
  await expectOn(bus, 1, 2)
  const emptied = newBus()
  await run({ ...emptied, removedThrough: async () => 2 })
  await append(3)
  await expectOn(emptied, 3)
})

test('a relay releases a held stream when a later release can make its event public', async () => {
  const { bus, readModels, append, newBus, run, expectOn } = await restarting()
  const held = () => readModels.collection(heldStreams('test.relay')).count({})
  await append(1, 2)
  await run(bus, ({ id, data }) => {
    if (id === 'fact-1') throw new Error('unreadable')
    return [{ id, subject: 'events.test.C', data }]
  })
  await expectOn(bus, 2)
  await vi.waitFor(async () => expect(await held()).toBe(1))
  const again = newBus()
  await run(again)
  await expectOn(again, 1, 2)
  await vi.waitFor(async () => expect(await held()).toBe(0))
})

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
