import type { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { type Hashing, type HashingLimits, hashingThreads } from './hashing.ts'

const hashing = (passes = 1): Hashing => ({
  algorithm: 'argon2id',
  parameters: {
    memory: 64,
    passes,
    parallelism: 1,
    message: 'password',
    nonce: Buffer.alloc(16),
    tagLength: 32,
  },
})

/** Hashing threads, and the threads that they have started. */
const start = (limits: HashingLimits) => {
  const threads: Worker[] = []
  const add = (thread: Worker) => void threads.push(thread)
  process.on('worker', add)
  onTestFinished(async () => {
    process.off('worker', add)
    for (const thread of threads) await thread.terminate()
  })
  return { hash: hashingThreads(limits), threads }
}

test('hashes start in the order of their calls', async () => {
  const { hash } = start({ concurrent: 1, queued: 10 })
  const ended: number[] = []
  await Promise.all(
    [100, 1, 50, 1].map((passes, number) => hash(hashing(passes)).then(() => ended.push(number))),
  )
  expect(ended).toEqual([0, 1, 2, 3])
})

test('all hashes share `concurrent` threads, of which the first hash starts the first', async () => {
  const { hash, threads } = start({ concurrent: 2, queued: 20 })
  expect(threads).toHaveLength(0)
  expect(await hash(hashing())).toHaveLength(32)
  expect(threads).toHaveLength(1)
  await Promise.all(Array.from({ length: 20 }, () => hash(hashing())))
  await Promise.all(Array.from({ length: 20 }, () => hash(hashing())))
  expect(threads).toHaveLength(2)
})

test('a hash is refused while the queue is full, and accepted afterwards', async () => {
  const { hash } = start({ concurrent: 1, queued: 1 })
  const [first, second, third] = await Promise.allSettled([hash(hashing()), hash(hashing()), hash(hashing())])
  expect([first, second]).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }])
  expect(third).toMatchObject({ status: 'rejected', reason: { code: 'too-many-requests' } })
  expect(await hash(hashing())).toHaveLength(32)
})

test('a hash that fails lets the next one start', async () => {
  const { hash } = start({ concurrent: 1, queued: 0 })
  await expect(hash(hashing(0))).rejects.toThrow('passes')
  expect(await hash(hashing())).toHaveLength(32)
})

test('a waiting hash is computed after the thread has failed', async () => {
  const { hash, threads } = start({ concurrent: 1, queued: 1 })
  await hash(hashing())
  const failed = expect(hash(hashing(100_000))).rejects.toThrow()
  const waiting = hash(hashing())
  await threads[0]?.terminate()
  await failed
  expect(await waiting).toHaveLength(32)
  expect(threads).toHaveLength(2)
})
