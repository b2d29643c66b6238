import { BusUnavailable, type Json } from '@gantry/messaging'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type RateCounts, rateCounts } from './rate-counts.ts'

const WINDOW_MS = 60_000
const LIMIT = 20
const DELIVERY_MS = 200
const START = Date.parse('2026-11-21T09:30:00.000Z')

/** A bus of one process: all listeners get the broadcasts in one order, unless the test blocks it. */
function memoryBus() {
  const listeners = new Set<(data: Json) => void>()
  const sent: Json[] = []
  const bus = {
    away: false,
    /** Accepts broadcasts and delivers none. */
    frozen: false,
    sent,
    async broadcast(_subject: string, data: Json) {
      if (bus.away) throw new BusUnavailable('it is away')
      sent.push(data)
      if (bus.frozen) return
      await Promise.resolve()
      for (const listener of listeners) listener(structuredClone(data))
    },
    listen(_subject: string, handler: (data: Json) => void) {
      listeners.add(handler)
      return () => void listeners.delete(handler)
    },
  }
  return bus
}

let time: number
let bus: ReturnType<typeof memoryBus>
let stops: (() => void)[]
beforeEach(() => {
  time = START
  bus = memoryBus()
  stops = []
})
afterEach(() => {
  for (const stop of stops) stop()
  vi.useRealTimers()
})

const replica = () => {
  const counts = rateCounts({ bus, now: () => new Date(time) })
  stops.push(counts.start())
  const store = new counts.Store()
  const asked = (method: 'incr' | 'read', key: string) =>
    new Promise<number>((resolve, reject) =>
      store[method](
        key,
        (error, result) => (error || !result ? reject(error) : resolve(result.current)),
        WINDOW_MS,
        LIMIT,
      ),
    )
  return { count: (key: string) => asked('incr', key), read: (key: string) => asked('read', key), store }
}
const within = (places: number[]) => places.filter(place => place <= LIMIT).length
const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make)

test('the limit holds for simultaneous requests to all replicas, up to a twentieth per replica', async () => {
  const [one, other, third, fourth] = times(4, replica)
  const places = await Promise.all(
    times(LIMIT, () => [one, other, third, fourth].map(at => at?.count('login a') ?? 0)).flat(),
  )
  expect(within(places)).toBeGreaterThanOrEqual(LIMIT)
  expect(within(places)).toBeLessThanOrEqual(LIMIT + (3 * LIMIT) / 20)
  expect(await other?.count('login a')).toBeGreaterThan(LIMIT)
  expect(await other?.count('login b')).toBe(1)
})

test('far below the limit requests do not wait, and the other replicas get the count soon', async () => {
  const [one, other] = times(2, replica)
  bus.frozen = true
  expect(await one?.count('login a')).toBe(1)
  bus.frozen = false
  await vi.waitFor(async () => {
    expect(await other?.read('login a')).toBe(1)
  })
})

test('refused requests are not broadcast', async () => {
  const [one, other] = times(2, replica)
  await Promise.all(times(LIMIT, () => one?.count('login a')))
  expect(await other?.count('login a')).toBeGreaterThan(LIMIT)
  const said = bus.sent.length
  await Promise.all(times(1_000, () => [one, other].map(at => at?.count('login a'))).flat())
  expect(bus.sent.length - said).toBeLessThanOrEqual(1)
})

test('replicas count alone while the bus is unavailable, and together again afterwards', async () => {
  const [one, other] = times(2, replica)
  bus.away = true
  for (const at of [one, other]) {
    const places: number[] = []
    for (let n = 0; n < LIMIT + 5; n++) places.push((await at?.count('login a')) ?? 0)
    expect(within(places)).toBe(LIMIT)
  }
  bus.away = false
  time += WINDOW_MS
  expect(await one?.count('login a')).toBe(1)
  await vi.waitFor(async () => {
    expect(await other?.read('login a')).toBe(1)
  })
  const places = await Promise.all(
    times(LIMIT, () => [one, other].map(at => at?.count('login b') ?? 0)).flat(),
  )
  expect(within(places)).toBeGreaterThanOrEqual(LIMIT)
  expect(within(places)).toBeLessThanOrEqual(LIMIT + LIMIT / 20)
})

test('a bus that accepts broadcasts and delivers none delays requests only once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const [one] = times(1, replica)
  bus.frozen = true
  const delayed = Promise.all(times(LIMIT / 2, () => one?.count('login a')))
  // The second message has the requests that came while the first one was in flight.
  await vi.advanceTimersByTimeAsync(2 * DELIVERY_MS)
  await delayed
  // The clock stands still from here on.
  for (let n = 0; n < 8; n++) await one?.count('login a')
  expect(await one?.count('login a')).toBe(LIMIT / 2 + 9)
})

test('a replica that starts later gets the counts of the others', async () => {
  const [one] = times(1, replica)
  for (let n = 0; n < 7; n++) await one?.count('login a')
  const late = replica()
  await vi.waitFor(async () => {
    expect(await late.read('login a')).toBe(7)
  })
})

test('a window ends at the full minute for all replicas', async () => {
  const [one, other] = times(2, replica)
  time = START + 59_999
  await Promise.all(times(LIMIT, () => one?.count('login a')))
  expect(await other?.count('login a')).toBeGreaterThan(LIMIT)
  time++
  expect(await other?.count('login a')).toBe(1)
})

test('a window far in the future is ignored', async () => {
  const [one] = times(1, replica)
  await bus.broadcast('', { from: 'another', number: 1, more: { 'login a': [START + 3_600_000, 50] } })
  await bus.broadcast('', { from: 'another', number: 2, more: { 'login a': [START, 3] } })
  expect(await one?.count('login a')).toBe(4)
})

test('a malformed broadcast is refused', () => {
  const counts: RateCounts = rateCounts({ bus, now: () => new Date(time) })
  const listening = vi.spyOn(bus, 'listen')
  stops.push(counts.start())
  const hear = listening.mock.calls[0]?.[1]
  expect(() => hear?.({ from: 'another', more: { 'login a': 'many' } })).toThrow()
})
