import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import {
  type EventStore,
  EventStoreUnavailable,
  type NewEvent,
  NO_STREAM,
  START,
} from '@gantry/event-sourcing'
import { checkEventStore, esdbEventStore } from '@gantry/event-store-esdb'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type EsdbCluster, startEsdbCluster } from './src/fixtures/esdb-cluster.ts'

/** Time until three nodes of 23.10.6 had a new leader, after the old one was killed or frozen. */
const ELECTED_AFTER_KILL_MS = 2_000
const ELECTED_AFTER_FREEZE_MS = 6_600

const placed = (number: number): NewEvent => ({
  id: randomUUID(),
  type: 'OrderPlaced',
  data: { number },
  metadata: { actor: { id: null, name: 'faults' }, requestId: 'r1', at: '2026-11-21T10:00:00.000Z' },
})

describe('three nodes of EventStoreDB (its stand-in)', { timeout: 60_000 }, () => {
  let cluster: EsdbCluster
  let eventStore: EventStore
  let number: number
  let stop: AbortController

  beforeEach(async () => {
    cluster = await startEsdbCluster()
    await checkEventStore(cluster.url)
    eventStore = esdbEventStore({ connectionString: cluster.url })
    number = 0
    stop = new AbortController()
    await write()
    await eventStore.readStream('order-1')
  }, 60_000)
  afterEach(async () => {
    stop.abort()
    await eventStore.close()
    await cluster.stop()
  })

  /** Repeats the append with the same event and expected revision until the store answers, as a command does. */
  const persistently = async (stream: string, event: NewEvent, expected: number) => {
    while (!stop.signal.aborted) {
      try {
        return await eventStore.append(stream, [event], expected)
      } catch (error) {
        if (!(error instanceof EventStoreUnavailable)) throw error
        await setTimeout(100)
      }
    }
  }
  const write = async () => {
    await persistently('order-1', placed(number), number - 1)
    number++
  }
  const msOf = async (work: () => Promise<unknown>) => {
    const startedAt = performance.now()
    await work()
    return performance.now() - startedAt
  }
  /** The first read over a connection to a stopped node fails. The next one goes to the leader. */
  const expectAll = () => {
    const read = async () => (await eventStore.readStream('order-1')).map(event => event.data.number)
    return expect.poll(read, { timeout: 3_000 }).toEqual(Array.from({ length: number }, (_, n) => n))
  }

  it('continues writes after a killed leader when another one is elected', async () => {
    await cluster.elect(undefined, [0])
    await cluster.nodes[0]?.kill()
    void setTimeout(ELECTED_AFTER_KILL_MS).then(() => cluster.elect(1, [0]))
    const blocked = await msOf(write)
    expect(blocked).toBeGreaterThan(ELECTED_AFTER_KILL_MS - 100)
    expect(blocked).toBeLessThan(ELECTED_AFTER_KILL_MS + 2_000)
    await write()
    await expectAll()
  })

  it('continues writes, reads and subscriptions within ten seconds after a frozen leader', async () => {
    const seen: unknown[] = []
    const following = follow(seen)
    await expect.poll(() => seen).toEqual([0])

    await cluster.nodes[0]?.pause()
    void setTimeout(ELECTED_AFTER_FREEZE_MS).then(() => cluster.elect(1, [0]))
    const frozenAt = performance.now()
    const others = Array.from({ length: 40 }, (_, n) => persistently(`other-${n}`, placed(-1), NO_STREAM))
    await write()
    await Promise.all(others)
    expect(performance.now() - frozenAt).toBeGreaterThan(ELECTED_AFTER_FREEZE_MS - 100)
    expect(performance.now() - frozenAt).toBeLessThan(10_000)
    expect(await msOf(write)).toBeLessThan(1_000)
    await expectAll()
    await expect.poll(() => seen, { timeout: 5_000 }).toEqual([0, 1, 2])
    expect(performance.now() - frozenAt).toBeLessThan(12_000)

    await cluster.elect(1)
    await cluster.nodes[0]?.resume()
    await write()
    await setTimeout(500)
    await expectAll()
    for (const n of others.keys()) expect(await eventStore.readStream(`other-${n}`)).toHaveLength(1)
    stop.abort()
    await following
    expect(seen).toEqual([0, 1, 2, 3])
  })

  it('is used again after all nodes were stopped for seconds', async () => {
    for (const node of cluster.nodes) await node.kill()
    const away = write()
    await setTimeout(4_000)
    for (const node of cluster.nodes) await node.restart()
    await away
    await expectAll()
  })

  /** Follows the log like a projector: after each failure it subscribes again from its position. */
  const follow = async (seen: unknown[]) => {
    const { signal } = stop
    let after = START
    while (!signal.aborted) {
      try {
        for await (const item of eventStore.subscribe({ after, signal })) {
          after = item.kind === 'event' ? item.event.position : item.position
          if (item.kind === 'event' && item.event.stream === 'order-1') seen.push(item.event.data.number)
        }
      } catch (error) {
        if (!(error instanceof EventStoreUnavailable)) throw error
        await setTimeout(100)
      }
    }
  }
})
