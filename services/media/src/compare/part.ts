import { isObject, objectOf } from '../check/checked.ts'
import { escaped, unescaped } from '../check/pointer.ts'
import { resolve } from '../check/references.ts'

/** A value in a document, with its JSON Pointer. */
export interface Part {
  root: unknown
  value: unknown
  pointer: string
}

const MAX_REFERENCES = 100

export const rootOf = (root: unknown): Part => ({ root, value: root, pointer: '' })

export const child = ({ root, value, pointer }: Part, key: string | number): Part => ({
  root,
  value:
    typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? (value as Record<string, unknown>)[key]
      : undefined,
  pointer: `${pointer}/${escaped(String(key))}`,
})

/** The members of an object or the elements of an array; none of other values. */
export const children = (part: Part): [key: string, part: Part][] =>
  typeof part.value === 'object' && part.value !== null
    ? Object.keys(part.value).map(key => [key, child(part, key)])
    : []

export const members = (part: Part): Record<string, unknown> => objectOf(part.value)

/** What a part refers to. A reference to another file, to nothing or to itself stays as it is. */
export function resolved(part: Part): Part {
  let at = part
  for (let count = 0; count < MAX_REFERENCES; count++) {
    const reference = referenceOf(at)
    if (!reference?.startsWith('#')) return at
    const value = resolve(at.root, reference)
    if (value === undefined) return at
    at = { root: at.root, value, pointer: pointerOf(reference) }
  }
  return part
}

export const referenceOf = ({ value }: Part): string | undefined =>
  isObject(value) && typeof value.$ref === 'string' ? value.$ref : undefined

/** The pointer of a reference, which is a fragment of a URI (RFC 6901 §6). */
const pointerOf = (reference: string) =>
  reference
    .slice(1)
    .split('/')
    .map(token => {
      try {
        return escaped(unescaped(decodeURIComponent(token)))
      } catch {
        return token
      }
    })
    .join('/')
