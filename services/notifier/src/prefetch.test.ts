import { startReactor, type Worker } from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { prefetching } from './prefetch.ts'
import { openNotifier } from './testing/notifier-host.ts'

const log = { info() {}, warn() {}, error() {} }
const subjects = ['events.>']
const message = (n: number) => ({ id: `m-${n}`, subject: 'events.a.B', data: n })

let bus: Bus
let workers: Worker[]
let stopping: AbortController
let metrics: Registry
beforeEach(async () => {
  bus = (await openNotifier({}, { start: false })).dependencies.bus
  workers = []
  stopping = new AbortController()
  metrics = new Registry()
})
afterEach(async () => {
  stopping.abort()
  await Promise.all(workers.map(worker => worker.stop()))
})

const consume = (react: (n: number) => Promise<void>, window = 4, projector = { caughtUp: true }) => {
  const ahead = prefetching({
    bus,
    subjects,
    window,
    projector,
    log,
    metrics,
    signal: stopping.signal,
    react: ({ data }) => react(data as number),
  })
  workers.push(startReactor({ consumer: 'c', subjects, bus, log, react: ahead }))
}
/** The next message that the consumer delivers after a restart. */
const next = async () => {
  await Promise.all(workers.splice(0).map(worker => worker.stop()))
  const { signal } = new AbortController()
  for await (const { message: first } of bus.consume({ consumer: 'c', subjects, signal })) return first.data
}

test('a window of messages is handled concurrently, in addition to the one that the consumer waits for', async () => {
  const begun: number[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  consume(n => {
    begun.push(n)
    return promise
  })
  await bus.publish([1, 2, 3, 4, 5, 6, 7, 8].map(message))
  await vi.waitFor(() => expect(begun).toEqual([1, 2, 3, 4, 5]))
  const buffered = () => metrics.getSingleMetricAsString('gantry_buffered_bytes')
  expect(await buffered()).toContain('gantry_buffered_bytes{buffer="bus-messages"} 4')
  resolve()
  await vi.waitFor(() => expect(begun).toEqual([1, 2, 3, 4, 5, 6, 7, 8]))
  await vi.waitFor(async () => expect(await buffered()).toContain('{buffer="bus-messages"} 0'))
})

test('a prefetched message is acknowledged only after all earlier ones', async () => {
  const handled: number[] = []
  consume(async n => {
    if (n === 2) await new Promise((_, fail) => stopping.signal.addEventListener('abort', fail))
    handled.push(n)
  })
  await bus.publish([1, 2, 3, 4].map(message))
  await vi.waitFor(() => expect(handled).toEqual([1, 3, 4]))
  const going = next()
  stopping.abort()
  expect(await going).toBe(2)
})

test('after a failure no further message is started until the consumer has reached the failed one and handled it again', async () => {
  const begun: number[] = []
  let failing = true
  const { promise, resolve } = Promise.withResolvers<void>()
  consume(async n => {
    begun.push(n)
    if (n === 1) await promise
    if (n === 3 && failing) {
      failing = false
      throw new Error('the store is unavailable')
    }
  }, 3)
  await bus.publish([1, 2, 3, 4, 5].map(message))
  await vi.waitFor(() => expect(begun).toEqual([1, 2, 3]))
  resolve()
  await vi.waitFor(() => expect(begun).toEqual([1, 2, 3, 3, 4, 5]))
})

test('messages wait until the projector has caught up', async () => {
  const handled: number[] = []
  let caughtUp = false
  let checks = 0
  const projector = {
    get caughtUp() {
      checks++
      return caughtUp
    },
  }
  consume(async n => void handled.push(n), 4, projector)
  await bus.publish([1, 2].map(message))
  await vi.waitFor(() => expect(checks).toBeGreaterThan(2))
  expect(handled).toEqual([])
  caughtUp = true
  await vi.waitFor(() => expect(handled).toEqual([1, 2]))
})
