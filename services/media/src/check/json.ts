import { visit } from 'jsonc-parser'
import { invalid } from './checked.ts'
import { placeAll, type Wanted } from './pointer.ts'
import { placeIn } from './text.ts'

/** @throws DocumentInvalid for wrong syntax, for duplicate keys and for more than `maxDepth` levels */
export function readJson(source: string, maxDepth: number): unknown {
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch (error) {
    throw jsonFault(source, error as Error)
  }
  requireUniqueKeys(source, maxDepth)
  return value
}

/** JSON.parse accepts duplicate keys, which parsers resolve differently. */
function requireUniqueKeys(source: string, maxDepth: number): void {
  /** Those of the open objects, and nothing for open arrays. */
  const keys: (Set<string> | undefined)[] = []
  const begin = (found?: Set<string>) => {
    if (keys.push(found) > maxDepth) throw invalid(`the document is more than ${maxDepth} levels deep`)
  }
  const end = () => void keys.pop()
  visit(source, {
    onObjectBegin: () => begin(new Set()),
    onObjectProperty(name, _offset, _length, line, character) {
      const known = keys.at(-1)
      if (known?.has(name)) throw invalid('duplicated mapping key', { line: line + 1, column: character + 1 })
      known?.add(name)
    },
    onObjectEnd: end,
    onArrayBegin: () => begin(),
    onArrayEnd: end,
  })
}

/** Offsets of the values at JSON Pointers, or of the nearest value around each. A member has that of its key. */
export function offsetsInJson(source: string, root: Wanted): Map<string, number> {
  const offsets = new Map<string, number>()
  const open: { wanted: Wanted | undefined; index: number }[] = []
  let key: { wanted: Wanted | undefined; offset: number } | undefined
  const value = (offset: number) => {
    const parent = open.at(-1)
    const wanted = key ? key.wanted : parent ? parent.wanted?.get(String(parent.index++)) : root
    if (wanted) placeAll(offsets, wanted, key?.offset ?? offset)
    key = undefined
    return wanted
  }
  const begin = (offset: number) => void open.push({ wanted: value(offset), index: 0 })
  const end = () => void open.pop()
  visit(source, {
    onObjectBegin: begin,
    onObjectProperty(name, offset) {
      key = { wanted: open.at(-1)?.wanted?.get(name), offset }
    },
    onObjectEnd: end,
    onArrayBegin: begin,
    onArrayEnd: end,
    onLiteralValue: (_value, offset) => void value(offset),
  })
  return offsets
}

/** V8 names the place in all messages but two. */
function jsonFault(source: string, { message }: Error): Error {
  const [, position] = / at position (\d+)/.exec(message) ?? []
  const reason = message.replace(/ in JSON at position .*$|, ["\n.].* is not valid JSON$/gs, '')
  const at = position ?? (UNEXPECTED.test(message) ? unexpectedAt(source) : source.length)
  return invalid(reason, placeIn(source, Number(at)))
}

const UNEXPECTED = /^Unexpected token/

/** The shortest beginning of the source that has the token, without it. */
function unexpectedAt(source: string): number {
  const hasToken = (length: number) => {
    try {
      JSON.parse(source.slice(0, length))
      return false
    } catch (error) {
      return UNEXPECTED.test((error as Error).message)
    }
  }
  let [without, within] = [0, source.length]
  while (within - without > 1) {
    const middle = (without + within) >> 1
    if (hasToken(middle)) within = middle
    else without = middle
  }
  return without
}
