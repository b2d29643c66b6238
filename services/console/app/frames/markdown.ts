import DOMPurify from 'dompurify'
import { marked } from 'marked'
import type { ShownDocument } from '../parts/frame-messages.ts'
import type { View } from './view.ts'

/** What a text may contain: no scripts, styles, forms or frames, and no images of other hosts. */
const ALLOWED = {
  USE_PROFILES: { html: true },
  RETURN_DOM_FRAGMENT: true as const,
  FORBID_TAGS: ['style', 'form', 'input', 'button', 'select', 'textarea', 'video', 'audio', 'source', 'map'],
  FORBID_ATTR: ['style', 'class', 'srcset', 'background', 'ping', 'target', 'id', 'name'],
}

/** Shows Markdown. */
export function showMarkdown({ text }: ShownDocument, root: HTMLElement): View {
  root.className = 'prose'
  const content = DOMPurify.sanitize(marked.parse(text, { async: false }), ALLOWED)
  for (const image of content.querySelectorAll('img')) if (!image.src.startsWith('data:')) replace(image)
  root.replaceChildren(content)
  const ids = new Map<string, number>()
  for (const heading of root.querySelectorAll('h1, h2, h3, h4, h5, h6')) heading.id = slugOf(heading, ids)
  for (const block of root.querySelectorAll<HTMLElement>('pre, table')) block.tabIndex = 0
  return {}
}

/** An image of another host is not loaded. A link shows where it is. */
function replace(image: HTMLImageElement): void {
  const link = document.createElement('a')
  link.href = image.src
  link.textContent = `Image: ${image.alt || image.src}`
  if (image.closest('a')) image.replaceWith(link.textContent)
  else image.replaceWith(link)
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
