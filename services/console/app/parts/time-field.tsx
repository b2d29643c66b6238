import { Group, Input, TextInput } from '@mantine/core'
import { type FocusEvent, type ReactNode, useId, useState } from 'react'
import { fromLocalInputs, type LocalTime, secondOf, toLocalInputs } from './local-time.ts'
import classes from './time-field.module.css'

interface TimeFieldProps {
  label: string
  /** ISO 8601; undefined without a time. */
  value: string | undefined
  /** Called with ISO 8601 in UTC, and with undefined when the time is removed. */
  onChange: (value: string | undefined) => void
  /** Whether a date without a time of day means the end of the day, and not its start. */
  isEnd?: boolean
  required?: boolean
  /** Shown while there is no value. */
  description?: string
  error?: ReactNode
}

const { timeZone } = Intl.DateTimeFormat().resolvedOptions()

/** A smaller year is incomplete: its first digits have been typed. */
const FIRST_YEAR = 1970

/** What was typed and is no time to report yet, and the value from which the person started. */
interface Draft extends LocalTime {
  from: string | undefined
}

/**
 * Fields for a date and a time of day in the time zone of the person, which the label names. The time of day may be left
 * out. Browsers write both as their locale does, so the time is below the fields as lists have it.
 */
export function TimeField({ label, value, onChange, isEnd = false, ...props }: TimeFieldProps) {
  const id = useId()
  const [draft, setDraft] = useState<Draft>()
  const [wrong, setWrong] = useState<string>()
  // The value may have changed elsewhere, e.g. because all filters were removed.
  const shown = draft && draft.from === value ? draft : toLocalInputs(value)
  const report = (next: LocalTime) => {
    setDraft(undefined)
    onChange(fromLocalInputs(next, isEnd))
  }
  const change = (next: LocalTime, part: keyof LocalTime, isPartial: boolean) => {
    setWrong(undefined)
    const isDated = next.date !== '' && Number(next.date.split('-')[0]) >= FIRST_YEAR
    if (isDated && (next.time !== '' || part === 'date')) report(next)
    else if (next.date === '' && part === 'date' && !isPartial) report({ date: '', time: '' })
    else setDraft({ ...next, from: value })
  }
  const onLeave = (event: FocusEvent<HTMLElement>) => {
    if (event.currentTarget.contains(event.relatedTarget)) return
    const fields = [...event.currentTarget.querySelectorAll('input')]
    const partial = fields.find(field => field.validity.badInput)
    const problem = partial ? PARTIAL[partial.type as keyof LocalTime] : problemOf(shown)
    setWrong(problem)
    if (draft && !problem) report(shown)
  }
  const field = (part: keyof LocalTime) => ({
    'aria-label': `${label} (${timeZone}): ${part}`,
    type: part,
    classNames: { input: classes.field ?? '' },
    value: shown[part],
    error: Boolean(wrong ?? props.error),
    onChange: (event: { currentTarget: HTMLInputElement }) => {
      const { value: typed, validity } = event.currentTarget
      change({ ...shown, [part]: typed }, part, validity.badInput)
    },
  })
  return (
    <Input.Wrapper
      id={id}
      label={`${label} (${timeZone})`}
      labelElement="div"
      description={value ? secondOf(value) : props.description}
      error={wrong ?? props.error}
      required={props.required ?? false}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
    >
      <Group
        role="group"
        aria-labelledby={`${id}-label`}
        aria-describedby={`${id}-error`}
        gap={4}
        onBlur={onLeave}
      >
        <TextInput {...field('date')} required={props.required ?? false} miw={0} flex="1 1 130px" />
        {/* Fields without seconds are filled faster. Those with seconds must accept them. */}
        <TextInput {...field('time')} step={shown.time.length > 5 ? 1 : 60} miw={0} flex="1 1 110px" />
      </Group>
    </Input.Wrapper>
  )
}

const PARTIAL = { date: 'Enter the whole date', time: 'Enter the whole time, or none' }

function problemOf({ date, time }: LocalTime): string | undefined {
  if (date === '') return time === '' ? undefined : 'Also choose a date'
  return Number(date.split('-')[0]) < FIRST_YEAR ? `Choose a year from ${FIRST_YEAR}` : undefined
}
