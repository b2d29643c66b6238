import { Autocomplete, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTypingPause } from './typing-pause.ts'

const TYPING_MS = 250

interface TextFilterProps {
  label: string
  /** The text in the URL. */
  value: string | undefined
  onChange(value: string | undefined): void
  placeholder?: string
  type?: 'search'
  /** Values that are proposed; others can be typed. */
  proposals?: readonly string[]
}

/** A filter by a text that takes effect while the person types. */
export function TextFilter({ label, value = '', onChange, placeholder, type, proposals }: TextFilterProps) {
  const [typed, setTyped] = useState(value)
  const [sent, setSent] = useState(value)
  const [seen, setSeen] = useState(value)
  if (value !== seen) {
    setSeen(value)
    // The URL has changed otherwise, e.g. with the button "Back".
    if (value !== sent) {
      setTyped(value)
      setSent(value)
    }
  }
  const send = useTypingPause((text: string) => {
    setSent(text)
    onChange(text === '' ? undefined : text)
  }, TYPING_MS)
  const change = (text: string) => {
    setTyped(text)
    send(text.trim())
  }
  if (proposals)
    return (
      <Autocomplete
        label={label}
        placeholder={placeholder}
        data={[...proposals]}
        value={typed}
        onChange={change}
        limit={30}
        clearable
        clearButtonProps={{ 'aria-label': `Clear ${label}` }}
      />
    )
  return (
    <TextInput
      type={type}
      label={label}
      placeholder={placeholder}
      value={typed}
      onChange={event => change(event.currentTarget.value)}
    />
  )
}
