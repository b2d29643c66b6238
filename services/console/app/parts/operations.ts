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

/**
 * The operations that fit words best: those with a word in the name of a resource, then in the path, then elsewhere; of these
 * first those whose description begins with the first word, e.g. with "create".
 */
export function bestOf<Found extends Pick<Operation, 'path' | 'operationId' | 'summary'>>(
  operations: readonly Found[],
  words: string,
): Found[] {
  const wanted = words.toLowerCase().match(/\S+/g) ?? []
  const rank = (operation: Found) => {
    const path = operation.path.toLowerCase()
    const names = path.split('/').filter(part => part !== '' && !part.startsWith('{'))
    const about = aboutOf(operation).toLowerCase().split(/\W+/)
    if (wanted.some(word => names.at(-1)?.startsWith(word))) return 0
    if (wanted.some(word => names.some(name => name.startsWith(word)))) return 1
    if (wanted.some(word => about.some(name => name.startsWith(word)))) return 2
    return 3
  }
  const [first = ''] = wanted
  const ranked = operations.map(operation => ({
    operation,
    rank: rank(operation),
    begins: Number(!aboutOf(operation).toLowerCase().startsWith(first)),
  }))
  return ranked
    .sort(
      (a, b) => a.rank - b.rank || a.begins - b.begins || a.operation.path.length - b.operation.path.length,
    )
    .map(({ operation }) => operation)
}

/** Where a text has words, in ascending order and without overlaps. */
export function rangesOf(text: string, words: string): number[][] {
  const escaped = words.match(/\S+/g)?.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  if (!escaped) return []
  const found = text.matchAll(new RegExp(escaped.join('|'), 'gi'))
  return [...found].map(({ index, 0: { length } }) => [index, index + length])
}
