import DOMPurify from 'dompurify'
import { marked } from 'marked'

/** What a text may contain: no scripts, styles, forms or frames, and no images of other hosts. */
const ALLOWED = {
  USE_PROFILES: { html: true },
  RETURN_DOM_FRAGMENT: true as const,
  FORBID_TAGS: ['style', 'form', 'input', 'button', 'select', 'textarea', 'video', 'audio', 'source', 'map'],
  FORBID_ATTR: ['style', 'class', 'srcset', 'background', 'ping', 'target', 'id', 'name'],
}

/** Markdown as elements that neither run nor load anything. An image of another host becomes a link. */
export function sanitized(text: string, breaks = false): DocumentFragment {
  const content = DOMPurify.sanitize(marked.parse(text, { async: false, breaks }), ALLOWED)
  for (const image of content.querySelectorAll('img')) if (!image.src.startsWith('data:')) replace(image)
  return content
}

/** An image of another host is not loaded. A link shows where it is. */
function replace(image: HTMLImageElement): void {
  const link = document.createElement('a')
  link.href = image.src
  link.textContent = `Image: ${image.alt || image.src}`
  if (image.closest('a')) image.replaceWith(link.textContent)
  else image.replaceWith(link)
}
