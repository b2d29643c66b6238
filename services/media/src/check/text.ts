import { invalid } from './checked.ts'

export interface Place {
  line: number
  column: number
}

/** The line and column, from 1, of an offset in a text. */
export const placeIn = (text: string, offset: number): Place => {
  const before = text.slice(0, Math.max(0, offset))
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') }
}

/** The places of many offsets, which are in ascending order, in one pass. */
export function placesIn(text: string, offsets: readonly number[]): Place[] {
  let line = 1
  let start = 0
  // Looked up once for each line: a document may be one line of 20 MiB.
  let end = text.indexOf('\n')
  return offsets.map(offset => {
    while (end !== -1 && end < offset) {
      line++
      start = end + 1
      end = text.indexOf('\n', start)
    }
    return { line, column: offset - start + 1 }
  })
}

const UTF8 = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii'])

/** The text of bytes, and why they are not UTF-8, if they are not. Undefined for bytes that are no text. */
export interface Decoded {
  text: string
  fault?: string
  /** Offset of the fault in the text. */
  at?: number
}

/**
 * Decodes bytes as UTF-8, the encoding of all kinds. Text in UTF-16 is decoded too, so that its kind can be told before it is
 * refused.
 */
export function decode(bytes: Uint8Array, charset?: string): Decoded | undefined {
  const [first, second] = bytes
  const utf16 = utf16Of(first, second, bytes)
  if (utf16)
    return { text: new TextDecoder(utf16).decode(bytes), fault: 'is UTF-16; it must be UTF-8', at: 0 }
  if (bytes.subarray(0, 8_192).includes(0)) return undefined
  if (charset !== undefined && !UTF8.has(charset.toLowerCase()))
    return {
      text: new TextDecoder().decode(bytes),
      fault: `was sent with the charset ${charset}; it must be UTF-8`,
      at: 0,
    }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    const text = new TextDecoder().decode(bytes)
    return { text, fault: 'has bytes that are not UTF-8', at: text.indexOf('\ufffd') }
  }
}

function utf16Of(first: number | undefined, second: number | undefined, bytes: Uint8Array) {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  // Text in the Basic Latin block without a byte order mark, as YAML 1.2 §5.2 and JSON's older RFC 4627 §3 detect it.
  if (first !== undefined && first > 8 && first < 128 && second === 0 && bytes[3] === 0) return 'utf-16le'
  if (first === 0 && second !== undefined && second > 8 && second < 128 && bytes[2] === 0) return 'utf-16be'
  return undefined
}

/** @throws DocumentInvalid when the text was not UTF-8 */
export function requireUtf8({ text, fault, at = 0 }: Decoded): string {
  if (fault !== undefined) throw invalid(`the document ${fault}`, placeIn(text, at))
  return text
}
