import type { Slot } from '@gantry/service-runtime'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { replaySlots } from './replay-slots.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const { signal } = new AbortController()
const slots = (limit: number) => {
  const metrics = new Registry()
  const gauge = async (state: string) => {
    const [metric] = await metrics.getMetricsAsJSON()
    return metric?.values.find(({ labels }) => labels.state === state)?.value
  }
  return {
    ...replaySlots(limit, metrics),
    counts: async () => [await gauge('running'), await gauge('waiting')],
  }
}
/** The state of a promise. */
const outcome = async (given: Promise<Slot | undefined>) => {
  const waits = Promise.resolve('waits')
  return Promise.race([
    given.then(
      slot => (slot?.held() ? 'held' : 'not held'),
      error => error.code as string,
    ),
    waits.then(() => waits).then(() => waits),
  ])
}
const settled = () => vi.advanceTimersByTimeAsync(0)

describe('Slots for replays', () => {
  test('are limited and passed on in the order of the requests', async () => {
    const { begin, resume, counts } = slots(2)
    const [first, second] = [await begin(signal), await begin(signal)]
    const [third, fourth] = [begin(signal), resume(signal)]
    await settled()
    expect([await outcome(third), await outcome(fourth)]).toEqual(['waits', 'waits'])
    expect(await counts()).toEqual([2, 2])
    second.release()
    await settled()
    expect([await outcome(third), await outcome(fourth)]).toEqual(['held', 'waits'])
    first.release()
    first.release()
    await settled()
    expect(await outcome(fourth)).toBe('held')
    expect(await counts()).toEqual([2, 0])
    ;(await third).release()
    ;(await fourth)?.release()
    expect(await counts()).toEqual([0, 0])
  })

  test('are waited for ten seconds by a request, and without a timeout by an open stream', async () => {
    const { begin, resume, counts } = slots(1)
    const first = await begin(signal)
    const [request, stream] = [begin(signal), resume(signal)]
    const refused = request.catch(error => error)
    await vi.advanceTimersByTimeAsync(9_999)
    expect(await counts()).toEqual([1, 2])
    await vi.advanceTimersByTimeAsync(1)
    expect(await refused).toMatchObject({
      code: 'too-many-replays',
      details: { detail: '1 streams are reading past events: try again later' },
    })
    await vi.advanceTimersByTimeAsync(600_000)
    expect(await counts()).toEqual([1, 1])
    first.release()
    await settled()
    expect(await outcome(stream)).toBe('held')
  })

  test('are returned when a waiting or reading client disconnects', async () => {
    const { begin, resume, counts } = slots(1)
    const [reading, waiting, resuming] = [new AbortController(), new AbortController(), new AbortController()]
    await begin(reading.signal)
    const refused = begin(waiting.signal).catch(error => error)
    const resumed = resume(resuming.signal)
    const last = begin(signal)
    expect(await counts()).toEqual([1, 3])
    waiting.abort()
    resuming.abort()
    expect(await refused).toMatchObject({ code: 'unavailable' })
    expect(await resumed).toBeUndefined()
    expect(await counts()).toEqual([1, 1])
    reading.abort()
    await settled()
    expect(await outcome(last)).toBe('held')
    ;(await last).release()
    expect(await counts()).toEqual([0, 0])
  })

  test('are passed on by a client that disconnects at the moment it gets one', async () => {
    const { begin, counts } = slots(1)
    const first = await begin(signal)
    const leaving = new AbortController()
    const second = begin(leaving.signal)
    first.release()
    leaving.abort()
    await expect(second).rejects.toMatchObject({ code: 'unavailable' })
    expect(await counts()).toEqual([0, 0])
    await expect(begin(leaving.signal)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await counts()).toEqual([0, 0])
  })
})
