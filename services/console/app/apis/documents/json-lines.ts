/** A document as it is shown, and the line of a place in it. */
export interface Shown {
  text: string
  /** @param line the line in the document as it is stored */
  lineOf(pointer: string, line: number | null): number | null
}

/** A line that is longer is not read by people. */
const LONG = 1_000

/** Documents as they are shown: if one is on a line or has a long one, all that are JSON have a line for each value. */
export function readable(texts: readonly string[]): Shown[] {
  if (texts.every(isInLines)) return texts.map(asIs)
  return texts.map(text => {
    try {
      return spread(JSON.parse(text))
    } catch {
      return asIs(text)
    }
  })
}

function isInLines(text: string): boolean {
  const lines = text.trim().split('\n')
  return lines.length > 1 && lines.every(line => line.length <= LONG)
}

const asIs = (text: string): Shown => ({ text, lineOf: (_, line) => line })

function spread(value: unknown): Shown {
  const lengths = new WeakMap<object, number>()
  return { text: JSON.stringify(value, null, 2), lineOf: pointer => lineIn(value, pointer, lengths) }
}

/** The line of the value at a JSON Pointer, or of the nearest one around it, in JSON with a line for each value. */
function lineIn(root: unknown, pointer: string, lengths: WeakMap<object, number>): number {
  let at = root
  let line = 1
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) break
    line++
    for (const [name, value] of Object.entries(at)) {
      if (name === key) break
      line += lengthOf(value, lengths)
    }
    at = (at as Record<string, unknown>)[key]
  }
  return line
}

function lengthOf(value: unknown, lengths: WeakMap<object, number>): number {
  if (typeof value !== 'object' || value === null) return 1
  const known = lengths.get(value)
  if (known !== undefined) return known
  const parts = Object.values(value)
  const length = parts.length === 0 ? 1 : parts.reduce((sum, part) => sum + lengthOf(part, lengths), 2)
  lengths.set(value, length)
  return length
}
