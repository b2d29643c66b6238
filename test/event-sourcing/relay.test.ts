import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteBus, sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import { type Fact, heldStreams, type Log, startRelay, type Worker } from '@gantry/event-sourcing'
import { relayContract } from '@gantry/event-sourcing/testing'
import type { Bus, Message } from '@gantry/messaging'
import { inMemoryBroker } from '@gantry/messaging/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { event, eventually, useStores } from './support.ts'

relayContract('SQLite', async () => {
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
})

describe('a relay', () => {
  const stores = useStores()
  let bus: Bus
  let lines: string[]
  let worker: Worker | undefined
  beforeEach(() => {
    bus = newBus()
    lines = []
  })
  afterEach(async () => {
    const stopped = worker?.stop()
    await vi.advanceTimersByTimeAsync(1_000)
    await stopped
  })

  const newBus = () => inMemoryBroker().connect()
  const note = (_: object, line: string) => void lines.push(line)
  const log: Log = { info() {}, warn: note, error: note }

  const append = async (...numbers: number[]) => {
    for (const number of numbers) {
      const fact = { ...event('Counted', { number }), id: `fact-${number}` }
      await stores.eventStore.append(`counter-${number}`, [fact], -1)
    }
  }
  const message = ({ id, data }: Fact): Message => ({ id, subject: 'events.test.C', data })
  /** Starts the relay, or starts it again. */
  const run = async (
    bus: Bus,
    publicEvents = (fact: Fact) => [message(fact)],
    readModels = stores.readModels,
  ) => {
    const stopped = worker?.stop()
    await vi.advanceTimersByTimeAsync(1_000)
    await stopped
    const publication = { streamPrefixes: ['counter-'], publicEvents, subjects: ['events.test.*'] }
    const { eventStore } = stores
    worker = startRelay({ name: 'test.relay', eventStore, readModels, bus, publication, holder: 'one', log })
  }
  const on = async (bus: Bus) => {
    const ids: string[] = []
    const { signal } = new AbortController()
    for await (const { id } of bus.read({ after: 0, live: false, subjects: ['events.>'], signal }))
      ids.push(id)
    return ids
  }
  const expectOn = (bus: Bus, ...numbers: number[]) =>
    eventually(async () => expect(await on(bus)).toEqual(numbers.map(number => `fact-${number}`)))
  const noted = () => stores.readModels.checkpoints.get('test.relay.published')

  test('notes its first message at once, and each last message if no other follows', async () => {
    await run(bus)
    await eventually(async () => expect(await noted()).toMatch(/^0 {2}/))
    for (const [number, withinMs] of [
      [1, 500],
      [2, 3_000],
    ] as const) {
      await append(number)
      await eventually(async () => expect(Number.parseInt((await noted()) ?? '', 10)).toBe(number), withinMs)
      expect(await bus.head()).toBe(number)
    }
    const lost = newBus()
    await run(lost)
    await expectOn(lost, 1, 2)
  })

  test('that has published nothing does not take its bus for one that has lost messages', async () => {
    await append(1)
    for (let starts = 0; starts < 2; starts++) {
      await run(bus, () => [])
      await eventually(async () => expect(await noted()).toMatch(/^0 {2}/))
    }
    await run(bus)
    await append(2)
    await expectOn(bus, 2)
    expect(lines).toEqual([])
  })

  test('publishes the messages again that a bus has lost at its end', async () => {
    const older = newBus()
    await append(1)
    await run(older)
    await expectOn(older, 1)
    await stores.readModels.checkpoints.clear('test.relay')
    await append(2)
    await run(bus)
    await expectOn(bus, 1, 2)
    await run(older)
    await expectOn(older, 1, 2)
  })

  test('notices while it runs that its bus has lost messages, also those after its last note', async () => {
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
    await append(3)
    await expectOn(older, 1, 2, 3)
  })

  test('notices that its bus has lost its last message, although others have published as many since', async () => {
    const older = newBus()
    let current = bus
    await append(1, 2)
    await run(new Proxy(bus, { get: (_, name) => Reflect.get(current, name) }))
    await expectOn(bus, 1, 2)
    const { signal } = new AbortController()
    for await (const message of bus.read({ after: 0, live: false, subjects: ['events.>'], signal }))
      if (message.id === 'fact-1') await older.publish([message])
    await older.publish([{ id: 'other', subject: 'events.other.C', data: 1 }])
    current = older
    await vi.advanceTimersByTimeAsync(40_000)
    await eventually(async () => expect(await on(older)).toEqual(['fact-1', 'other', 'fact-2']))
  })

  test('publishes the messages again that its bus lost after the last note, although its checkpoint is past them', async () => {
    await append(1)
    await run(bus)
    await expectOn(bus, 1)
    await worker?.stop()
    await append(2)
    await stores.readModels.checkpoints.save('test.relay', await stores.eventStore.head())
    await run(bus)
    await expectOn(bus, 1, 2)
  })

  test('that dies while it publishes lost messages again continues with those that are missing', async () => {
    const { readModels } = stores
    const many = ({ id }: Fact): Message[] =>
      Array.from({ length: 500 }, (_, n) => ({ id: `${id}-${n}`, subject: 'events.test.C', data: n }))
    await append(1, 2)
    await run(bus, many)
    await eventually(async () => expect(await bus.head()).toBe(1_000))
    await eventually(async () => expect(await readModels.checkpoints.get('test.relay')).toMatch(/2$/))
    const lost = newBus()
    let isAlive = true
    const { checkpoints } = readModels
    const save: typeof checkpoints.save = async (name, ...rest) => {
      isAlive &&= (await lost.head()) === 0
      if (!isAlive && name === 'test.relay') throw new Error('died')
      return checkpoints.save(name, ...rest)
    }
    await run(lost, many, { ...readModels, checkpoints: { ...checkpoints, save } })
    await eventually(() => expect(isAlive).toBe(false))
    await run(lost, many)
    await eventually(async () => expect(await lost.head()).toBe(1_000))
  })

  test('does not publish messages again that were removed because of their age', async () => {
    await append(1, 2)
    await run(bus)
    await expectOn(bus, 1, 2)
    const emptied = newBus()
    let { last } = emptied
    await run({ ...emptied, removedThrough: async () => 2, last: subjects => last(subjects) })
    await append(3)
    await expectOn(emptied, 3)
    // Nor does it start again when the last one is removed while it runs.
    last = async () => undefined
    lines = []
    await vi.advanceTimersByTimeAsync(40_000)
    await append(4)
    await expectOn(emptied, 3, 4)
    expect(lines).toEqual([])
  })

  test('releases a held stream when a later release can make its event public', async () => {
    const held = () => stores.readModels.collection(heldStreams('test.relay')).count({})
    await append(1, 2)
    await run(bus, fact => {
      if (fact.id === 'fact-1') throw new Error('unreadable')
      return [message(fact)]
    })
    await expectOn(bus, 2)
    await eventually(async () => expect(await held()).toBe(1))
    const again = newBus()
    await run(again)
    await expectOn(again, 1, 2)
    await eventually(async () => expect(await held()).toBe(0))
  })

  test('loses no events while the bus is away', async () => {
    let failures = 0
    const away: Bus = {
      ...bus,
      async publish(...given) {
        if (failures++ < 3) throw new Error('the bus is away')
        return bus.publish(...given)
      },
    }
    await append(1, 2)
    await run(away)
    await expectOn(bus, 1, 2)
    expect(failures).toBeGreaterThan(3)
  })

  test('publishes nothing after its lease expired without a renewal', async () => {
    const { leases } = stores.readModels
    const hanging = Promise.withResolvers<undefined>()
    let publishing = 0
    let acquired = 0
    const counting: Bus = {
      ...bus,
      publish(...given) {
        publishing++
        return bus.publish(...given)
      },
    }
    const acquire: typeof leases.acquire = (...given) =>
      acquired++ === 0 ? leases.acquire(...given) : hanging.promise
    await run(counting, undefined, { ...stores.readModels, leases: { ...leases, acquire } })
    await append(1)
    await expectOn(bus, 1)
    await vi.advanceTimersByTimeAsync(5_500)
    await append(2)
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    const published = publishing
    hanging.resolve(undefined)
    expect(published).toBe(1)
  })

  test('refers to a procedure for a restored log that the documentation has', async () => {
    const operations = await readFile(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
    expect(operations).toContain('\n## Restoring the log\n')
  })
})
