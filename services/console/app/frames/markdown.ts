import type { ShownDocument } from '../parts/frame-messages.ts'
import { sanitized } from '../parts/sanitized.ts'
import type { View } from './view.ts'

/** Shows Markdown. */
export function showMarkdown({ text }: ShownDocument, root: HTMLElement): View {
  root.className = 'prose'
  root.replaceChildren(sanitized(text))
  const ids = new Map<string, number>()
  for (const heading of root.querySelectorAll('h1, h2, h3, h4, h5, h6')) heading.id = slugOf(heading, ids)
  for (const block of root.querySelectorAll<HTMLElement>('pre, table')) block.tabIndex = 0
  return {}
}

/** The name of a heading in links, as on GitHub. */
function slugOf({ textContent }: Element, ids: Map<string, number>): string {
  const slug = (textContent ?? '')
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
  const count = ids.get(slug) ?? 0
  ids.set(slug, count + 1)
  return count === 0 ? slug : `${slug}-${count}`
}
