import type { Argon2Algorithm, Argon2Parameters } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

export interface Hashing {
  algorithm: Argon2Algorithm
  parameters: Argon2Parameters
}

/**
 * Hashes in worker threads, so that neither the event loop nor libuv's thread pool, which file access and DNS lookups
 * need, is blocked. Each concurrent hash has its own thread. Idle threads are reused and do not keep the process alive.
 */
export function hashingThreads(): (hashing: Hashing) => Promise<Uint8Array> {
  const idle: Worker[] = []

  return async hashing => {
    const thread = idle.pop() ?? new Worker(new URL('./hashing-thread.ts', import.meta.url), { execArgv: [] })
    thread.ref()
    const answered = once(thread, 'message')
    thread.postMessage(hashing)
    const [hash] = await answered
    thread.unref()
    idle.push(thread)
    return hash
  }
}
