import type { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Hashing, type HashRequest, hashingThreads } from './hashing.ts'

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
const start = (concurrent: number) => {
  const threads: Worker[] = []
  const add = (thread: Worker) => void threads.push(thread)
  process.on('worker', add)
  onTestFinished(async () => {
    process.off('worker', add)
    for (const thread of threads) await thread.terminate()
  })
  const derive = hashingThreads(concurrent)
  const hash = (hashing: Hashing, request: Partial<HashRequest> = {}) =>
    derive(hashing, { address: '192.0.2.1', name: 'ada', waitMs: 60_000, ...request })
  return { hash, threads }
}

test('logins from an address, and for a name, that have had fewer hashes come first, then the oldest', async () => {
  const { hash } = start(1)
  const ended: string[] = []
  const logIn = (address: string, name: string) =>
    hash(hashing(50), { address, name }).then(() => ended.push(`${address} ${name}`))
  await Promise.all([
    logIn('a', 'ada'),
    logIn('a', 'ada'),
    logIn('a', 'bob'),
    logIn('b', 'ada'),
    logIn('2001:db8::1', 'cleo'),
    logIn('2001:db8::2', 'dora'),
  ])
  const expected = ['a ada', '2001:db8::1 cleo', 'b ada', 'a bob', '2001:db8::2 dora', 'a ada']
  expect(ended).toEqual(expected)
})

test('all hashes share `concurrent` threads, of which the first hash starts the first', async () => {
  const { hash, threads } = start(2)
  expect(threads).toHaveLength(0)
  expect(await hash(hashing())).toHaveLength(32)
  expect(threads).toHaveLength(1)
  await Promise.all(Array.from({ length: 20 }, () => hash(hashing())))
  await Promise.all(Array.from({ length: 20 }, () => hash(hashing())))
  expect(threads).toHaveLength(2)
})

test('a hash that does not start in time is refused with the time to wait, and the next one is computed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { hash } = start(1)
  const computed = hash(hashing())
  const refused = expect(hash(hashing(), { waitMs: 3_000 })).rejects.toMatchObject({
    code: 'too-many-requests',
    details: { headers: { 'retry-after': '3' } },
  })
  vi.advanceTimersByTime(3_000)
  await refused
  expect(await computed).toHaveLength(32)
  expect(await hash(hashing())).toHaveLength(32)
})

test('a hash that fails lets the next one start', async () => {
  const { hash } = start(1)
  await expect(hash(hashing(0))).rejects.toThrow('passes')
  expect(await hash(hashing())).toHaveLength(32)
})

test('a waiting hash is computed after the thread has failed', async () => {
  const { hash, threads } = start(1)
  await hash(hashing())
  const failed = expect(hash(hashing(100_000))).rejects.toThrow()
  const waiting = hash(hashing())
  await threads[0]?.terminate()
  await failed
  expect(await waiting).toHaveLength(32)
  expect(threads).toHaveLength(2)
})
