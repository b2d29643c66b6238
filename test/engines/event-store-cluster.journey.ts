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
import { eventStoreCommand } from './src/find-event-store.ts'
import { type EsdbCluster, startEsdbCluster } from './src/fixtures/esdb-cluster.ts'
import { ranOn } from './src/ran-on.ts'

/** From the election to the next write: a client that keeps a lost connection until its keepalive fails takes 20 s. */
const WRITTEN_WITHIN_MS = 4_000

const command = eventStoreCommand()
ranOn(command ? `three nodes of ${command}` : 'three stand-ins for EventStoreDB')

const placed = (number: number): NewEvent => ({
  id: randomUUID(),
  type: 'OrderPlaced',
  data: { number },
  metadata: { actor: { id: null, name: 'faults' }, requestId: 'r1', at: '2026-11-21T10:00:00.000Z' },
})

describe('three nodes of EventStoreDB', () => {
  let cluster: EsdbCluster
  let eventStore: EventStore
  let number: number
  let refused: number
  let stop: AbortController

  beforeEach(async () => {
    cluster = await startEsdbCluster(command)
    await checkEventStore(cluster.url)
    eventStore = esdbEventStore({ connectionString: cluster.url })
    number = 0
    refused = 0
    stop = new AbortController()
    await write()
    await eventStore.readStream('order-1')
  }, 180_000)
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
        refused++
        await setTimeout(100)
      }
    }
  }
  const write = async () => {
    await persistently('order-1', placed(number), number - 1)
    number++
  }
  /** Waits for a write that began while no node led. @returns milliseconds since another node leads */
  const afterElection = async (lost: number, writing: Promise<unknown>) => {
    await cluster.anotherLeads(lost)
    const since = performance.now()
    await writing
    return performance.now() - since
  }
  /** The first read over a connection to a stopped node fails. The next one goes to the leader. */
  const expectAll = () => {
    const read = async () => (await eventStore.readStream('order-1')).map(event => event.data.number)
    return expect.poll(read).toEqual(Array.from({ length: number }, (_, n) => n))
  }

  it('writes again after a killed leader when another node leads', async () => {
    const leader = await cluster.leader()
    await cluster.nodes[leader]?.kill()
    expect(await afterElection(leader, write())).toBeLessThan(WRITTEN_WITHIN_MS)
    await write()
    await expectAll()
  })

  it('writes, reads and follows the log again after a frozen leader when another node leads', async () => {
    const seen: unknown[] = []
    const following = follow(seen)
    await expect.poll(() => seen).toEqual([0])

    const leader = await cluster.leader()
    await cluster.nodes[leader]?.pause()
    const others = Array.from({ length: 40 }, (_, n) => persistently(`other-${n}`, placed(-1), NO_STREAM))
    expect(await afterElection(leader, Promise.all([write(), ...others]))).toBeLessThan(WRITTEN_WITHIN_MS)
    await write()
    await expectAll()
    await expect.poll(() => seen).toEqual([0, 1, 2])

    await cluster.isBack(leader)
    await cluster.nodes[leader]?.resume()
    await write()
    await expectAll()
    for (const n of others.keys()) expect(await eventStore.readStream(`other-${n}`)).toHaveLength(1)
    await expect.poll(() => seen).toEqual([0, 1, 2, 3])
    stop.abort()
    await following
  })

  it('is used again after all nodes were stopped during a write', async () => {
    for (const node of cluster.nodes) await node.kill()
    const away = write()
    await expect.poll(() => refused).toBeGreaterThan(1)
    await Promise.all(cluster.nodes.map(node => node.restart()))
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
