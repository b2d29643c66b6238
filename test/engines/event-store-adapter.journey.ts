import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { binaryEvent, EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import {
  type EventStore,
  EventStoreUnavailable,
  type NewEvent,
  NO_STREAM,
  nameUuids,
  START,
} from '@gantry/event-sourcing'
import { checkEventStore, EventStoreUrlRefused, esdbEventStore } from '@gantry/event-store-esdb'
import { freePort } from '@gantry/service-runtime/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startEsdbStandIn } from './src/esdb-stand-in.ts'
import { startNode } from './src/event-store-command.ts'
import { eventStoreCommand } from './src/find-event-store.ts'
import { ranOn } from './src/ran-on.ts'

const placed = (number: number): NewEvent => ({
  id: randomUUID(),
  type: 'OrderPlaced',
  data: { number },
  metadata: { actor: { id: null, name: 'test' }, requestId: 'r1', at: '2026-11-21T10:00:00.000Z' },
})

const command = eventStoreCommand()
/** Why a test of what only the stand-in can do is skipped: hold an answer, or have a wrong clock or version. */
const skipped = 'needs the stand-in: EventStoreDB cannot be made to do it'
ranOn(command ?? 'a stand-in for EventStoreDB')

let folder: string
let server: { url: string; stop(): Promise<void> }
let eventStore: EventStore
let clock: () => Date
let version: () => string
let arrived: (stream: string) => void | Promise<void>

/** Client of an operator who uses the same server with other tools. */
let operator: EventStoreDBClient

beforeEach(async () => {
  clock = () => new Date()
  version = () => '23.10.6'
  arrived = () => {}
  folder = await mkdtemp(join(tmpdir(), 'gantry-adapter-'))
  server = await (command
    ? startNode(command, { inMemory: true })
    : startEsdbStandIn({
        path: join(folder, 'events'),
        now: () => clock(),
        version: () => version(),
        arrived: stream => arrived(stream),
      }))
  eventStore = esdbEventStore({ connectionString: server.url })
  operator = EventStoreDBClient.connectionString(server.url)
}, 120_000)
afterEach(async () => {
  await eventStore.close()
  await operator.dispose()
  await server.stop()
  await rm(folder, { recursive: true })
})

/** Appends of the operator use one call each, since the client confuses shared calls of several instances. */
const credentials = { username: 'admin', password: 'changeit' }
const collect = async <Item>(items: AsyncIterable<Item>) => {
  const collected: Item[] = []
  for await (const item of items) collected.push(item)
  return collected
}
const all = async () => (await collect(eventStore.readAll({ after: START }))).map(event => event.data)

describe('a removed stream', () => {
  it('ends with an empty event, the only one that a scavenge keeps', async () => {
    await eventStore.append('order-1', [placed(1), placed(2)], NO_STREAM)
    await eventStore.remove('order-1', 1)

    const stored = await collect(operator.readAll())
    const ofStream = stored.flatMap(({ event }) => (event?.streamId === 'order-1' ? [event] : []))
    expect(ofStream.map(({ type }) => type)).toEqual(['OrderPlaced', 'OrderPlaced', 'StreamRemoved'])
    expect(ofStream.at(-1)?.data).toHaveLength(0)
    expect(await eventStore.append('order-1', [placed(3)], NO_STREAM)).toMatchObject({ revision: 3 })
    expect((await eventStore.readStream('order-1')).map(event => event.data)).toEqual([{ number: 3 }])
  })

  it('is removed by the next try when the process died after appending that event', async () => {
    await eventStore.append('order-1', [placed(1)], NO_STREAM)
    const id = nameUuids('c2a3cf0e-51f5-4f0b-a1b7-5d2f64b1f3a9')('order-1/0')
    const end = binaryEvent({ id, type: 'StreamRemoved', data: new Uint8Array() })
    await operator.appendToStream('order-1', end, { expectedRevision: 0n, credentials })
    expect((await eventStore.readStream('order-1')).map(event => event.data)).toEqual([{ number: 1 }])

    await eventStore.remove('order-1', 0)
    expect(await eventStore.readStream('order-1')).toEqual([])
  })

  it('stays empty when an operator clears its metadata, until that is done a second time', async () => {
    await eventStore.append('order-1', [placed(1)], NO_STREAM)
    await eventStore.remove('order-1', 0)
    await operator.setStreamMetadata('order-1', {}, { credentials })
    expect(await eventStore.readStream('order-1')).toEqual([])
    await operator.setStreamMetadata('order-1', {}, { credentials })
    expect((await eventStore.readStream('order-1')).map(event => event.data)).toEqual([{ number: 1 }])
  })
})

describe.skipIf(command)('an append that is repeated while it is under way', { meta: { skipped } }, () => {
  /** Blocks the first append until `count` appends have arrived. */
  const untilCome = (count: number) => {
    const all = Promise.withResolvers<void>()
    let come = 0
    arrived = () => {
      come++
      if (come === count) all.resolve()
      if (come === 1) return all.promise
    }
    return { come: () => come }
  }

  it('gets the same result, even if the server times out on a repetition from another process', async () => {
    const event = placed(1)
    untilCome(2)
    const other = operator.appendToStream(
      'order-1',
      jsonEvent({ id: event.id, type: event.type, data: {} }),
      {
        expectedRevision: 'no_stream',
        credentials,
      },
    )
    const mine = await eventStore.append('order-1', [event], NO_STREAM)
    const { nextExpectedRevision, position } = await other
    expect(mine.revision).toBe(Number(nextExpectedRevision))
    expect(mine.position).toContain(String(position?.commit))
    expect(await eventStore.readStream('order-1')).toHaveLength(1)
  })

  it('is sent once per process while its events and expected revision are the same', async () => {
    const { come } = untilCome(2)
    const other = esdbEventStore({ connectionString: server.url })
    const event = placed(1)
    const answers = Promise.all([
      eventStore.append('order-1', [event], NO_STREAM),
      other.append('order-1', [event], NO_STREAM),
    ])
    await expect(eventStore.append('order-1', [event], 7)).rejects.toMatchObject({ expected: 7 })
    const [first, second] = await answers
    expect(second).toEqual(first)
    expect(come()).toBe(2)
    expect(await other.append('order-1', [event], NO_STREAM)).toEqual(first)
    await other.close()
  })

  it('fails after its timeout, with a reason, when the server keeps timing out', async () => {
    const impatient = esdbEventStore({ connectionString: server.url, timeoutMs: 3_500 })
    const event = placed(1)
    const never = untilCome(Number.POSITIVE_INFINITY)
    const stuck = operator.appendToStream(
      'order-1',
      jsonEvent({ id: event.id, type: event.type, data: {} }),
      {
        expectedRevision: 'no_stream',
        credentials,
        deadline: 5_000,
      },
    )
    stuck.catch(() => {})
    await expect.poll(never.come).toBe(1)
    const error = await impatient.append('order-1', [event], NO_STREAM).catch(thrown => thrown)
    expect(error).toBeInstanceOf(EventStoreUnavailable)
    expect(error.message).toBe('event store unavailable: no answer within 3500 ms')
    expect(never.come()).toBe(3)
    await impatient.close()
  })
})

describe('events of other applications', () => {
  it('are not returned: system streams, notes of the server and links', async () => {
    await eventStore.append('order-1', [placed(1)], NO_STREAM)
    const { position } = await eventStore.append('order-2', [placed(2)], NO_STREAM)
    await operator.appendToStream('$stats', jsonEvent({ type: '$statsCollected', data: {} }), { credentials })
    await operator.setStreamMetadata('order-1', { maxCount: 10 }, { credentials })
    const foreign = [
      jsonEvent({ type: '$note', data: {} }),
      binaryEvent({ type: '$>', data: Buffer.from('0@order-1') }),
    ]
    await operator.appendToStream('order-3', foreign, { credentials })

    expect(await all()).toEqual([{ number: 1 }, { number: 2 }])
    expect(await eventStore.readStream('order-3')).toEqual([])
    expect((await eventStore.head()) >= position).toBe(true)
  })

  it('do not move the head', async () => {
    const { position } = await eventStore.append('order-1', [placed(1)], NO_STREAM)
    for (const count of [1, 3, 900, 900]) {
      const events = Array.from({ length: count }, () => jsonEvent({ type: '$tick', data: {} }))
      await operator.appendToStream('$ticks', events, { credentials })
      expect(await eventStore.head()).toBe(position)
    }
    const next = await eventStore.append('order-1', [placed(2)], 0)
    expect(await eventStore.head()).toBe(next.position)
  })

  it('are skipped, and a subscription still reports its position', async () => {
    await eventStore.append('order-1', [placed(1)], NO_STREAM)
    const stop = new AbortController()
    const options = { after: START, streamPrefixes: ['order-'], signal: stop.signal }
    let head: string | undefined
    for await (const item of eventStore.subscribe(options)) {
      if (item.kind !== 'caughtUp') continue
      if (item.position === head) stop.abort()
      if (head) continue
      const bytes = binaryEvent({ type: 'Bytes', data: Buffer.from([1, 2, 3]) })
      await operator.appendToStream('other-1', bytes, { credentials })
      head = await eventStore.head()
    }
    expect(stop.signal.aborted).toBe(true)
  })

  it('leave the head at the start', async () => {
    expect(await eventStore.head()).toBe(START)
    await operator.appendToStream('$ticks', jsonEvent({ type: '$tick', data: {} }), { credentials })
    expect(await eventStore.head()).toBe(START)
    expect(await all()).toEqual([])
  })
})

describe('a stream that an operator deleted', () => {
  it('softly: is absent, is created again, and continues its revisions', async () => {
    await eventStore.append('order-1', [placed(1), placed(2)], NO_STREAM)
    await operator.deleteStream('order-1')
    expect(await eventStore.readStream('order-1')).toEqual([])

    expect(await eventStore.append('order-1', [placed(3)], NO_STREAM)).toMatchObject({ revision: 2 })
    expect(await eventStore.append('order-1', [placed(4)], 2)).toMatchObject({ revision: 3 })
    const events = await eventStore.readStream('order-1')
    expect(events.map(({ revision, data }) => [revision, data.number])).toEqual([
      [2, 3],
      [3, 4],
    ])
  })

  it('permanently: throws an error other than EventStoreUnavailable', async () => {
    await eventStore.append('order-1', [placed(1)], NO_STREAM)
    await operator.tombstoneStream('order-1')

    for (const call of [
      () => eventStore.readStream('order-1'),
      () => eventStore.append('order-1', [placed(2)], 0),
      () => eventStore.append('order-1', [placed(2)], NO_STREAM),
    ]) {
      const error = await call().catch(thrown => thrown)
      expect(error).not.toBeInstanceOf(EventStoreUnavailable)
      expect(error).toMatchObject({ streamName: 'order-1', type: 'stream-deleted' })
    }
    expect(await all()).toEqual([{ number: 1 }])
  })
})

describe('the adapter', () => {
  it.skipIf(command)('asks a server again that failed the first request', { meta: { skipped } }, async () => {
    let asked = 0
    version = () => {
      if (asked++ === 0) throw new Error('starting')
      return '23.10.6'
    }
    await expect(eventStore.append('order-1', [placed(1)], NO_STREAM)).rejects.toBeInstanceOf(
      EventStoreUnavailable,
    )
    expect(await eventStore.append('order-1', [placed(1)], NO_STREAM)).toMatchObject({ revision: 0 })
  })

  it('reports that it is closed, and ends its subscriptions', async () => {
    const items: string[] = []
    const { promise: caughtUp, resolve } = Promise.withResolvers<void>()
    const following = (async () => {
      for await (const item of eventStore.subscribe({ after: START, signal: new AbortController().signal })) {
        items.push(item.kind)
        resolve()
      }
    })()
    await caughtUp
    await eventStore.close()
    await following

    expect(items).toEqual(['caughtUp'])
    await expect(eventStore.append('order-1', [placed(1)], NO_STREAM)).rejects.toThrow('it is closed')
    await expect(eventStore.readStream('order-1')).rejects.toThrow('it is closed')
    await expect(all()).rejects.toThrow('it is closed')
  })
})

describe('the check before the start', () => {
  const refusal = (url: string, timeoutMs = 2_000) => checkEventStore(url, timeoutMs).catch(error => error)

  const tooOld = ['20.6.1', '22.10.5', '23.6.0', 'unknown']
  it.skipIf(command).each(tooOld)('refuses %s as too old', { meta: { skipped } }, async old => {
    version = () => old
    const error = await refusal(server.url)
    expect(error).toBeInstanceOf(EventStoreUrlRefused)
    expect(error.message).toBe(`EVENT_STORE_URL is EventStoreDB ${old}; 23.10 or newer is required`)
  })

  const supported = ['23.10.0', '24.2.0', '24.10.3']
  it.skipIf(command).each(supported)('accepts %s', { meta: { skipped } }, async newer => {
    version = () => newer
    expect(await checkEventStore(server.url)).toBe(newer)
  })

  it('names the setting and the host of an unreachable server, and no password', async () => {
    const port = await freePort()
    const error = await refusal(`esdb://admin:sesame@127.0.0.1:${port}?tls=false`)
    expect(error).toBeInstanceOf(EventStoreUnavailable)
    expect(error.message).toContain('EVENT_STORE_URL')
    expect(error.message).toContain(`127.0.0.1:${port}`)
    expect(error.message).not.toContain('sesame')
  })

  it('reports a server without TLS when the URL requires TLS', async () => {
    const error = await refusal(server.url.replace('?tls=false', ''))
    expect(error).toBeInstanceOf(EventStoreUnavailable)
    expect(error.message).toContain('tls=false')
  })

  it('refuses a server that is not EventStoreDB', async () => {
    const other = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
    await new Promise(resolve => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    expect(await refusal(`esdb://127.0.0.1:${port}?tls=false`)).toBeInstanceOf(EventStoreUnavailable)
    other.close()
    other.closeAllConnections()
  })
})
