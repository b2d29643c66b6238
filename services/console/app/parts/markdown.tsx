import { useLayoutEffect, useRef } from 'react'
import classes from './markdown.module.css'
import { sanitized } from './sanitized.ts'

/** A description in Markdown. Line breaks count, because many descriptions are plain text. */
export function Markdown({ text }: { text: string }) {
  const root = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => root.current?.replaceChildren(rendered(text)), [text])
  return <div ref={root} className={classes.markdown} />
}

function rendered(text: string): DocumentFragment {
  const content = sanitized(text, true)
  // The title of the page has the first level, and its sections have the second one.
  for (const heading of content.querySelectorAll('h1, h2')) {
    const lower = document.createElement('h3')
    lower.append(...heading.childNodes)
    heading.replaceWith(lower)
  }
  for (const link of content.querySelectorAll('a')) {
    link.target = '_blank'
    link.rel = 'noreferrer'
  }
  for (const block of content.querySelectorAll<HTMLElement>('pre, table')) block.tabIndex = 0
  return content
}
