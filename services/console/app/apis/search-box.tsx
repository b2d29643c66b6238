import { Loader, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTypingPause } from '../parts/typing-pause.ts'

/** Pause in typing after which the search begins. */
const PAUSE_MS = 200

interface SearchBoxProps {
  /** The terms that are searched for. */
  value: string
  onChange: (value: string) => void
  searching: boolean
}

/** Searches as you type. The text follows the URL when something else changes it, such as the back button. */
export function SearchBox({ value, onChange, searching }: SearchBoxProps) {
  const [text, setText] = useState(value)
  const [seen, setSeen] = useState(value)
  const [sent, setSent] = useState(value)
  if (seen !== value) {
    setSeen(value)
    if (value !== sent) {
      setText(value)
      setSent(value)
    }
  }
  const send = useTypingPause((next: string) => {
    setSent(next)
    onChange(next)
  }, PAUSE_MS)
  return (
    <TextInput
      type="search"
      flex="1 1 16rem"
      aria-label="Search APIs"
      placeholder="Search names and descriptions"
      value={text}
      onChange={event => {
        setText(event.currentTarget.value)
        send(event.currentTarget.value.trim())
      }}
      rightSection={searching ? <Loader size="xs" aria-hidden /> : undefined}
    />
  )
}
