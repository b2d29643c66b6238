import { createApi, listApis, type Operation } from '@gantry/contracts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { administrator } from '../testing/index.ts'
import { Intake } from './intake.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Notes the order in which writes proceed. */
function writes(behind: () => number) {
  const intake = new Intake(behind)
  const done: number[] = []
  return { intake, done, write: (n: number) => void intake.room().then(() => done.push(n)) }
}

test('writes wait in their order while 32 deliveries are behind', async () => {
  let behind = 31
  const { intake, done, write } = writes(() => behind)
  write(0)
  behind = 32
  for (const n of [1, 2, 3]) write(n)
  await vi.advanceTimersByTimeAsync(100)
  expect(done).toEqual([0])
  behind = 30
  expect(intake.hasRoom()).toBe(false)
  await vi.advanceTimersByTimeAsync(2)
  expect(done).toEqual([0, 1, 2])
  await vi.advanceTimersByTimeAsync(2)
  expect(done).toEqual([0, 1, 2, 3])
  expect(intake.hasRoom()).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})

test('reads are admitted at once, and writes later', async () => {
  const admit = writes(() => 32).intake.admitting(() => administrator)
  const admitted = (operation: Operation) => admit({} as FastifyRequest, {} as FastifyReply, operation)
  expect(admitted(listApis)).toBe(administrator)
  const later = admitted(createApi)
  expect(later).toBeInstanceOf(Promise)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await later).toBe(administrator)
})

test('a write waits a second at most', async () => {
  const { done, write } = writes(() => 32)
  write(1)
  await vi.advanceTimersByTimeAsync(500)
  write(2)
  await vi.advanceTimersByTimeAsync(500)
  expect(done).toEqual([1])
  await vi.advanceTimersByTimeAsync(500)
  expect(done).toEqual([1, 2])
})
