import type { Log } from '@gantry/event-sourcing'

export interface Clock {
  /** Until the first comparison, the time of the machine. */
  now(): Date
  /**
   * Compares the clock with a reference clock that all processes share, periodically until `stop` is called.
   * @returns a promise that resolves after the first comparison
   */
  synchronize(reference: () => Promise<Date>): Promise<void>
  stop(): void
}

export interface ClockOptions {
  log: Log
  /** The clock of the machine, in milliseconds since 1970. */
  own?: () => number
  /** A monotonic clock, in milliseconds. */
  elapsed?: () => number
}

/** Difference up to which the machine's own clock is used. Clocks that are synchronized by NTP differ by less. */
const TOLERANCE_MS = 1_000
/** Answers that took longer are ignored, because they are too inaccurate. */
const TIMEOUT_MS = 2_000
/** Interval of comparisons. */
const POLL_MS = 2_000
/** Interval of tries after a failed comparison. */
const AGAIN_MS = 200

/**
 * A clock that agrees with those of all other processes even if the clock of the machine is wrong. Times are compared
 * across processes (validity of principals and tokens, due times of deliveries), so a process on a machine with a wrong
 * clock uses the reference clock, and logs that. Between two comparisons the monotonic clock counts, so that neither a
 * change of the machine's clock nor an unavailable reference clock affects the time.
 */
export function processClock({
  log,
  own = () => Date.now(),
  elapsed = () => performance.now(),
}: ClockOptions): Clock {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let known: { time: number; at: number } | undefined
  let wasWrong = false

  /** @returns whether the reference clock answered in time */
  const compareOnce = async (reference: () => Promise<Date>): Promise<boolean> => {
    const askedAt = elapsed()
    const referenceTime = await reference()
    const at = elapsed()
    const half = (at - askedAt) / 2
    if (half > TIMEOUT_MS / 2) return false
    const [time, here] = [referenceTime.getTime() + half, own()]
    const wrong = Math.abs(here - time) > TOLERANCE_MS + half
    known = { time: wrong ? time : here, at }
    if (wrong !== wasWrong) logDifference(wrong, here - time)
    wasWrong = wrong
    return true
  }

  const logDifference = (wrong: boolean, ms: number) => {
    const seconds = Math.round(ms / 1_000)
    if (!wrong) log.info({ seconds }, 'the clock of this machine agrees with the reference clock again')
    else
      log.warn(
        { seconds },
        `the clock of this machine is ${Math.abs(seconds)} s ${ms > 0 ? 'ahead' : 'behind'}: using the reference clock`,
      )
  }

  return {
    now: () => new Date(known ? known.time + elapsed() - known.at : own()),
    synchronize(reference) {
      const first = Promise.withResolvers<void>()
      const compareAgain = async (pause = AGAIN_MS) => {
        const compared = await compareOnce(reference).catch(() => false)
        if (compared) first.resolve()
        const next = compared ? POLL_MS : pause
        if (!stopped) timer = setTimeout(compareAgain, next, next)
      }
      void compareAgain()
      return first.promise
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
