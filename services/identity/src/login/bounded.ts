import { Refusal } from '@gantry/event-sourcing'

export interface Bounds {
  /** Maximum number of tasks that run at the same time. */
  atOnce: number
  /** Maximum number of tasks that wait. */
  waiting: number
}

/**
 * Starts tasks in the order of their calls and limits how many run at the same time.
 * @throws Refusal too-many-requests when the maximum number of tasks is waiting
 */
export function bounded({ atOnce, waiting }: Bounds): <T>(task: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = []
  let running = 0

  return async task => {
    if (running >= atOnce) {
      if (queue.length >= waiting) throw new Refusal('too-many-requests', { headers: { 'retry-after': '1' } })
      // A task that ends starts the next one in its place, so `running` does not change.
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
