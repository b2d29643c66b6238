import type { AnyRouter } from '@tanstack/react-router'

/**
 * Follows the main heading of the page. The title of the document repeats it. After a navigation to a page with another
 * heading it has the focus, so that a screen reader reads it and the next Tab goes into the page.
 */
export function followHeadings(router: AnyRouter): void {
  let shown: HTMLElement | null = null
  let text = ''
  let moving = false
  const look = () => {
    const heading = document.querySelector('h1')
    const next = heading?.textContent ?? ''
    if (heading === shown && next === text) return
    shown = heading
    text = next
    document.title = next ? `${next} · Gantry` : 'Gantry'
    if (!heading || !moving) return
    moving = false
    focus(heading)
  }
  router.subscribe('onBeforeLoad', ({ fromLocation, pathChanged }) => {
    // The first page is read from its beginning. A change of filters leaves the focus where it is.
    moving = fromLocation !== undefined && pathChanged
  })
  router.subscribe('onResolved', () => {
    look()
    // A tab of the same page has opened.
    if (shown) moving = false
  })
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true })
}

function focus(heading: HTMLElement) {
  // The person has begun to type meanwhile.
  if (document.activeElement?.matches('input, textarea')) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}
