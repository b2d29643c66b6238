import type { Log } from '@gantry/event-sourcing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type BackingStoreWatch, watchBackingStores } from './backing-stores.ts'

beforeEach(() => vi.useFakeTimers())
let watch: BackingStoreWatch | undefined
afterEach(() => {
  watch?.stop()
  vi.useRealTimers()
})

function backingStore(setting: string) {
  const state: { trouble?: string; checks: number } = { checks: 0 }
  return {
    setting,
    about: () => ({ purpose: 'READ_MODELS' as const, kind: 'MongoDB', version: '7.0.14' }),
    state,
    async check() {
      state.checks++
      if (state.trouble) throw new Error(state.trouble)
    },
  }
}

function listening() {
  const lines: string[] = []
  const note = (_data: object, line: string) => void lines.push(line)
  return { lines, log: { info: note, warn: note, error: note, debug: note } as unknown as Log }
}

test('waits for an unavailable backing store, and logs the reason once', async () => {
  const { lines, log } = listening()
  const store = backingStore('READ_MODEL_URL')
  store.state.trouble = 'no answer from views:27017'
  let usable = false
  watch = watchBackingStores([store], log)
  watch.usable.then(() => (usable = true))

  await vi.advanceTimersByTimeAsync(20_000)
  expect(watch.trouble()).toBe('the backing store of READ_MODEL_URL')
  expect(lines).toEqual(['READ_MODEL_URL: no answer from views:27017'])
  expect(store.state.checks).toBeGreaterThan(4)
  expect(store.state.checks).toBeLessThan(20)
  expect(usable).toBe(false)
  expect(watch.states()).toMatchObject([{ status: 'UNAVAILABLE' }])

  store.state.trouble = undefined
  await vi.advanceTimersByTimeAsync(5_000)
  expect(usable).toBe(true)
  expect(watch.trouble()).toBeUndefined()
  expect(watch.up().get('READ_MODEL_URL')).toBe(true)
  expect(watch.states()).toEqual([
    { purpose: 'READ_MODELS', kind: 'MongoDB', version: '7.0.14', status: 'AVAILABLE' },
  ])
})

test('a backing store that becomes unavailable later is reported until it is available again', async () => {
  const { lines, log } = listening()
  const bus = backingStore('MESSAGING_URL')
  watch = watchBackingStores([bus], log)
  await watch.usable
  bus.state.trouble = 'MESSAGING_URL nats://bus:4222: the connection was lost'
  await vi.advanceTimersByTimeAsync(3_000)
  expect(watch.trouble()).toBe('the backing store of MESSAGING_URL')
  bus.state.trouble = undefined
  await vi.advanceTimersByTimeAsync(6_000)
  expect(watch.trouble()).toBeUndefined()
  expect(lines).toEqual([
    'MESSAGING_URL nats://bus:4222: the connection was lost',
    'MESSAGING_URL: available again',
  ])
})

test('a backing store that is only needed at the start delays the start, and does not affect readiness afterwards', async () => {
  const { lines, log } = listening()
  const bus = { ...backingStore('MESSAGING_URL'), onlyAtStart: true }
  bus.state.trouble = 'MESSAGING_URL: no answer'
  watch = watchBackingStores([bus], log)
  await vi.advanceTimersByTimeAsync(100)
  expect(watch.trouble()).toBe('the backing store of MESSAGING_URL')
  bus.state.trouble = undefined
  await vi.advanceTimersByTimeAsync(1_000)
  bus.state.trouble = 'MESSAGING_URL: the connection was lost'
  await vi.advanceTimersByTimeAsync(3_000)
  expect(watch.trouble()).toBeUndefined()
  expect(watch.up().get('MESSAGING_URL')).toBe(false)
  expect(lines).toContain('MESSAGING_URL: the connection was lost')
})
