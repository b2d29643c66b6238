import { useEffect, useState } from 'react'

const SECOND = 1_000
const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 86_400_000

/** A time from now as text with two units, e.g. "in 4 min 12 s". */
function remainingText(milliseconds: number): string {
  if (milliseconds < SECOND) return 'now'
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

/** The time until a time, counted down. */
export function Countdown({ to }: { to: string }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND)
    return () => clearInterval(timer)
  }, [])
  return (
    <time dateTime={to} title={new Date(to).toLocaleString()} role="timer">
      {remainingText(Date.parse(to) - now)}
    </time>
  )
}
