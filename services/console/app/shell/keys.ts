import { useLocalStorage } from '@mantine/hooks'
import { useEffect, useEffectEvent } from 'react'

/**
 * Whether shortcuts of a single character work. They can be turned off, because speech input may type them by accident
 * (WCAG 2.1.4).
 */
export const useSingleKeys = () =>
  useLocalStorage({ key: 'gantry.single-keys', defaultValue: true, getInitialValueInEffect: false })

/** Calls a function for Ctrl and K, or Command and K, also inside inputs. */
export function usePaletteKey(call: () => void): void {
  useKeyDown(event => {
    if (
      event.key.toLowerCase() !== 'k' ||
      !(event.ctrlKey || event.metaKey) ||
      event.altKey ||
      event.shiftKey
    )
      return
    event.preventDefault()
    call()
  })
}

/** Calls a function when a character is typed outside of inputs and dialogs, wherever it is on the keyboard. */
export function useSingleKey(character: string, call: () => void): void {
  const [enabled] = useSingleKeys()
  useKeyDown(event => {
    if (!enabled || event.key !== character || event.ctrlKey || event.metaKey || event.altKey) return
    const { target } = event
    if (
      target instanceof HTMLElement &&
      (target.isContentEditable || target.matches('input, textarea, select'))
    )
      return
    if (document.querySelector('[role="dialog"]')) return
    event.preventDefault()
    call()
  })
}

function useKeyDown(handle: (event: KeyboardEvent) => void): void {
  const onKeyDown = useEffectEvent(handle)
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event)
    document.addEventListener('keydown', listener)
    return () => document.removeEventListener('keydown', listener)
  }, [])
}
