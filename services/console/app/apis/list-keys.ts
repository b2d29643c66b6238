import type { KeyboardEvent } from 'react'
import type { Api } from './search.ts'
import type { Selecting } from './selection.ts'

interface ListKeys {
  /** Index of the active row. */
  active: number
  total: number
  /** Rows of a screenful. Only asked for when a key is pressed: reading the height of an element takes a layout. */
  pageLength: () => number
  selecting: Selecting | undefined
  row: (index: number) => Api | undefined
  onMove: (index: number) => void
  onOpen: (api: Api) => void
}

/**
 * The keys of the grid: arrows, Page Up, Page Down, Home and End move; Enter opens; Space selects; with Shift a range is
 * selected; Ctrl+A selects all loaded rows; Escape ends the selection.
 */
export function useListKeys({ active, total, pageLength, selecting, row, onMove, onOpen }: ListKeys) {
  const targetOf = (key: string): number | undefined => {
    if (key === 'ArrowDown') return active + 1
    if (key === 'ArrowUp') return active - 1
    if (key === 'PageDown') return active + pageLength()
    if (key === 'PageUp') return active - pageLength()
    if (key === 'Home') return 0
    if (key === 'End') return total - 1
    return undefined
  }
  const actions: Readonly<Record<string, (api: Api) => void>> = {
    Enter: onOpen,
    ...(selecting && { ' ': (api: Api) => selecting.toggle(active, api) }),
  }
  const pressed = ({ key, shiftKey, ctrlKey, metaKey }: KeyboardEvent): boolean => {
    const target = targetOf(key)
    const api = row(active)
    if (target !== undefined) {
      const index = Math.min(Math.max(target, 0), total - 1)
      onMove(index)
      if (shiftKey) selecting?.extend(index)
      return true
    }
    if (key === 'a' && (ctrlKey || metaKey) && selecting) {
      selecting.toggleLoaded(true)
      return true
    }
    if (key === 'Escape' && selecting) {
      selecting.clear()
      return true
    }
    const action = actions[key]
    if (action && api) action(api)
    return action !== undefined
  }
  return (event: KeyboardEvent) => {
    // The buttons in the header handle their own keys.
    if (event.target === event.currentTarget && pressed(event)) event.preventDefault()
  }
}
