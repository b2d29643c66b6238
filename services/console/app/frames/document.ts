import './document.css'
import type { FromFrame, OperationPlace, ShownDocument, Theme, ToFrame } from '../parts/frame-messages.ts'
import { settle } from './requests.ts'
import type { View } from './view.ts'

let view: View = {}

const tell = (message: FromFrame) => window.parent.postMessage(message, '*')

async function viewOf(
  document: ShownDocument,
  root: HTMLElement,
  theme: Theme,
  unfolded: boolean,
): Promise<View> {
  if (document.kind === 'openapi')
    return (await import('./openapi.ts')).showOpenApi(root, { document, theme, unfolded })
  if (document.kind === 'asyncapi') return (await import('./asyncapi.ts')).showAsyncApi(document, root)
  if (document.kind === 'markdown') return (await import('./markdown.ts')).showMarkdown(document, root)
  return (await import('./source.ts')).showSource(document, root)
}

async function show(document: ShownDocument, theme: Theme, operation?: OperationPlace): Promise<void> {
  const root = window.document.getElementById('document')
  if (!root) return
  try {
    view = await viewOf(document, root, theme, operation !== undefined)
    if (operation) view.open?.(operation)
    tell({ type: 'shown' })
  } catch (error) {
    tell({ type: 'failed', reason: error instanceof Error ? error.message : String(error) })
  }
}

function setTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
  view.theme?.(theme)
}

window.addEventListener('message', ({ source, origin, data }: MessageEvent<ToFrame>) => {
  if (source !== window.parent || origin !== window.location.origin) return
  if (data.type === 'show') {
    setTheme(data.theme)
    void show(data.document, data.theme, data.operation)
  } else if (data.type === 'theme') setTheme(data.theme)
  else if (data.type === 'open') view.open?.(data.operation)
  else settle(data.id, data.response)
})

// The console shows where a link leads before it opens it. A frame of its own could not open it.
document.addEventListener(
  'click',
  event => {
    const link = event.composedPath().find(target => target instanceof HTMLAnchorElement)
    if (!link?.hasAttribute('href') || link.getAttribute('href')?.startsWith('#')) return
    event.preventDefault()
    tell({ type: 'link', href: link.href })
  },
  true,
)

tell({ type: 'ready' })
