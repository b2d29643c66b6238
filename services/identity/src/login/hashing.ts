import type { Argon2Algorithm, Argon2Parameters } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

export interface Hashing {
  algorithm: Argon2Algorithm
  parameters: Argon2Parameters
}

/**
 * Hashes on threads of their own: the event loop goes on, and so do the threads of libuv, which the log, files and
 * look-ups of names wait for. One for each that is under way; they are kept, and keep no process from ending.
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
