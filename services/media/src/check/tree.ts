import {
  CORE_SCHEMA,
  constructFromEvents,
  EVENT_ID,
  type Event,
  getScalarValue,
  mergeTag,
  parseEvents,
  YAMLException,
} from 'js-yaml'
import { invalid } from './checked.ts'
import { type Place, placeIn, placesIn } from './text.ts'

/** A document in JSON or YAML. */
export interface Tree {
  syntax: 'json' | 'yaml'
  value: unknown
  /** Places of the values at JSON Pointers, or of the nearest value around each that has one. */
  locate(pointers: readonly string[]): Map<string, Place>
}

const SCHEMA = CORE_SCHEMA.withTags(mergeTag)
const MAX_DEPTH = 500
const MAX_ALIASES = 10_000
/** Maximum number of values after the aliases of YAML are expanded. */
const MAX_VALUES = 5_000_000

/** Reads JSON or YAML. What begins like an object of JSON is not YAML in flow style. @throws DocumentInvalid */
export function readTree(text: string): Tree {
  const source = text.replace(/^\ufeff/, '')
  return /^\s*\{\s*["}]/.test(source) ? readJson(source) : readYaml(source)
}

function readJson(source: string): Tree {
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch (error) {
    throw jsonFault(source, error as Error)
  }
  const tooDeep = depthFault(value)
  if (tooDeep) throw invalid(tooDeep)
  let events: Event[] | undefined
  try {
    // JSON is YAML. JSON.parse accepts duplicate keys, which parsers resolve differently.
    events = parseEvents(source, { maxDepth: MAX_DEPTH + 1 })
    constructFromEvents(events, { source, schema: SCHEMA, maxAliases: 0 })
  } catch (error) {
    if (isDuplicate(error)) throw yamlFault(source, error)
  }
  return { syntax: 'json', value, locate: pointers => placesOf(source, events ?? [], pointers) }
}

function readYaml(source: string): Tree {
  try {
    const events = parseEvents(source, { maxDepth: MAX_DEPTH })
    const options = { source, schema: SCHEMA, maxAliases: MAX_ALIASES, maxTotalMergeKeys: MAX_ALIASES }
    const documents = constructFromEvents(events, options)
    if (documents.length !== 1) throw invalid(`the file has ${documents.length} YAML documents, not one`)
    const [value] = documents
    requireExpandable(value)
    return { syntax: 'yaml', value, locate: pointers => placesOf(source, events, pointers) }
  } catch (error) {
    throw error instanceof YAMLException ? yamlFault(source, error) : error
  }
}

const isDuplicate = (error: unknown): error is YAMLException =>
  error instanceof YAMLException && error.reason.startsWith('duplicat')

const yamlFault = (source: string, { reason, mark }: YAMLException) => {
  if (!mark) return invalid(reason)
  const isQuoted = /["']/.test(source.charAt(mark.position - 1))
  return invalid(reason, { line: mark.line + 1, column: mark.column + (isQuoted ? 0 : 1) })
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

function depthFault(value: unknown): string | undefined {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return `the document is more than ${MAX_DEPTH} levels deep`
    level = level.flatMap(part => (typeof part === 'object' && part !== null ? Object.values(part) : []))
  }
  return undefined
}

/** Refuses values that contain themselves, and those that aliases make far larger than the text. */
function requireExpandable(root: unknown): void {
  const sizes = new Map<object, number>()
  const open = new Set<object>()
  const sizeOf = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 1
    const known = sizes.get(value)
    if (known !== undefined) return known
    if (open.has(value)) throw invalid('an alias refers to a value that contains it')
    open.add(value)
    let size = 1
    for (const part of Object.values(value)) size += sizeOf(part)
    open.delete(value)
    if (size > MAX_VALUES) throw invalid(`the aliases expand to more than ${MAX_VALUES} values`)
    sizes.set(value, size)
    return size
  }
  sizeOf(root)
}

/** Pointers as a tree: the subtree of each next token, and the pointers that end here. */
type Wanted = Map<string, Wanted> & { pointers?: string[] }

/** A member of a JSON Pointer (RFC 6901 §3). */
export const escaped = (token: string) => token.replaceAll('~', '~0').replaceAll('/', '~1')
export const unescaped = (token: string) => token.replaceAll('~1', '/').replaceAll('~0', '~')

function wantedOf(pointers: readonly string[]): Wanted {
  const root: Wanted = new Map()
  for (const pointer of pointers) {
    let at = root
    for (const token of pointer.split('/').slice(1).map(unescaped)) {
      const next: Wanted = at.get(token) ?? new Map()
      at.set(token, next)
      at = next
    }
    at.pointers = [...(at.pointers ?? []), pointer]
  }
  return root
}

function placesOf(source: string, events: readonly Event[], pointers: readonly string[]): Map<string, Place> {
  const offsets = new Map<string, number>()
  let at = 0
  const offsetOf = (event: Event): number => {
    if (event.type === EVENT_ID.SCALAR)
      return event.valueStart - (/["']/.test(source.charAt(event.valueStart - 1)) ? 1 : 0)
    return 'start' in event ? event.start : 'anchorStart' in event ? event.anchorStart : 0
  }
  /** Reads the value at the next event. @param keyAt offset of its key, which is its place in a mapping */
  const read = (wanted: Wanted | undefined, keyAt: number | undefined): void => {
    const event = events[at++]
    if (!event) return
    const offset = keyAt ?? offsetOf(event)
    const set = (part: Wanted) => {
      for (const pointer of part.pointers ?? []) offsets.set(pointer, offset)
      for (const inner of part.values()) set(inner)
    }
    if (wanted) set(wanted)
    if (event.type === EVENT_ID.MAPPING)
      while (events[at] && events[at]?.type !== EVENT_ID.POP) {
        const key = events[at] as Event
        const name = key.type === EVENT_ID.SCALAR ? getScalarValue(source, key) : undefined
        read(undefined, undefined)
        read(name === undefined ? undefined : wanted?.get(name), offsetOf(key))
      }
    else if (event.type === EVENT_ID.SEQUENCE)
      for (let index = 0; events[at] && events[at]?.type !== EVENT_ID.POP; index++)
        read(wanted?.get(String(index)), undefined)
    else return
    at++
  }
  const [first] = events
  if (first?.type === EVENT_ID.DOCUMENT) at = 1
  read(wantedOf(pointers), undefined)
  const ascending = [...offsets].toSorted(([, a], [, b]) => a - b)
  const places = placesIn(
    source,
    ascending.map(([, offset]) => offset),
  )
  return new Map(ascending.map(([pointer], index) => [pointer, places[index] as Place]))
}
