interface Sleep {
  signal: AbortSignal
  /** Whether the timer keeps the process alive: by default it does. */
  ref?: boolean
}

/**
 * Resolves after `ms` milliseconds, or as soon as `signal` is aborted. Never rejects: a loop checks the signal itself. Uses
 * the global timers, which tests can fake, unlike those of `node:timers/promises`.
 */
export function sleep(ms: number, { signal, ref = true }: Sleep): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    if (!ref) timer.unref()
    signal.addEventListener('abort', end)
  })
}

/** The result of a promise; undefined if it takes longer than `ms` milliseconds. */
export async function inTime<Result>(promise: Promise<Result>, ms: number): Promise<Result | undefined> {
  const done = new AbortController()
  const late = sleep(ms, { signal: done.signal }).then(() => undefined)
  return Promise.race([promise, late]).finally(() => done.abort())
}
