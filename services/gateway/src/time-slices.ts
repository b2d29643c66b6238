import { setTimeout as pause } from 'node:timers/promises'

/** Maximum time that one slice may block the event loop. */
const SLICE_MS = 4
/** Length of the pause after a slice, as a multiple of the slice. */
const PAUSE_FACTOR = 2

/** Permission to use the event loop. The slice ends when `end` is called, or after 4 ms. */
interface TimeSlice {
  /** Whether the 4 ms have passed, so that the work has to continue in another slice. */
  over(): boolean
  end(): void
}

export interface TimeSlices {
  /** Waits for a slice, in the order of the calls. */
  take(): Promise<TimeSlice>
  /** Waits for a slice that comes before all waiting calls. */
  takeFirst(): Promise<TimeSlice>
}

/** Gives out one time slice at a time, so that work done in slices uses at most a third of the time of the event loop. */
export function timeSlices(): TimeSlices {
  const waiting: ((slice: TimeSlice) => void)[] = []
  let giving = false

  const give = async () => {
    if (giving) return
    giving = true
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const startedAt = performance.now()
      await new Promise<void>(resolve => {
        const late = setTimeout(resolve, SLICE_MS)
        const end = () => {
          clearTimeout(late)
          resolve()
        }
        next({ over: () => performance.now() - startedAt >= SLICE_MS, end })
      })
      await pause(PAUSE_FACTOR * (performance.now() - startedAt))
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
