import { TextInput, type TextInputProps } from '@mantine/core'

interface TimeFieldProps extends Omit<TextInputProps, 'value' | 'onChange' | 'type'> {
  /** ISO 8601; undefined without a time. */
  value: string | undefined
  /** Called with ISO 8601 in UTC, and with undefined when the time is removed or incomplete. */
  onChange: (value: string | undefined) => void
}

/** Years before are those of a year that is being typed. */
const FIRST_YEAR = 1970
const MINUTE_MS = 60_000

/** A field for a date and a time of day in the time zone of the person. */
export function TimeField({ value, onChange, ...props }: TimeFieldProps) {
  return (
    <TextInput
      {...props}
      type="datetime-local"
      step={1}
      value={value === undefined ? '' : localText(value)}
      onChange={event => {
        const typed = event.currentTarget.value
        if (typed === '') return onChange(undefined)
        const time = new Date(typed)
        if (time.getFullYear() >= FIRST_YEAR) onChange(time.toISOString())
      }}
    />
  )
}

/** A time as the field has it: local, without a zone. */
function localText(iso: string): string {
  const time = new Date(iso)
  return new Date(time.getTime() - time.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 19)
}
