import type { Scalar } from '@gantry/read-models'

/**
 * The form of a scalar in the index in the file. SQLite orders null, numbers, texts, blobs: the order of values in queries.
 */
export type StoredValue = null | number | string | Uint8Array

const FALSE = Uint8Array.of(0)
const TRUE = Uint8Array.of(1)

export const storedScalar = (value: Scalar): StoredValue =>
  typeof value === 'boolean' ? (value ? TRUE : FALSE) : typeof value === 'string' ? storedText(value) : value

const BEYOND = 0x2800

/**
 * Transforms a text so that the order of its UTF-8 bytes equals the order of the code units of the original. Each code unit
 * from U+D800 on, paired or not, becomes a code point above U+FFFF.
 */
export const storedText = (text: string): string =>
  text.replace(/[\ud800-\uffff]/g, unit => String.fromCodePoint(unit.charCodeAt(0) + BEYOND))

/** The scalar, other than null, of a stored value. */
export function readScalar(stored: unknown): string | number | boolean {
  if (stored instanceof Uint8Array) return stored[0] === 1
  if (typeof stored === 'number') return stored
  return String(stored).replace(/[\u{10000}-\u{127ff}]/gu, shifted =>
    String.fromCharCode((shifted.codePointAt(0) ?? 0) - BEYOND),
  )
}

/** Like `storedText`, but with NUL replaced, because the tokenizer would stop there. */
export const searchedText = (text: string): string =>
  storedText(text).replaceAll('\0', String.fromCodePoint(0x10000 + BEYOND))
