import { setTimeout as wait } from 'node:timers/promises'

/** Maximum time that one slice may block the event loop. */
const SLICE_MS = 4
/** Length of the pause after a slice, as a multiple of the slice: while there is other work, and while there is none. */
const PAUSE_FACTOR = 2
const QUIET_FACTOR = 0.25
/** Part of a pause that other work may use without counting as other work, e.g. to write to the sockets of the readers. */
const QUIET = 0.2

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

/** Times in milliseconds. */
interface EventLoop {
  now(): number
  /** @returns the part of the pause in which other work used the event loop */
  pause(ms: number): Promise<number>
}

const EVENT_LOOP: EventLoop = {
  now: () => performance.now(),
  async pause(ms) {
    const before = performance.eventLoopUtilization()
    await wait(ms)
    return performance.eventLoopUtilization(before).utilization
  },
}

/**
 * Gives out one time slice at a time, so that work done in slices uses at most a third of the time of the event loop while
 * there is other work.
 */
export function timeSlices({ now, pause } = EVENT_LOOP): TimeSlices {
  const waiting: ((slice: TimeSlice) => void)[] = []
  let giving = false
  let factor = PAUSE_FACTOR

  const give = async () => {
    if (giving) return
    giving = true
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const startedAt = now()
      await new Promise<void>(resolve => {
        const late = setTimeout(resolve, SLICE_MS)
        const end = () => {
          clearTimeout(late)
          resolve()
        }
        next({ over: () => now() - startedAt >= SLICE_MS, end })
      })
      const load = await pause(factor * (now() - startedAt))
      factor = load < QUIET ? QUIET_FACTOR : PAUSE_FACTOR
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
