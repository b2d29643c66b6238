import { setTimeout as pause } from 'node:timers/promises'

/** Maximum time that one turn may block the event loop. */
const TURN_MS = 4
/** Length of the pause after a turn, as a multiple of the turn. */
const PAUSES = 2

/** Permission to use the event loop. The turn ends when `end` is called, or after 4 ms. */
interface Turn {
  /** Whether the 4 ms have passed, so that the work has to continue in another turn. */
  over(): boolean
  end(): void
}

export interface Turns {
  /** Waits for a turn, in the order of the calls. */
  take(): Promise<Turn>
  /** Waits for a turn that comes before all waiting calls. */
  takeFirst(): Promise<Turn>
}

/** Gives out one turn at a time, so that work done in turns uses at most a third of the time of the event loop. */
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
