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
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(resolve, ms, undefined)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/**
 * Limits how often work is done. A call waits for a run that begins after the call. A run begins when the previous one has
 * ended, at least `ms` milliseconds after the beginning of that one. Concurrent calls share a run.
 */
export function atMostEvery<Result>(ms: number, work: () => Promise<Result>): () => Promise<Result> {
  let startedAt = Number.NEGATIVE_INFINITY
  let last: Promise<unknown> | undefined
  let next: Promise<Result> | undefined
  const run = async () => {
    await last?.catch(() => {})
    // The global timers, which tests can fake.
    await new Promise(resolve => setTimeout(resolve, Math.max(0, startedAt + ms - performance.now())))
    next = undefined
    startedAt = performance.now()
    const running = work()
    last = running
    return running
  }
  return () => {
    next ??= run()
    return next
  }
}
