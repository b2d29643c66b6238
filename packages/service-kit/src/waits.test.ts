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

test('says what is waited for once it has lasted a second, and again when that changes', () => {
  vi.advanceTimersByTime(900)
  expect(said).toEqual([])
  vi.advanceTimersByTime(60_000)
  expect(said).toEqual(['the log'])
  waiting = 'the read models'
  vi.advanceTimersByTime(60_000)
  expect(said).toEqual(['the log', 'the read models'])
})

test('says nothing when nothing is waited for, nor when it has ended', () => {
  waiting = undefined
  vi.advanceTimersByTime(60_000)
  waiting = 'the log'
  end()
  vi.advanceTimersByTime(60_000)
  expect(said).toEqual([])
})
