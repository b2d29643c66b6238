import { escaped, unescaped } from './pointer.ts'
import type { Found } from './schema.ts'

/** What a reference inside the document refers to; undefined for nothing, and for other files. */
export function resolve(document: unknown, reference: string): unknown {
  if (!reference.startsWith('#/')) return reference === '#' ? document : undefined
  let at = document
  for (const token of reference.slice(2).split('/').map(decoded)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, token)) return undefined
    at = (at as Record<string, unknown>)[token]
  }
  return at
}

/** A token of a JSON Pointer in the fragment of a URI (RFC 6901 §6). */
function decoded(token: string): string {
  try {
    return unescaped(decodeURIComponent(token))
  } catch {
    return token
  }
}

/** Members whose values are data and not parts of the document. */
export const DATA = new Set(['example', 'examples', 'default', 'enum', 'const', 'value'])

/** References inside the document to nothing. */
export function lostReferences(document: Record<string, unknown>): Found[] {
  const found: Found[] = []
  const resolved = new Map<string, boolean>()
  const visit = (value: unknown, pointer: string) => {
    if (typeof value !== 'object' || value === null || found.length >= 100) return
    for (const [key, part] of Object.entries(value)) {
      const at = `${pointer}/${escaped(key)}`
      if (key === '$ref' && typeof part === 'string' && part.startsWith('#/')) {
        const known = resolved.get(part) ?? resolve(document, part) !== undefined
        resolved.set(part, known)
        const message = `refers to ${part.slice(0, 200)}, which does not exist`
        if (!known) found.push({ severity: 'ERROR', code: 'unresolved-reference', message, pointer: at })
      } else if (!DATA.has(key) && !key.startsWith('x-')) visit(part, at)
    }
  }
  visit(document, '')
  return found
}
