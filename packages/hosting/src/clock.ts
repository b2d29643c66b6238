import type { Log } from '@gantry/event-sourcing'

/** The time that a process goes by. */
export interface Clock {
  now(): Date
  /**
   * Compares it with a clock that all processes refer to, again and again until it is stopped.
   * Resolves when that has told the time for the first time.
   */
  follow(reference: () => Promise<Date>): Promise<void>
  stop(): void
}

export interface ClockOptions {
  log: Log
  /** The clock of the machine, in milliseconds since 1970. */
  own?: () => number
  /** A stopwatch that nobody sets, in milliseconds. */
  elapsed?: () => number
}

/** Clocks that are kept by NTP differ by less. */
const TOLERANCE_MS = 1_000
/** An answer that took longer says too little of when it was given. */
const PATIENCE_MS = 2_000
const LOOK_MS = 2_000
/** Between two tries until it is told the time at all. */
const AGAIN_MS = 200

/**
 * A clock that agrees with those of all other processes, whatever that of its machine says. Times are compared
 * across processes (who vouches for a caller, when a token ends, when a delivery is due), so a machine that is minutes
 * off goes by a reference clock, and says so. Between two looks time passes by the stopwatch: who sets the machine's
 * clock changes nothing, nor does the reference while it is away.
 */
export function processClock({
  log,
  own = () => Date.now(),
  elapsed = () => performance.now(),
}: ClockOptions): Clock {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let known = { time: own(), at: elapsed() }
  let wasWrong = false

  /** @returns whether it was told the time */
  const look = async (reference: () => Promise<Date>): Promise<boolean> => {
    const askedAt = elapsed()
    const told = await reference()
    const at = elapsed()
    const half = (at - askedAt) / 2
    if (half > PATIENCE_MS / 2) return false
    const [time, here] = [told.getTime() + half, own()]
    const wrong = Math.abs(here - time) > TOLERANCE_MS + half
    known = { time: wrong ? time : here, at }
    if (wrong !== wasWrong) say(wrong, here - time)
    wasWrong = wrong
    return true
  }

  const say = (wrong: boolean, ms: number) => {
    const seconds = Math.round(ms / 1_000)
    if (!wrong) log.info({ seconds }, 'the clock of this machine is right again')
    else
      log.warn(
        { seconds },
        `the clock of this machine is ${Math.abs(seconds)} s ${ms > 0 ? 'ahead' : 'behind'}: the reference clock counts`,
      )
  }

  return {
    now: () => new Date(known.time + elapsed() - known.at),
    follow(reference) {
      const first = Promise.withResolvers<void>()
      const lookOn = async (pause = AGAIN_MS) => {
        const told = await look(reference).catch(() => false)
        if (told) first.resolve()
        const next = told ? LOOK_MS : pause
        if (!stopped) timer = setTimeout(lookOn, next, next)
      }
      void lookOn()
      return first.promise
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
