/**
 * Replaces `node:timers/promises` in these tests through a bundler alias. It uses the global timers, which the tests replace
 * by virtual ones, so that pauses of the code under test take no real time.
 */
export function setTimeout<T>(ms: number, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const timer = globalThis.setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve(value as T)
    }, ms)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Turns of the event loop stay real: no time passes in them. */
export const setImmediate = <T>(value?: T): Promise<T> =>
  new Promise(resolve => globalThis.setImmediate(() => resolve(value as T)))
