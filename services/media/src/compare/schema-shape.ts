import { isObject, listOf } from '../check/checked.ts'
import { child, children, members, type Part, referenceOf, resolved } from './part.ts'

/** A schema as the parts of a document that hold together: those of `allOf`, and what they refer to. */
export type Schema = readonly Part[]

/** What a schema says, with its `allOf` merged, in the terms of JSON Schema 2020-12. */
export interface Shape {
  pointer: string
  /** Without `null`; undefined for any type. */
  types: Set<string> | undefined
  nullable: boolean
  format: string | undefined
  pattern: string | undefined
  /** JSON of the allowed values, without null; undefined for any. */
  values: Set<string> | undefined
  /** Bounds by their keyword. */
  limits: Map<string, number>
  /** Other keywords that restrict values, as JSON. */
  others: Map<string, string>
  required: Set<string>
  properties: Map<string, Part[]>
  /** Schemas of other properties; undefined if none are allowed. */
  additional: Part[] | undefined
  items: Part[]
  choices: Map<'oneOf' | 'anyOf', Part[]>
  default: string | undefined
}

/** Which of two bounds is stricter. */
export const BOUNDS = {
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  minLength: Math.max,
  minItems: Math.max,
  minProperties: Math.max,
  maximum: Math.min,
  exclusiveMaximum: Math.min,
  maxLength: Math.min,
  maxItems: Math.min,
  maxProperties: Math.min,
} as const

const OTHERS = [
  'not,if,then,else,patternProperties,propertyNames,contains,minContains,maxContains,dependentRequired,dependentSchemas',
  'dependencies,prefixItems,unevaluatedProperties,unevaluatedItems,multipleOf,contentEncoding,contentMediaType',
].flatMap(names => names.split(','))

/** Drafts of JSON Schema before 2019-09, and what builds on them, ignore what stands beside a reference. */
const ignoresSiblings = (root: unknown) =>
  isObject(root) && ('swagger' in root || 'asyncapi' in root || String(root.openapi).startsWith('3.0'))

export const keyOf = (schema: Schema): string =>
  [...new Set(schema.map(part => resolved(part).pointer))].join(' ')

/** Whether a schema, or a part of its `allOf`, is marked by a keyword. */
export function says(
  schema: Schema,
  keyword: 'readOnly' | 'writeOnly',
  seen: Set<string> = new Set(),
): boolean {
  return schema.some(given => {
    const part = resolved(given)
    if (members(part)[keyword] === true || members(given)[keyword] === true) return true
    const all = children(child(part, 'allOf'))
    if (all.length === 0 || seen.has(part.pointer)) return false
    seen.add(part.pointer)
    return says(
      all.map(([, member]) => member),
      keyword,
      seen,
    )
  })
}

export function shapeOf(schema: Schema): Shape {
  const shape: Shape = {
    pointer: schema[0] ? resolved(schema[0]).pointer : '',
    types: undefined,
    nullable: false,
    format: undefined,
    pattern: undefined,
    values: undefined,
    limits: new Map(),
    others: new Map(),
    required: new Set(),
    properties: new Map(),
    additional: [],
    items: [],
    choices: new Map(),
    default: undefined,
  }
  const seen = new Set<string>()
  const add = (given: Part): void => {
    const part = resolved(given)
    if (seen.has(part.pointer)) return
    seen.add(part.pointer)
    if (part !== given && !ignoresSiblings(given.root)) merge(shape, given, add)
    merge(shape, part, add)
  }
  for (const part of schema) add(part)
  return shape
}

function merge(shape: Shape, part: Part, add: (part: Part) => void): void {
  if (part.value === false) shape.others.set('false', 'true')
  if (!isObject(part.value)) return
  const { value } = part
  const external = referenceOf(part)
  if (external !== undefined && !external.startsWith('#')) shape.others.set('$ref', external)
  mergeTypes(shape, value)
  mergeLimits(shape, value)
  for (const keyword of OTHERS)
    if (value[keyword] !== undefined) shape.others.set(keyword, JSON.stringify(value[keyword]))
  if (value.uniqueItems === true) shape.others.set('uniqueItems', 'true')
  for (const name of listOf(value.required)) if (typeof name === 'string') shape.required.add(name)
  for (const [name, property] of children(child(part, 'properties')))
    shape.properties.set(name, [...(shape.properties.get(name) ?? []), property])
  if (value.additionalProperties === false) shape.additional = undefined
  else if (isObject(value.additionalProperties)) shape.additional?.push(child(part, 'additionalProperties'))
  if (isObject(value.items)) shape.items.push(child(part, 'items'))
  if (value.default !== undefined) shape.default = JSON.stringify(value.default)
  for (const [, member] of children(child(part, 'allOf'))) add(member)
  for (const keyword of ['oneOf', 'anyOf'] as const) mergeChoices(shape, part, keyword, add)
}

function mergeTypes(shape: Shape, value: Record<string, unknown>): void {
  const types = [value.type].flat().filter(type => typeof type === 'string')
  if (value.nullable === true || value['x-nullable'] === true || types.includes('null')) shape.nullable = true
  const named = new Set(types.filter(type => type !== 'null'))
  if (types.length > 0) shape.types = shape.types ? intersection(shape.types, named) : named
  if (typeof value.format === 'string') shape.format = value.format
  if (typeof value.pattern === 'string') shape.pattern = value.pattern
  const allowed = 'const' in value ? [value.const] : Array.isArray(value.enum) ? value.enum : undefined
  if (!allowed) return
  const json = new Set(allowed.filter(one => one !== null).map(one => JSON.stringify(one)))
  shape.values = shape.values ? new Set([...json].filter(one => shape.values?.has(one))) : json
}

const intersection = (a: Set<string>, b: Set<string>) => {
  const both = new Set([...a].filter(type => b.has(type)))
  if (a.has('number') && b.has('integer')) both.add('integer')
  if (b.has('number') && a.has('integer')) both.add('integer')
  return both
}

/** Before JSON Schema draft 6, `exclusiveMinimum: true` says how `minimum` is meant. */
function mergeLimits({ limits }: Shape, value: Record<string, unknown>): void {
  for (const [keyword, stricter] of Object.entries(BOUNDS)) {
    const limit = value[keyword]
    if (typeof limit !== 'number') continue
    const exclusive = keyword === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum'
    const isExclusive = (keyword === 'minimum' || keyword === 'maximum') && value[exclusive] === true
    const name = isExclusive ? exclusive : keyword
    const known = limits.get(name)
    limits.set(name, known === undefined ? limit : stricter(known, limit))
  }
}

const isNull = (part: Part) => isObject(part.value) && part.value.type === 'null'

/** A choice of one schema is that schema; one of a schema and null is that schema, nullable. */
function mergeChoices(shape: Shape, part: Part, keyword: 'oneOf' | 'anyOf', add: (part: Part) => void): void {
  const all = children(child(part, keyword)).map(([, member]) => member)
  const choices = all.filter(member => !isNull(member))
  if (choices.length < all.length) shape.nullable = true
  const [only] = choices
  if (choices.length === 1 && only) add(only)
  else if (choices.length > 1 && shape.choices.has(keyword))
    shape.others.set(keyword, JSON.stringify(choices.map(({ value }) => value)))
  else if (choices.length > 1) shape.choices.set(keyword, choices)
}
