import { Text } from '@mantine/core'
import { secondOf } from './local-time.ts'

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
/** The locale whose dates are those of ISO 8601. */
const ISO = 'sv'
const exact = new Intl.DateTimeFormat(ISO, { dateStyle: 'short', timeStyle: 'long' })
const DAYS_MS = 30 * 86_400_000

/** A time as text: relative to now within 30 days, otherwise as a date. */
export function timeText(at: string, now = Date.now()): string {
  const difference = Date.parse(at) - now
  if (Math.abs(difference) > DAYS_MS) return secondOf(at)
  const [unit, milliseconds] = UNITS.find(([, size]) => Math.abs(difference) >= size) ?? ['second', 1_000]
  return relative.format(Math.trunc(difference / milliseconds), unit)
}

/** A time as a date with seconds, in the time zone of the person, which it names. */
export const exactTime = (at: string): string => exact.format(Date.parse(at))

/** The time zone of the times of a list. */
export const TimeZone = () => (
  <Text size="xs" span>
    Times in {exact.resolvedOptions().timeZone}
  </Text>
)

/** A time of the REST interface. The exact time is in its title. */
export function Time({ at }: { at: string }) {
  return (
    <Text span inherit>
      <time dateTime={at} title={`${exactTime(at)} (${at})`}>
        {timeText(at)}
      </time>
    </Text>
  )
}
