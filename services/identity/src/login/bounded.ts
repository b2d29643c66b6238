import { Refusal } from '@gantry/event-sourcing'

export interface Bounds {
  /** Tasks that run at the same time. */
  atOnce: number
  /** Tasks that may wait for their turn. */
  waiting: number
}

/**
 * Runs tasks in the order they come in, so many at once, so that they leave room for everything else.
 * @throws Refusal too-many-requests when more would wait than may
 */
export function bounded({ atOnce, waiting }: Bounds): <T>(task: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = []
  let running = 0

  return async task => {
    if (running >= atOnce) {
      if (queue.length >= waiting) throw new Refusal('too-many-requests', { headers: { 'retry-after': '1' } })
      // Who ends hands its place over: `running` stays as it is.
      await new Promise<void>(resolve => queue.push(resolve))
    } else running++
    try {
      return await task()
    } finally {
      const next = queue.shift()
      if (next) next()
      else running--
    }
  }
}
