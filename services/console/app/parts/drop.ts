import { type DragEvent, useState } from 'react'

/** The event handlers of a place on which files can be dropped, and whether a file is over it. */
export function useDrop(onDrop: (files: File[]) => void, enabled: boolean) {
  const [over, setOver] = useState(false)
  if (!enabled) return { over: false }
  return {
    over,
    onDragOver(event: DragEvent) {
      event.preventDefault()
      setOver(true)
    },
    onDragLeave(event: DragEvent) {
      // Also sent when the pointer goes from one element in the place to another.
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false)
    },
    onDrop(event: DragEvent) {
      event.preventDefault()
      setOver(false)
      onDrop([...event.dataTransfer.files])
    },
  }
}

/** The style of the place while a file is over it. */
export const OVER = { outline: '2px dashed var(--mantine-primary-color-filled)', outlineOffset: -4 }
