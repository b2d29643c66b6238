import { asyncApiPage } from '@gantry/markup'
import { load } from 'js-yaml'
import type { OperationPlace, ShownDocument } from '../parts/frame-messages.ts'
import type { View } from './view.ts'

/** Shows an AsyncAPI document with the page that shows that of Gantry. */
export function showAsyncApi({ text }: ShownDocument, root: HTMLElement): View {
  const document: unknown = /^\s*\{/.test(text) ? JSON.parse(text) : load(text)
  const { body, style } = asyncApiPage(Object(document), { subject: 'The application' })
  root.className = 'asyncapi'
  root.innerHTML = `<style>${style.markup}</style>${body.markup}`
  return { open: operation => open(root, operation) }
}

/** Opens the channel of an operation, whose title is its address. */
function open(root: HTMLElement, { path }: OperationPlace): void {
  const heading = [...root.querySelectorAll('h2')].find(
    heading => heading.textContent === path || heading.parentElement?.textContent?.includes(path),
  )
  heading?.scrollIntoView()
}
