import type { MouseEvent, ReactNode } from 'react'
import { CONSOLE_PATH } from '../http/place.ts'

interface PlainLinkProps {
  /** Path in the console, e.g. `/apis/…`. */
  to: string
  className: string | undefined
  onOpen: () => void
  children: ReactNode
}

/**
 * A link in a row of the list of APIs: links of the router take too long to render while the list scrolls. The keyboard has
 * the keys of the list instead.
 */
export function PlainLink({ to, className, onOpen, children }: PlainLinkProps) {
  const open = (event: MouseEvent) => {
    // The browser opens new tabs and windows.
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    onOpen()
  }
  return (
    <a className={className} href={CONSOLE_PATH.slice(0, -1) + to} tabIndex={-1} onClick={open}>
      {children}
    </a>
  )
}
