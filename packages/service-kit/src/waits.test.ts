import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { announceWaits } from './waits.ts'

let waiting: string | undefined
let said: string[]
let end: () => void
beforeEach(() => {
  vi.useFakeTimers()
  waiting = 'the log'
  said = []
  end = announceWaits(
    () => waiting,
    what => said.push(what),
  )
})
afterEach(() => {
  end()
  vi.useRealTimers()
})

test('reports a wait that has lasted a second, and each later change', () => {
  vi.advanceTimersByTime(900)
  expect(said).toEqual([])
  vi.advanceTimersByTime(60_000)
  expect(said).toEqual(['the log'])
  waiting = 'the read models'
  vi.advanceTimersByTime(60_000)
  expect(said).toEqual(['the log', 'the read models'])
})

test('reports nothing while there is no wait, and nothing after its end', () => {
  waiting = undefined
  vi.advanceTimersByTime(60_000)
  waiting = 'the log'
  end()
  vi.advanceTimersByTime(60_000)
  expect(said).toEqual([])
})
