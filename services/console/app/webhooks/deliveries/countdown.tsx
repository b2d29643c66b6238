import { useEffect, useState } from 'react'
import { exactTime } from '../../parts/time.tsx'
import type { Delivery, Pause } from './delivery-queries.ts'

const SECOND = 1_000
const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 86_400_000

/** A time from now as text with two units, e.g. "in 4 min 12 s". */
function remainingText(milliseconds: number): string {
  const [large, small] =
    milliseconds >= DAY
      ? (['d', 'h'] as const)
      : milliseconds >= HOUR
        ? (['h', 'min'] as const)
        : milliseconds >= MINUTE
          ? (['min', 's'] as const)
          : (['s', undefined] as const)
  const size = { d: DAY, h: HOUR, min: MINUTE, s: SECOND }
  const text = `in ${Math.trunc(milliseconds / size[large])} ${large}`
  return small ? `${text} ${Math.trunc((milliseconds % size[large]) / size[small])} ${small}` : text
}

interface CountdownProps {
  to: string
  /** Said from that time on. */
  past?: string
}

/** The time until a time, counted down. */
export function Countdown({ to, past = 'now' }: CountdownProps) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND)
    return () => clearInterval(timer)
  }, [])
  return (
    <time dateTime={to} title={exactTime(to)} role="timer">
      {Date.parse(to) - now < SECOND ? past : remainingText(Date.parse(to) - now)}
    </time>
  )
}

interface NextAttemptProps {
  delivery: Pick<Delivery, 'nextAttemptAt'>
  pause: Pause | undefined
}

/** When the next attempt is made, as far as it is known: after a pause, the deliveries of a webhook take turns. */
export function NextAttempt({ delivery: { nextAttemptAt }, pause }: NextAttemptProps) {
  if (pause)
    return (
      <>
        not before the pause ends, <Countdown to={pause.until} past="soon" />
      </>
    )
  return nextAttemptAt && <Countdown to={nextAttemptAt} />
}
