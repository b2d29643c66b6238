import { describe, expect, test } from 'vitest'
import { Breaker } from './limiter.ts'

const RULES = { failures: 3, firstPauseMs: 100, longestPauseMs: 300 }

/** Starts and ends an attempt at the given time. */
const attempt = (breaker: Breaker, now: number, succeeded: boolean | undefined) =>
  breaker.end(now, breaker.begin(now), succeeded)
const opened = () => {
  const breaker = new Breaker(RULES)
  for (let n = 0; n < 3; n++) attempt(breaker, 0, false)
  return breaker
}

describe('a breaker', () => {
  test('opens at the configured number of consecutive failures', () => {
    const breaker = new Breaker(RULES)
    for (const succeeded of [false, false, true, false, false]) attempt(breaker, 0, succeeded)
    expect(breaker.state(0)).toBe('closed')
    expect(breaker.openedAt).toBeUndefined()
    attempt(breaker, 5, false)
    expect(breaker.state(5)).toBe('open')
    expect(breaker.openedAt).toBe(5)
    expect(breaker.admits(5)).toBe(false)
    expect(breaker.openForMs(45)).toBe(60)
  })

  test('doubles the pause after each failed probe, up to a maximum', () => {
    const breaker = opened()
    attempt(breaker, 100, false)
    expect(breaker.openForMs(100)).toBe(200)
    attempt(breaker, 300, false)
    expect(breaker.openForMs(300)).toBe(300)
    attempt(breaker, 600, false)
    expect(breaker.openForMs(600)).toBe(300)
    expect(breaker.openedAt).toBe(0)
  })

  test('admits another probe when the outcome of the first says nothing about the endpoint', () => {
    const breaker = opened()
    attempt(breaker, 100, undefined)
    expect(breaker.state(100)).toBe('half-open')
    expect(breaker.admits(100)).toBe(true)
  })

  test('ignores failures of attempts that started before it opened, but closes on their success', () => {
    const breaker = new Breaker(RULES)
    for (let n = 0; n < 5; n++) breaker.begin(0)
    for (let n = 0; n < 4; n++) breaker.end(50 * n, false, false)
    expect(breaker.openForMs(150)).toBe(50)
    breaker.end(160, false, true)
    expect(breaker.state(160)).toBe('closed')
  })
})
