import highlight from 'highlight.js/lib/core'
import graphql from 'highlight.js/lib/languages/graphql'
import json from 'highlight.js/lib/languages/json'
import protobuf from 'highlight.js/lib/languages/protobuf'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import type { OperationPlace, ShownDocument } from '../parts/frame-messages.ts'
import type { View } from './view.ts'

for (const [name, language] of Object.entries({ graphql, json, protobuf, xml, yaml }))
  highlight.registerLanguage(name, language)

/** Characters that are shown of a document, and of one with colours. */
const MOST_SHOWN = 4_194_304
const MOST_COLOURED = 1_048_576
/** Lines of a block. The browser lays out only the visible blocks. */
const BLOCK = 200

/** Shows the source of a document with colours. */
export function showSource({ kind, text }: ShownDocument, root: HTMLElement): View {
  const readable = formatted(text)
  const shown = readable.slice(0, MOST_SHOWN)
  const language = languageOf(kind, readable)
  const markup =
    shown.length <= MOST_COLOURED ? highlight.highlight(shown, { language }).value : escaped(shown)
  root.className = 'source'
  root.replaceChildren(...blocksOf(linesOf(markup)))
  if (shown.length < readable.length) {
    const note = document.createElement('p')
    note.textContent = 'Only the first 4 MiB are shown. Download the document for the rest.'
    root.prepend(note)
  }
  return { open: operation => openLine(root, lineOf(readable, operation)) }
}

/** JSON on few lines is hard to read. */
function formatted(text: string): string {
  if (!/^\s*[{[]/.test(text) || (text.match(/\n/g)?.length ?? 0) > text.length / 500) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function languageOf(kind: string, text: string): string {
  if (/^\s*[{[]/.test(text)) return 'json'
  if (/^\s*</.test(text)) return 'xml'
  return kind === 'graphql' || kind === 'protobuf' ? kind : 'yaml'
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** The lines of coloured text. An element that spans lines is closed and opened again. */
function linesOf(markup: string): string[] {
  const open: string[] = []
  return markup.split('\n').map(line => {
    const before = open.join('')
    for (const [tag] of line.matchAll(/<\/?span[^>]*>/g)) {
      if (tag.startsWith('</')) open.pop()
      else open.push(tag)
    }
    return before + line + '</span>'.repeat(open.length)
  })
}

function blocksOf(lines: readonly string[]): HTMLElement[] {
  return Array.from({ length: Math.ceil(lines.length / BLOCK) }, (_, index) => {
    const some = lines.slice(index * BLOCK, (index + 1) * BLOCK)
    const numbers = document.createElement('pre')
    numbers.ariaHidden = 'true'
    numbers.textContent = some.map((_, at) => index * BLOCK + at + 1).join('\n')
    const code = document.createElement('pre')
    code.innerHTML = some.join('\n')
    const block = document.createElement('div')
    block.style.setProperty('--lines', String(some.length))
    block.append(numbers, code)
    return block
  })
}

/** The line of an operation: that of its name after the name of its type or service. */
function lineOf(text: string, { path }: OperationPlace): number {
  const lines = text.split('\n')
  let from = 0
  for (const word of path.split(/[./]/).filter(word => /\w/.test(word))) {
    const pattern = new RegExp(`\\b${word.replaceAll(/\W/g, '\\$&')}\\b`)
    const found = lines.findIndex((line, at) => at >= from && pattern.test(line))
    if (found >= 0) from = found
  }
  return from
}

function openLine(root: HTMLElement, line: number): void {
  const block = root.querySelectorAll<HTMLElement>(':scope > div')[Math.floor(line / BLOCK)]
  if (!block) return
  block.scrollIntoView()
  window.scrollBy(
    0,
    ((line % BLOCK) - 5) * (block.clientHeight / Number(block.style.getPropertyValue('--lines'))),
  )
}
