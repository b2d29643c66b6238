import { setTimeout as pause } from 'node:timers/promises'

/** How long one turn may hold the event loop. */
const TURN_MS = 4
/** A turn is followed by a pause that is so many times longer. */
const PAUSES = 2

/** Permission to use the event loop. The next turn begins when this one has ended, or after 4 ms. */
export interface Turn {
  /** Whether the work has to go on in another turn. */
  over(): boolean
  end(): void
}

export interface Turns {
  /** Waits for a turn, in the order of the calls. */
  take(): Promise<Turn>
  /** Waits for a turn that comes before all that `take` waits for. */
  takeFirst(): Promise<Turn>
}

/** Gives out one turn at a time, so that all work done in turns holds the event loop for a third of the time at most. */
export function turns(): Turns {
  const waiting: ((turn: Turn) => void)[] = []
  let giving = false

  const give = async () => {
    if (giving) return
    giving = true
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const startedAt = performance.now()
      await new Promise<void>(resolve => {
        const late = setTimeout(resolve, TURN_MS)
        const end = () => {
          clearTimeout(late)
          resolve()
        }
        next({ over: () => performance.now() - startedAt >= TURN_MS, end })
      })
      await pause(PAUSES * (performance.now() - startedAt))
    }
    giving = false
  }

  return {
    take: () =>
      new Promise(resolve => {
        waiting.push(resolve)
        give()
      }),
    takeFirst: () =>
      new Promise(resolve => {
        waiting.unshift(resolve)
        give()
      }),
  }
}
