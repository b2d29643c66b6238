import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import {
  type EventStore,
  EventStoreUnavailable,
  type NewEvent,
  NO_STREAM,
  type Position,
  START,
} from '@gantry/event-sourcing'
import { checkEventStore, esdbEventStore } from '@gantry/event-store-esdb'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Engine, Faults } from './src/engine.ts'
import { findEventStore } from './src/find-event-store.ts'
import { ranOn } from './src/ran-on.ts'

const { kind, description, start } = await findEventStore()
ranOn(description)
/** For calls during a fault. Short, so that the tests are fast. The default is several seconds. */
const TIMEOUT_MS = 1_000

const placed = (number: number): NewEvent => ({
  id: randomUUID(),
  type: 'OrderPlaced',
  data: { number, text: 'x'.repeat(20_000) },
  metadata: { actor: { id: null, name: 'faults' }, requestId: 'r1', at: '2026-11-21T10:00:00.000Z' },
})
const numbers = async (eventStore: EventStore, stream: string) =>
  (await eventStore.readStream(stream)).map(event => event.data.number)
const upTo = (count: number) => Array.from({ length: count }, (_, number) => number)

const skipped = 'needs a server that the tests start'

describe.skipIf(kind === 'url')(`faults of ${description}`, { meta: { skipped } }, () => {
  let engine: Engine & { faults: Faults }
  let eventStore: EventStore
  /** With the default timeout, for calls that must succeed. */
  let patient: EventStore
  let orders: string

  beforeEach(async () => {
    engine = (await start()) as Engine & { faults: Faults }
    await checkEventStore(engine.url)
    eventStore = esdbEventStore({ connectionString: engine.url, timeoutMs: TIMEOUT_MS })
    patient = esdbEventStore({ connectionString: engine.url })
    orders = `orders${randomUUID().slice(0, 8)}`
  }, 120_000)
  afterEach(async () => {
    await eventStore.close()
    await patient.close()
    await engine.stop()
  })

  /** Repeats the append with the same event and expected revision until the store answers, as a command does. */
  const persistently = async (stream: string, event: NewEvent, expected: number) => {
    for (;;) {
      try {
        return await eventStore.append(stream, [event], expected)
      } catch (error) {
        if (!(error instanceof EventStoreUnavailable)) throw error
        await setTimeout(50)
      }
    }
  }

  it('kill -9: all acknowledged events exist, and repeated appends are stored once', async () => {
    const each = 20
    const writers = Array.from({ length: 10 }, async (_, writer) => {
      for (const number of upTo(each)) {
        await persistently(`${orders}-${writer}`, placed(number), number - 1)
      }
    })
    await setTimeout(300)
    await engine.faults.kill()
    await setTimeout(300)
    await engine.faults.restart()
    await Promise.all(writers)

    for (const writer of writers.keys()) {
      expect(await numbers(patient, `${orders}-${writer}`)).toEqual(upTo(each))
    }
  })

  it('kill -9: a subscription throws, and a new one continues from its position', async () => {
    const seen: unknown[] = []
    let place: Position = START
    let failures = 0
    const stop = new AbortController()
    const following = (async () => {
      while (!stop.signal.aborted) {
        try {
          const options = { after: place, streamPrefixes: [`${orders}-`], signal: stop.signal }
          for await (const item of eventStore.subscribe(options)) {
            place = item.kind === 'event' ? item.event.position : item.position
            if (item.kind === 'event') seen.push(item.event.data.number)
          }
        } catch (error) {
          expect(error).toBeInstanceOf(EventStoreUnavailable)
          failures++
          await setTimeout(50)
        }
      }
    })()

    for (const number of upTo(60)) {
      await persistently(`${orders}-1`, placed(number), number - 1)
      if (number === 20) {
        await engine.faults.kill()
        void setTimeout(300).then(() => engine.faults.restart())
      }
    }

    await vi.waitFor(() => expect(seen).toHaveLength(60), 20_000)
    expect(seen).toEqual(upTo(60))
    expect(failures).toBeGreaterThan(0)
    stop.abort()
    await following
  })

  it('stopped: every call fails immediately', async () => {
    await patient.append(`${orders}-1`, [placed(0)], NO_STREAM)
    await engine.faults.kill()

    const calls = {
      append: () => eventStore.append(`${orders}-1`, [placed(1)], 0),
      readStream: () => eventStore.readStream(`${orders}-1`),
      head: () => eventStore.head(),
      readAll: () => eventStore.readAll({ after: START })[Symbol.asyncIterator]().next(),
      subscribe: () =>
        eventStore
          .subscribe({ after: START, signal: new AbortController().signal })
          [Symbol.asyncIterator]()
          .next(),
    }
    for (const [name, call] of Object.entries(calls)) {
      await expect(call(), name).rejects.toBeInstanceOf(EventStoreUnavailable)
    }
    await engine.faults.restart()
    await persistently(`${orders}-1`, placed(1), 0)
    expect(await numbers(patient, `${orders}-1`)).toEqual([0, 1])
  })

  it('frozen: hundreds of appends and reads time out, and nothing is left behind', async () => {
    await patient.append(`${orders}-1`, [placed(0)], NO_STREAM)
    await patient.readStream(`${orders}-1`)
    await patient.head()
    await engine.faults.pause()

    const calls = await Promise.allSettled([
      ...Array.from({ length: 300 }, (_, n) => eventStore.append(`${orders}-a${n}`, [placed(n)], NO_STREAM)),
      eventStore.readStream(`${orders}-1`),
      eventStore.head(),
    ])
    const timedOut = expect.objectContaining({ message: expect.stringContaining(`within ${TIMEOUT_MS} ms`) })
    for (const call of calls) {
      expect(call).toMatchObject({ status: 'rejected', reason: expect.any(EventStoreUnavailable) })
      expect(call).toMatchObject({ reason: timedOut })
    }

    // The loss of the connection makes the client reject promises. An unhandled rejection would end the process.
    await engine.faults.kill()
    await engine.faults.restart()
    await persistently(`${orders}-1`, placed(1), 0)
    expect(await numbers(patient, `${orders}-1`)).toEqual([0, 1])
  })
})
