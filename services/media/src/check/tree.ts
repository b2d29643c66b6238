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
import { offsetsInJson, readJson } from './json.ts'
import { placeAll, type Wanted, wantedOf } from './pointer.ts'
import { type Place, placesIn } from './text.ts'

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
  const source = withoutMark(text)
  if (!isJson(source)) return readYaml(source)
  const value = readJson(source, MAX_DEPTH)
  return { syntax: 'json', value, locate: pointers => placesInJson(source, pointers) }
}

/** Locates values as `Tree.locate` does, in a document that was read before and whose tree would take too much memory. */
export function locate(text: string, pointers: readonly string[]): Map<string, Place> {
  const source = withoutMark(text)
  return isJson(source)
    ? placesInJson(source, pointers)
    : placesInYaml(source, parseEvents(source, { maxDepth: MAX_DEPTH }), pointers)
}

const withoutMark = (text: string) => text.replace(/^\ufeff/, '')
const isJson = (source: string) => /^\s*\{\s*["}]/.test(source)
const placesInJson = (source: string, pointers: readonly string[]) =>
  placesAt(source, offsetsInJson(source, wantedOf(pointers)))
const placesInYaml = (source: string, events: readonly Event[], pointers: readonly string[]) =>
  placesAt(source, offsetsInYaml(source, events, wantedOf(pointers)))

function readYaml(source: string): Tree {
  try {
    const events = parseEvents(source, { maxDepth: MAX_DEPTH })
    const options = { source, schema: SCHEMA, maxAliases: MAX_ALIASES, maxTotalMergeKeys: MAX_ALIASES }
    const documents = constructFromEvents(events, options)
    if (documents.length !== 1) throw invalid(`the file has ${documents.length} YAML documents, not one`)
    const [value] = documents
    // A map of all values would take a quarter of the memory of the others.
    if (events.some(({ type }) => type === EVENT_ID.ALIAS)) requireExpandable(value)
    return {
      syntax: 'yaml',
      value,
      locate: pointers => placesInYaml(source, events, pointers),
    }
  } catch (error) {
    throw error instanceof YAMLException ? yamlFault(source, error) : error
  }
}

const yamlFault = (source: string, { reason, mark }: YAMLException) => {
  if (!mark) return invalid(reason)
  const isQuoted = /["']/.test(source.charAt(mark.position - 1))
  return invalid(reason, { line: mark.line + 1, column: mark.column + (isQuoted ? 0 : 1) })
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

/** Offsets of the values at JSON Pointers, or of the nearest value around each. */
function offsetsInYaml(source: string, events: readonly Event[], root: Wanted): Map<string, number> {
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
    if (wanted) placeAll(offsets, wanted, offset)
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
  read(root, undefined)
  return offsets
}

function placesAt(source: string, offsets: ReadonlyMap<string, number>): Map<string, Place> {
  const ascending = [...offsets].toSorted(([, a], [, b]) => a - b)
  const places = placesIn(
    source,
    ascending.map(([, offset]) => offset),
  )
  return new Map(ascending.map(([pointer], index) => [pointer, places[index] as Place]))
}
