import { useDebouncedCallback } from '@mantine/hooks'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'

/** Pause in typing after which a text takes effect. */
const PAUSE_MS = 200

/**
 * The text of a field that changes the URL while the person types. It follows a URL that something else changes.
 * @param value the text in the URL
 * @param onChange called after a pause in typing, with the text without spaces around it; undefined for no text
 * @returns the text as it is typed, and what changes it
 */
export function useTypedText(
  value: string | undefined,
  onChange: (text: string | undefined) => void,
): [typed: string, change: (text: string) => void] {
  const stored = value ?? ''
  const [typed, setTyped] = useState(stored)
  const [sent, setSent] = useState(stored)
  const [seen, setSeen] = useState(stored)
  if (stored !== seen) {
    setSeen(stored)
    // The URL has changed otherwise, e.g. with the button "Back". What was typed since the last pause stays.
    if (stored !== sent) {
      setTyped(stored)
      setSent(stored)
    }
  }
  const send = useTypingPause(text => {
    setSent(text)
    onChange(text === '' ? undefined : text)
  })
  return [
    typed,
    text => {
      setTyped(text)
      send(text.trim())
    },
  ]
}

/**
 * Calls back after a pause in typing. While another page is being opened it does not: the callback changes the URL, which
 * would replace the navigation to that page.
 */
function useTypingPause(callback: (text: string) => void): (text: string) => void {
  const router = useRouter()
  return useDebouncedCallback((text: string) => {
    const { location, resolvedLocation = location } = router.state
    if (location.pathname === resolvedLocation.pathname) callback(text)
  }, PAUSE_MS)
}
