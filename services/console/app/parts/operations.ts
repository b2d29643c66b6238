import type { Schemas } from '../http/schemas.ts'
import { plainText } from './plain-text.ts'

export type Operation = Schemas['Operation']

/** The state of the page of an API that shows an operation in its document. */
export const documentationOf = ({ version, document, method, path }: Operation) =>
  ({ tab: 'documentation', version, document, operation: `${method} ${path}` }) as const

/** The path of the console that shows an operation in its document. */
export const pathOf = (operation: Operation): string =>
  `/apis/${operation.api}?${new URLSearchParams(documentationOf(operation))}`

/** What an operation does in words, without marks of Markdown and HTML. */
export const aboutOf = ({ summary, operationId }: Pick<Operation, 'summary' | 'operationId'>): string =>
  plainText(summary ?? operationId ?? '').text

/** Where a text has words, in ascending order and without overlaps. */
export function rangesOf(text: string, words: string): number[][] {
  const escaped = words.match(/\S+/g)?.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  if (!escaped) return []
  const found = text.matchAll(new RegExp(escaped.join('|'), 'gi'))
  return [...found].map(({ index, 0: { length } }) => [index, index + length])
}
