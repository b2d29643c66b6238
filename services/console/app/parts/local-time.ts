/** The values of an input of the type `date` and of one of the type `time`. */
export interface LocalTime {
  date: string
  time: string
}

/** A time of the REST interface in the time zone of the browser, to the second. Whole minutes have no seconds. */
export function toLocalInputs(at: string | undefined): LocalTime {
  if (!at) return { date: '', time: '' }
  const time = new Date(at)
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  const [date = '', clock = ''] = local.toISOString().slice(0, 19).split('T')
  return { date, time: clock.replace(/(:..):00$/, '$1') }
}

/**
 * The time of both inputs; undefined without a complete date.
 * @param isEnd whether a date alone means the end of the day, and not its start
 */
export function fromLocalInputs({ date, time }: LocalTime, isEnd: boolean): string | undefined {
  const at = new Date(`${date}T${time || (isEnd ? '23:59:59.999' : '00:00')}`)
  return date === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

const seconds = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' })

/** A time of the REST interface as a date with seconds, in the time zone of the browser, e.g. 2026-11-20 10:00:05. */
export const secondOf = (at: string): string => seconds.format(Date.parse(at))

/** A time of the REST interface with milliseconds, in the time zone of the browser and as wide for every time. */
export function timeWithMilliseconds(at: string): string {
  const time = new Date(at)
  return `${seconds.format(time)}.${String(time.getMilliseconds()).padStart(3, '0')}`
}
