import { mkdtemp, rm } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteBus } from '@gantry/embedded'
import { type Bus, BusUnavailable } from '@gantry/messaging'
import type { FastifyInstance } from 'fastify'
import { Registry } from 'prom-client'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { eventMessage, eventMessages, readingThrough, serveFeed } from '../testing/feed.ts'
import { replaySlots } from './replay-slots.ts'

/** More than the tail keeps, so that a reader from the first event has to replay. */
const PAST = 600
/** Length of the events of which PAST are more than all buffers between the bus and a reader hold. */
const WIDE = 25_000
/** Not reached by any test. */
const NEVER_MS = 600_000

let folder: string
/** A bus with PAST wide events. */
let past: Bus
const buses: Bus[] = []
const newBus = () => {
  const bus = sqliteBus({ path: join(folder, `messages-${buses.length}.db`) })
  buses.push(bus)
  return bus
}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-replays-'))
  past = newBus()
  await past.publish(eventMessages(1, PAST, WIDE))
})
afterAll(async () => {
  await Promise.all(buses.splice(0).map(bus => bus.close()))
  await rm(folder, { recursive: true })
})

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)
let app: FastifyInstance
let metrics: Registry
const readers: { leave(): void }[] = []
afterEach(async () => {
  for (const { leave } of readers.splice(0)) leave()
  await app.close()
})

/** Serves the event stream of a bus with one slot for replays. */
async function serve(bus: Bus, { waitMs = NEVER_MS, slow = NEVER_MS } = {}) {
  metrics = new Registry()
  const slots = replaySlots(1, metrics, waitMs)
  const served = await serveFeed({ bus, slots, metrics, times: { slow } })
  app = served.app
  return served.url
}
const gauge = async (state: 'running' | 'waiting') =>
  Number(new RegExp(`state="${state}"} (\\d+)`).exec(await metrics.metrics())?.[1])
const replays = (running: number, waiting: number) =>
  vi.waitFor(async () => expect([await gauge('running'), await gauge('waiting')]).toEqual([running, waiting]))

/** A reader that begins to read the response when `read` is called. */
function open(url: string, query = '?follow=true') {
  let answer: IncomingMessage | undefined
  let ended = false
  let reads = false
  let rest = ''
  const events: { revision: number; position: string }[] = []
  const add = (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    events.push(...lines.filter(line => line !== '').map(line => JSON.parse(line)))
  }
  const begin = () => {
    answer?.setEncoding('utf8').on('data', add)
    answer?.on('error', () => {}).on('close', () => (ended = true))
  }
  const headers = { accept: 'application/x-ndjson' }
  const request = get(`${url}/events${query}`, { agent: false, headers }, given => {
    answer = given
    if (reads) begin()
  })
  request.on('error', () => (ended = true))
  const reader = {
    status: () => answer?.statusCode,
    /** Waits until the response has begun. */
    begun: () => vi.waitFor(() => expect(answer?.statusCode).toBe(200)),
    /** Waits until the reader has exactly the events with these numbers. */
    async got(numbers: number[]) {
      await vi.waitFor(() => expect(events.length).toBeGreaterThanOrEqual(numbers.length))
      expect(events.map(({ revision }) => revision)).toEqual(numbers)
    },
    /** Waits until the response has ended. @returns its headers, and its text without events */
    async end() {
      await vi.waitFor(() => expect(ended).toBe(true))
      return { status: answer?.statusCode, retryAfter: answer?.headers['retry-after'], text: rest }
    },
    /** The position of the event with a number. */
    position: (number: number) => events.find(({ revision }) => revision === number)?.position,
    read() {
      reads = true
      begin()
      return reader
    },
    leave: () => void request.destroy(),
  }
  readers.push(reader)
  return reader
}

describe('A request for events of the past', () => {
  test('waits for the slot of another, until that one or its own client disconnects, or the service stops', async () => {
    const url = await serve(past)
    const first = open(url)
    await first.begun()
    const leaving = open(url)
    await replays(1, 1)
    leaving.leave()
    await replays(1, 0)
    const second = open(url)
    await replays(1, 1)
    expect(second.status()).toBeUndefined()
    first.leave()
    await second.begun()
    const third = open(url).read()
    await replays(1, 1)
    await app.close()
    const { status, text } = await third.end()
    expect([status, JSON.parse(text)]).toMatchObject([503, { code: 'unavailable' }])
    await replays(0, 0)
  })
})

describe('A follower', () => {
  test('releases its slot once it has read past events, and gets new ones', async () => {
    const bus = newBus()
    await bus.publish(eventMessages(1, PAST))
    const url = await serve(bus)
    const readers = [open(url).read(), open(url).read(), open(url).read()]
    for (const reader of readers) await reader.got(upTo(PAST))
    await replays(0, 0)
    await bus.publish([eventMessage(PAST + 1)])
    for (const reader of readers) await reader.got(upTo(PAST + 1))
  })

  test('that is within the events of the tail needs no slot', async () => {
    const url = await serve(past)
    const all = open(url, '').read()
    await all.end()
    await open(url).begun()
    await replays(1, 0)
    const tail = open(url, `?follow=true&after=${all.position(PAST - 50)}`).read()
    await tail.got(upTo(PAST).slice(-50))
    const ending = open(url, `?after=${all.position(PAST)}`).read()
    expect(await ending.end()).toMatchObject({ status: 200, text: '' })
    await ending.got([])
    await replays(1, 0)
  })

  test('shares one read of the bus with all other followers at the end', async () => {
    const bus = newBus()
    await bus.publish(eventMessages(1, 5))
    let reads = 0
    const counting = readingThrough(bus, options => {
      reads++
      return bus.read(options)
    })
    const url = await serve(counting)
    const readers = upTo(5).map(() => open(url).read())
    for (const reader of readers) await reader.got(upTo(5))
    expect(reads).toBe(1)
  })

  test('that reads slowly loses its slot, and misses nothing when it continues', async () => {
    /** A bus whose reads fail when they are ended early. */
    const failing = readingThrough(past, async function* (options) {
      let isEnd = false
      try {
        yield* past.read(options)
        isEnd = true
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: a read fails like this when the bus disconnects
        if (!isEnd) throw new BusUnavailable('gone')
      }
    })
    const url = await serve(failing, { slow: 50 })
    const slow = open(url)
    await slow.begun()
    await open(url).read().got(upTo(PAST))
    await slow.read().got(upTo(PAST))
    await replays(0, 0)
  })

  test('that stops reading at the end later gets the missed events from the bus', async () => {
    const bus = newBus()
    let reads = 0
    const counting = readingThrough(bus, options => {
      reads++
      return bus.read(options)
    })
    const url = await serve(counting)
    const slow = open(url)
    await slow.begun()
    const other = open(url).read()
    await other.begun()
    // In parts that the tail keeps, so that the other reader needs no slot.
    for (let last = 10; last <= 60; last += 10) {
      await bus.publish(eventMessages(last - 9, last, 10 * WIDE))
      await other.got(upTo(last))
    }
    expect(reads).toBe(1)
    await slow.read().got(upTo(60))
    expect(reads).toBeGreaterThan(1)
    await bus.publish([eventMessage(61)])
    await slow.got(upTo(61))
  })

  test('is broken off when the bus fails, and the next one starts a new read', async () => {
    const bus = newBus()
    await bus.publish(eventMessages(1, 3))
    let away: Error | undefined
    const breaking = readingThrough(bus, async function* (options) {
      for await (const message of bus.read(options)) {
        if (away) throw away
        yield message
      }
    })
    const url = await serve(breaking)
    const readers = [open(url).read(), open(url).read()]
    for (const reader of readers) await reader.got(upTo(3))
    away = new BusUnavailable('gone')
    await bus.publish([eventMessage(4)])
    for (const reader of readers) await reader.end()
    away = undefined
    await open(url, `?follow=true&after=${readers[0]?.position(3)}`)
      .read()
      .got([4])
  })
})
