import type { Attempt } from '@gantry/contracts'
import { expect, test } from 'vitest'
import type { AttemptOutcome } from '../delivery/deliveries.ts'
import { healths } from './health.ts'

const url = 'https://receiver.example/hook'
const at = (seconds: number) =>
  new Date(Date.parse('2026-11-21T10:00:00.000Z') + seconds * 1_000).toISOString()
const attempt = (seconds: number, more: Partial<Attempt> = {}): Partial<Attempt> => ({
  url,
  startedAt: at(seconds),
  durationMs: 10,
  error: null,
  fault: null,
  ...more,
})
const failure = (seconds: number, more: Partial<Attempt> = {}) =>
  attempt(seconds, { error: 'http-status', fault: 'RECEIVER', ...more })

/** The health at a time that deliveries with these attempts result in. */
const healthOf = (seconds: number, attempts: Partial<Attempt>[][], failingSince: string | null = null) =>
  healths({
    deliveries: {
      outcomes: async () => attempts as AttemptOutcome[][],
    },
    now: () => new Date(at(seconds)),
    rules: { failures: 3, firstPauseMs: 1_000, longestPauseMs: 4_000 },
  }).of({ id: 'w1', url, failingSince })

test('a webhook without attempts has no figures', async () => {
  expect(await healthOf(0, [])).toEqual({
    attempts: 0,
    successRate: null,
    p95LatencyMs: null,
    consecutiveFailures: 0,
    failingSince: null,
    circuit: 'CLOSED',
    pausedUntil: null,
  })
})

test('the attempts of all deliveries count in the order of their times, those to another URL and faults of the service do not', async () => {
  const slow = Array.from({ length: 18 }, (_, n) => attempt(n, { durationMs: 20 }))
  const health = await healthOf(60, [
    [failure(30), failure(50, { durationMs: 900 })],
    [...slow, attempt(20, { durationMs: null })],
    [attempt(55, { url: 'https://elsewhere.example' }), failure(56, { fault: 'SERVICE' })],
  ])
  expect(health).toEqual({
    attempts: 20,
    successRate: 0.9,
    p95LatencyMs: 20,
    consecutiveFailures: 2,
    failingSince: at(30),
    circuit: 'CLOSED',
    pausedUntil: null,
  })
})

test('the circuit is open for a pause that doubles with each failed probe, then half-open; the end of the pause is named', async () => {
  const failures = [failure(1), failure(2), failure(3)]
  expect(await healthOf(4, [failures])).toMatchObject({ circuit: 'OPEN', pausedUntil: at(4.01) })
  expect(await healthOf(4.1, [failures])).toMatchObject({ circuit: 'HALF_OPEN', pausedUntil: at(4.01) })
  expect(await healthOf(7, [[...failures, failure(5)]])).toMatchObject({ pausedUntil: at(7.01) })
  expect(await healthOf(7.1, [[...failures, failure(5)]])).toMatchObject({ circuit: 'HALF_OPEN' })
  expect(await healthOf(8, [[...failures, attempt(7.5)]])).toMatchObject({ pausedUntil: null })
})

test('without a success among the attempts, the time of the log is used if it is earlier', async () => {
  expect(await healthOf(9, [[failure(5)]], at(2))).toMatchObject({ failingSince: at(2) })
  expect(await healthOf(9, [[attempt(4), failure(5)]], at(2))).toMatchObject({ failingSince: at(5) })
})

test('lists that run at the same time share a read; a failed read is repeated, and a single webhook is read again', async () => {
  const reads: PromiseWithResolvers<AttemptOutcome[][]>[] = []
  const outcomes = () => {
    const read = Promise.withResolvers<AttemptOutcome[][]>()
    reads.push(read)
    return read.promise
  }
  const { of, ofAll } = healths({ deliveries: { outcomes }, now: () => new Date(at(0)) })
  const webhook = { id: 'w1', url, failingSince: null }
  const failed = [ofAll([webhook]), ofAll([webhook])].map(each => expect(each).rejects.toThrow('away'))
  reads[0]?.reject(new Error('away'))
  await Promise.all(failed)
  const lists = [ofAll([webhook]), ofAll([webhook])]
  reads[1]?.resolve([])
  expect(await Promise.all(lists)).toMatchObject([[{ attempts: 0 }], [{ attempts: 0 }]])
  expect(reads).toHaveLength(2)
  const single = of(webhook)
  reads[2]?.resolve([[attempt(1) as AttemptOutcome]])
  expect(await single).toMatchObject({ attempts: 1 })
})
