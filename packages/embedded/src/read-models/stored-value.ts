import type { Scalar } from '@gantry/read-models'

/** What the index in the file has for a scalar. SQLite orders null, numbers, texts, blobs: as queries order values. */
export type StoredValue = null | number | string | Uint8Array

const FALSE = Uint8Array.of(0)
const TRUE = Uint8Array.of(1)

export const storedScalar = (value: Scalar): StoredValue =>
  typeof value === 'boolean' ? (value ? TRUE : FALSE) : typeof value === 'string' ? storedText(value) : value

const BEYOND = 0x2800

/**
 * A text whose UTF-8 bytes have the order of the string's code units: each unit from U+D800 on, in a pair or not,
 * becomes a code point above U+FFFF.
 */
export const storedText = (text: string): string =>
  text.replace(/[\ud800-\uffff]/g, unit => String.fromCodePoint(unit.charCodeAt(0) + BEYOND))

/** The same without NUL, at which the tokenizer would stop. */
export const searchedText = (text: string): string =>
  storedText(text).replaceAll('\0', String.fromCodePoint(0x10000 + BEYOND))
