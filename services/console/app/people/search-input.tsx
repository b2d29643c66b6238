import { TextInput, type TextInputProps } from '@mantine/core'
import { useState } from 'react'
import { useTypingPause } from '../parts/typing-pause.ts'

const PAUSE_MS = 200

interface SearchInputProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  value: string
  onSearch: (value: string) => void
}

/** A search as you type. It reports what was typed after a pause, and follows a value that changes elsewhere. */
export function SearchInput({ value, onSearch, ...props }: SearchInputProps) {
  const [typed, setTyped] = useState(value)
  const [known, setKnown] = useState(value)
  const report = useTypingPause(onSearch, PAUSE_MS)
  if (value !== known) {
    setKnown(value)
    // What is typed meanwhile stays: it is reported later.
    if (!typed.startsWith(value) || value === '') setTyped(value)
  }
  const change = (next: string) => {
    setTyped(next)
    report(next)
  }
  return (
    <TextInput {...props} type="search" value={typed} onChange={event => change(event.currentTarget.value)} />
  )
}
