import { TextInput, type TextInputProps } from '@mantine/core'
import { useState } from 'react'
import { fromLocalInput, secondOf, toLocalInput } from './local-time.ts'

interface TimeFieldProps extends Omit<TextInputProps, 'label' | 'value' | 'onChange' | 'type'> {
  label: string
  /** ISO 8601; undefined without a time. */
  value: string | undefined
  /** Called with ISO 8601 in UTC, and with undefined when the time is removed or incomplete. */
  onChange: (value: string | undefined) => void
}

const { timeZone } = Intl.DateTimeFormat().resolvedOptions()

const BELOW = ['label', 'input', 'description', 'error'] as const

/** A smaller year is incomplete: its first digits have been typed. */
const FIRST_YEAR = 1970

/**
 * A field for a date and a time of day in the time zone of the person, which its label names. Browsers write it as their
 * locale does, so the time is below the field as lists have it.
 */
export function TimeField({ label, value, onChange, ...props }: TimeFieldProps) {
  // The text while it is not a time to report. The field keeps it, so that its year can be typed digit by digit.
  const [unfinished, setUnfinished] = useState<string>()
  return (
    <TextInput
      {...props}
      {...(value && { description: secondOf(value), inputWrapperOrder: [...BELOW] })}
      label={`${label} (${timeZone})`}
      type="datetime-local"
      step={1}
      value={unfinished ?? toLocalInput(value)}
      onChange={event => {
        const typed = event.currentTarget.value
        const isComplete = typed === '' || new Date(typed).getFullYear() >= FIRST_YEAR
        setUnfinished(isComplete ? undefined : typed)
        if (isComplete) onChange(fromLocalInput(typed))
      }}
      onBlur={() => setUnfinished(undefined)}
    />
  )
}
