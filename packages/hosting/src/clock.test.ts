import type { Log } from '@gantry/event-sourcing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Clock, processClock } from './clock.ts'

const MINUTE = 60_000
const TEN = Date.parse('2026-11-21T10:00:00.000Z')

/** The true time, the time of the machine's clock, and the time since the machine started, in milliseconds. */
let really: number
let machine: number
let stopwatch: number
let lines: string[]
let clock: Clock

beforeEach(() => {
  vi.useFakeTimers()
  really = TEN
  machine = TEN
  stopwatch = 5_000
  lines = []
  const note = (_details: object, line: string) => void lines.push(line)
  clock = processClock({
    log: { info: note, warn: note, error: note } as Log,
    own: () => machine,
    elapsed: () => stopwatch,
  })
})
afterEach(() => {
  clock.stop()
  vi.useRealTimers()
})

const pass = async (ms: number) => {
  for (let left = ms; left > 0; left -= 1_000) {
    really += Math.min(left, 1_000)
    machine += Math.min(left, 1_000)
    stopwatch += Math.min(left, 1_000)
    await vi.advanceTimersByTimeAsync(Math.min(left, 1_000))
  }
}
const reference = async () => new Date(really)
/** Milliseconds by which the clock of the process is ahead of the true time. */
const ahead = () => clock.now().getTime() - really

test('until the first comparison, the clock is that of the machine, also after it was changed', () => {
  machine += MINUTE
  expect(ahead()).toBe(MINUTE)
})

test.each([
  ['ahead', 10 * MINUTE],
  ['behind', -10 * MINUTE],
])('a machine that is ten minutes %s uses the reference clock and logs it once', async (way, off) => {
  machine += off
  await clock.synchronize(reference)
  expect(ahead()).toBe(0)
  await pass(MINUTE)
  expect(ahead()).toBe(0)
  expect(lines).toEqual([`the clock of this machine is 600 s ${way}: using the reference clock`])

  machine -= off
  await pass(5_000)
  expect(ahead()).toBe(0)
  expect(lines.slice(1)).toEqual(['the clock of this machine agrees with the reference clock again'])
})

test('a process uses the clock of its machine if that is right within a second', async () => {
  machine += 900
  await clock.synchronize(reference)
  await pass(MINUTE)
  expect(ahead()).toBe(900)
  expect(lines).toEqual([])
})

test('a change of the clock of the machine does not affect the time, not even until the next comparison', async () => {
  await clock.synchronize(reference)
  machine += 10 * MINUTE
  expect(ahead()).toBe(0)
  await pass(5_000)
  expect(ahead()).toBe(0)
})

test('the monotonic clock counts while the reference clock is unavailable', async () => {
  machine -= 10 * MINUTE
  let away = false
  await clock.synchronize(async () => {
    if (away) throw new Error('no answer')
    return new Date(really)
  })
  away = true
  await pass(5 * MINUTE)
  expect(ahead()).toBe(0)
})

test('waits for the reference clock, and ignores answers that take too long', async () => {
  machine += 10 * MINUTE
  let slow = true
  let synchronized = false
  const synchronizing = clock.synchronize(async () => {
    const time = new Date(really)
    if (slow) await new Promise(resolve => setTimeout(resolve, 3_000))
    return time
  })
  synchronizing.then(() => (synchronized = true))
  await pass(10_000)
  expect(synchronized).toBe(false)
  expect(lines).toEqual([])

  slow = false
  await pass(5_000)
  expect(synchronized).toBe(true)
  expect(ahead()).toBe(0)
})
