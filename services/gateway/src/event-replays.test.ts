import { mkdtemp, rm } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PublicEvent, subjects } from '@gantry/contracts'
import { sqliteBus } from '@gantry/embedded'
import { type Bus, BusUnavailable, type Json } from '@gantry/messaging'
import { answerProblem } from '@gantry/service-kit'
import Fastify, { type FastifyInstance } from 'fastify'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { eventStream } from './event-stream.ts'
import { replaySlots } from './replay-slots.ts'
import { grace } from './testing/edge-host.ts'

/** More than the tail keeps, so that a reader from the first event has to replay. */
const PAST = 600

let folder: string
let bus: Bus
let app: FastifyInstance
let metrics: Registry
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-replays-'))
  bus = sqliteBus({ path: join(folder, 'messages.db') })
})
afterEach(async () => {
  await app.close()
  await bus.close()
  await rm(folder, { recursive: true })
})

let published = 0
const publish = async (count: number, length = 0) => {
  const messages = Array.from({ length: count }, () => {
    const number = ++published
    const id = `5b1f1c9e-6d0f-4c58-9a43-${String(number).padStart(12, '0')}`
    const data: PublicEvent = {
      ...{ id, type: 'API_CREATED', source: 'catalog', subject: 'api-1', revision: number },
      ...{ time: '2026-11-21T09:30:00.000Z', data: { text: 'x'.repeat(length) }, requestId: 'request-1' },
      actor: { id: grace.userId, name: 'grace' },
    }
    return { id, subject: subjects.events('catalog', 'API_CREATED'), data: data as unknown as Json }
  })
  return bus.publish(messages)
}
beforeEach(() => {
  published = 0
})

/** Serves the event stream of a bus, with a limit of replays and a short timeout for slow readers. */
async function serve({ limit = 1, from = bus }: { limit?: number; from?: Bus } = {}) {
  metrics = new Registry()
  app = Fastify()
  app.setErrorHandler((error, request, reply) => answerProblem(error, request, reply, new Date()))
  const slots = replaySlots({ limit, metrics, waitMs: 1_500 })
  const caller = { admit: async () => grace, recheck: async () => grace, metrics }
  const options = { bus: from, slots, ...caller, now: () => new Date(), times: { slow: 500 } }
  const end = eventStream(app, options)
  app.addHook('preClose', async () => end())
  return app.listen({ port: 0, host: '127.0.0.1' })
}
const gauge = async (state: 'running' | 'waiting') =>
  Number(new RegExp(`state="${state}"} (\\d+)`).exec(await metrics.metrics())?.[1])

/** A reader that begins to read the response when `read` is called. */
function open(url: string, query = '?follow=true') {
  let answer: IncomingMessage | undefined
  let text = ''
  let ended = false
  let reads = false
  const begin = () => {
    answer?.setEncoding('utf8').on('data', chunk => (text += chunk))
    answer?.on('error', () => {}).on('close', () => (ended = true))
  }
  const headers = { accept: 'application/x-ndjson' }
  const request = get(`${url}/events${query}`, { agent: false, headers }, given => {
    answer = given
    if (reads) begin()
  })
  request.on('error', () => (ended = true))
  return {
    status: () => answer?.statusCode,
    headers: () => answer?.headers,
    text: () => text,
    ended: () => ended,
    numbers: () => [...text.matchAll(/"revision":(\d+)/g)].map(([, number]) => Number(number)),
    /** The position of the event with a number. */
    position: (number: number) =>
      text
        .split('\n')
        .filter(line => line.includes(`"revision":${number},`))
        .map(line => (JSON.parse(line) as { position: string }).position)[0] ?? '',
    read() {
      reads = true
      begin()
      return this
    },
    leave: () => request.destroy(),
  }
}
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)
/** Publishes more events than all buffers between the bus and a reader hold. */
const tooMuch = () => publish(PAST, 25_000)

/** Waits until the check passes, with a timeout for slow machines. */
const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 20_000, interval: 20 })

describe('A request for events of the past', () => {
  test('waits for the slot of another, and gets 503 when that takes too long', async () => {
    await tooMuch()
    const url = await serve()
    const slow = open(url)
    await eventually(() => expect(slow.status()).toBe(200))
    const waiting = open(url).read()
    await eventually(async () => expect([await gauge('running'), await gauge('waiting')]).toEqual([1, 1]))
    expect(waiting.status()).toBeUndefined()
    slow.leave()
    await eventually(() => expect(waiting.status()).toBe(200))

    await app.close()
    const busy = await serve()
    // Each of them waits for a slot again as soon as it has lost its own.
    const others = [open(busy), open(busy), open(busy), open(busy), open(busy), open(busy)]
    const refused = open(busy).read()
    await eventually(() => expect(refused.ended()).toBe(true))
    expect([refused.status(), refused.headers()?.['retry-after']]).toEqual([503, '2'])
    expect(JSON.parse(refused.text())).toMatchObject({ code: 'too-many-replays', status: 503 })
    for (const other of others) other.leave()
  })

  test('frees its slot or its place in the queue when its client disconnects', async () => {
    await tooMuch()
    const url = await serve()
    const slow = open(url)
    await eventually(() => expect(slow.status()).toBe(200))
    const waiting = open(url)
    await eventually(async () => expect(await gauge('waiting')).toBe(1))
    waiting.leave()
    await eventually(async () => expect([await gauge('running'), await gauge('waiting')]).toEqual([1, 0]))
    slow.leave()
    await eventually(async () => expect(await gauge('running')).toBe(0))
  })

  test('ends when the service stops, also while it waits for a slot', async () => {
    await tooMuch()
    const url = await serve()
    const slow = open(url)
    await eventually(() => expect(slow.status()).toBe(200))
    const waiting = open(url).read()
    await eventually(async () => expect(await gauge('waiting')).toBe(1))
    await app.close()
    await eventually(() => expect(waiting.status()).toBe(503))
    expect(JSON.parse(waiting.text())).toMatchObject({ code: 'unavailable' })
  })
})

describe('A follower', () => {
  test('releases its slot once it has read past events, and gets new ones', async () => {
    await publish(PAST)
    const url = await serve()
    const readers = Array.from({ length: 20 }, () => open(url).read())
    await eventually(() =>
      expect(readers.map(reader => reader.numbers().length)).toEqual(readers.map(() => PAST)),
    )
    expect([await gauge('running'), await gauge('waiting')]).toEqual([0, 0])
    await publish(3)
    for (const reader of readers) await eventually(() => expect(reader.numbers()).toEqual(upTo(PAST + 3)))
  })

  test('that is within the events of the tail needs no slot', async () => {
    await tooMuch()
    const url = await serve()
    const slow = open(url)
    await eventually(() => expect(slow.status()).toBe(200))
    const all = open(url, '').read()
    slow.leave()
    await eventually(() => expect(all.ended()).toBe(true))
    const other = open(url)
    await eventually(() => expect(other.status()).toBe(200))
    const reader = open(url, `?follow=true&after=${all.position(PAST - 50)}`).read()
    await eventually(() => expect(reader.numbers()).toEqual(upTo(PAST).slice(-50)))
    const ending = open(url, `?after=${all.position(PAST)}`).read()
    await eventually(() => expect([ending.status(), ending.ended(), ending.text()]).toEqual([200, true, '']))
  })

  test('shares one read of the bus with all other followers at the end', async () => {
    await publish(5)
    let reads = 0
    const counting = new Proxy(bus, {
      get(target, name) {
        if (name === 'read') reads++
        return Reflect.get(target, name)
      },
    })
    const url = await serve({ from: counting })
    const readers = Array.from({ length: 20 }, () => open(url).read())
    for (const reader of readers) await eventually(() => expect(reader.numbers()).toEqual(upTo(5)))
    expect(reads).toBe(1)
  })

  test('that reads slowly loses its slot, and misses nothing when it continues', async () => {
    await tooMuch()
    /** A bus whose reads fail when they are ended early. */
    const failing = new Proxy(bus, {
      get(target, name) {
        if (name !== 'read') return Reflect.get(target, name)
        return async function* (options: Parameters<Bus['read']>[0]) {
          let isEnd = false
          try {
            yield* target.read(options)
            isEnd = true
          } finally {
            // biome-ignore lint/correctness/noUnsafeFinally: a read fails like this when the bus disconnects
            if (!isEnd) throw new BusUnavailable('gone')
          }
        }
      },
    })
    const url = await serve({ from: failing })
    const slow = open(url)
    await eventually(() => expect(slow.status()).toBe(200))
    const other = open(url).read()
    await eventually(() => expect(other.numbers()).toEqual(upTo(PAST)))
    slow.read()
    await eventually(() => expect(slow.numbers()).toEqual(upTo(PAST)))
    expect(await gauge('running')).toBe(0)
  })

  test('that stops reading at the end later gets the missed events from the bus', async () => {
    const url = await serve()
    const slow = open(url)
    const other = open(url).read()
    await eventually(() => expect([slow.status(), other.status()]).toEqual([200, 200]))
    for (let n = 0; n < 12; n++) await publish(50, 25_000)
    await eventually(() => expect(other.numbers()).toEqual(upTo(PAST)))
    slow.read()
    await eventually(() => expect(slow.numbers()).toEqual(upTo(PAST)))
    await publish(1)
    await eventually(() => expect(slow.numbers()).toEqual(upTo(PAST + 1)))
  })

  test('is broken off when the bus fails, and the next one starts a new read', async () => {
    await publish(3)
    let away: Error | undefined
    const breaking = new Proxy(bus, {
      get(target, name) {
        if (name !== 'read') return Reflect.get(target, name)
        return async function* (options: Parameters<Bus['read']>[0]) {
          for await (const message of target.read(options)) {
            if (away) throw away
            yield message
          }
        }
      },
    })
    const url = await serve({ from: breaking })
    const readers = [open(url).read(), open(url).read()]
    for (const reader of readers) await eventually(() => expect(reader.numbers()).toEqual(upTo(3)))
    away = new BusUnavailable('gone')
    await publish(1)
    for (const reader of readers) await eventually(() => expect(reader.ended()).toBe(true))
    away = undefined
    const next = open(url, `?follow=true&after=${readers[0]?.position(3)}`).read()
    await eventually(() => expect(next.numbers()).toEqual([4]))
  })
})
