/** A time of the REST interface as the value of an input of the type `datetime-local`, in the time zone of the browser. */
export function toLocalInput(at: string | undefined): string {
  if (!at) return ''
  const time = new Date(at)
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19)
}

/** The time of an input of the type `datetime-local`; undefined if it is empty or incomplete. */
export function fromLocalInput(value: string): string | undefined {
  const time = new Date(value)
  return value === '' || Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

const seconds = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' })

/** A time of the REST interface as a date with seconds, in the time zone of the browser, e.g. 2026-11-20 10:00:05. */
export const secondOf = (at: string): string => seconds.format(Date.parse(at))

/** A time of the REST interface with milliseconds, in the time zone of the browser and as wide for every time. */
export function timeWithMilliseconds(at: string): string {
  const time = new Date(at)
  return `${seconds.format(time)}.${String(time.getMilliseconds()).padStart(3, '0')}`
}
