import { type Changes, type Effect, pairsOf, type Side } from './changes.ts'
import { type Part, referenceOf } from './part.ts'
import { BOUNDS, keyOf, type Schema, type Shape, says, shapeOf } from './schema-shape.ts'

interface Pair {
  before: Schema
  after: Schema
  side: Side
  /** Whether values are text, in which a number is a string too. */
  isText: boolean
}

/** Compares schemas. Each pair is compared once on each side, so that cyclic schemas end. */
export class SchemaComparison {
  readonly #changes: Changes
  readonly #seen = new Set<string>()

  constructor(changes: Changes) {
    this.#changes = changes
  }

  /**
   * Compares two schemas and all that they contain.
   * @param options.isText whether the values are sent as text, as those of parameters are
   */
  compare(before: Schema, after: Schema, side: Side, { isText = false } = {}): void {
    // A stack of its own instead of recursion: schemas may be nested deeply, and have very many properties.
    const open: Iterator<Pair>[] = [[{ before, after, side, isText }].values()]
    for (let top = open.at(-1); top && !this.#changes.isFull; top = open.at(-1)) {
      const { value: pair, done } = top.next()
      if (done) open.pop()
      else if (this.#isNew(pair)) open.push(this.#compareShapes(pair))
    }
  }

  #isNew({ before, after, side, isText }: Pair): boolean {
    const key = `${side} ${isText} ${keyOf(before)} ${keyOf(after)}`
    if (this.#seen.has(key)) return false
    this.#seen.add(key)
    return true
  }

  /** @yields the pairs inside */
  *#compareShapes(pair: Pair): Generator<Pair> {
    const { side, isText } = pair
    const before = shapeOf(pair.before)
    const after = shapeOf(pair.after)
    const pairs: Pair[] = []
    const inner = (one: Schema, other: Schema) => void pairs.push({ ...pair, before: one, after: other })
    const report = (effect: Effect, message: string) =>
      this.#changes.addEffect(side, effect, after.pointer, message)
    const unclear = (message: string) =>
      this.#changes.add('UNCLEAR', after.pointer, `${message}${side === 'either' ? '' : ` in ${side}s`}`)

    compareTypes(before, after, report, isText)
    compareValues(before, after, report)
    comparePatterns(before, after, report, unclear)
    compareLimits(before, after, report)
    compareOthers(before, after, report, unclear)
    if (before.default !== after.default && side !== 'response')
      unclear(`the default changed from ${before.default ?? 'none'} to ${after.default ?? 'none'}`)
    if (before.items.length > 0 && after.items.length > 0) inner(before.items, after.items)
    if (!before.additional !== !after.additional) {
      const isClosed = !after.additional
      const message = `other properties are ${isClosed ? 'no longer allowed' : 'allowed now'}`
      if (isClosed || side !== 'response') report(isClosed ? 'narrowed' : 'widened', message)
      else this.#changes.add('COMPATIBLE', after.pointer, `${message} in responses`)
    }
    if (before.additional?.length && after.additional?.length) inner(before.additional, after.additional)
    for (const keyword of ['oneOf', 'anyOf'] as const)
      compareChoices(before.choices.get(keyword), after.choices.get(keyword), {
        keyword,
        ...{ report, unclear, inner },
        plain: { before: pair.before, after: pair.after },
      })
    yield* pairs
    for (const [one, other] of this.#compareProperties(before, after, side))
      yield { ...pair, before: one, after: other }
  }

  /** @yields the schemas of a property before and after */
  *#compareProperties(before: Shape, after: Shape, side: Side): Generator<[Schema, Schema]> {
    const changes = this.#changes
    const where = side === 'either' ? '' : ` in ${side}s`
    for (const [name, one, other] of pairsOf(before.properties, after.properties)) {
      const wasRequired = before.required.has(name)
      const isRequired = after.required.has(name)
      const [place] = other ?? one ?? []
      const pointer = place?.pointer ?? after.pointer
      const property = `the ${isRequired || (!other && wasRequired) ? 'required' : 'optional'} property ${name}`
      if (!(other ?? one) || isIrrelevant(other ?? one ?? [], side)) {
        if (one && other) yield [one, other]
      } else if (!one) {
        if (isRequired) changes.addEffect(side, 'narrowed', pointer, `${property} was added`)
        else changes.add('COMPATIBLE', pointer, `${property} was added${where}`)
      } else if (!other) {
        if (wasRequired && side === 'response')
          changes.add('BREAKING', pointer, `${property} was removed in responses`)
        else changes.add('UNCLEAR', pointer, `${property} was removed${where}`)
      } else {
        if (wasRequired !== isRequired)
          changes.addEffect(
            side,
            isRequired ? 'narrowed' : 'widened',
            pointer,
            `the property ${name} became ${isRequired ? 'required' : 'optional'}`,
          )
        yield [one, other]
      }
    }
  }
}

/** Requests have no read-only properties, and responses none that are write-only. */
const isIrrelevant = (schema: Schema, side: Side) =>
  side !== 'either' && says(schema, side === 'request' ? 'readOnly' : 'writeOnly')

type Report = (effect: Effect, message: string) => void
type Unclear = (message: string) => void

const isWithin = (types: ReadonlySet<string>, others: ReadonlySet<string>) =>
  [...types].every(type => others.has(type) || (type === 'integer' && others.has('number')))

/** Formats whose values are all in another format. */
const WIDER: ReadonlyMap<string, readonly string[]> = new Map([
  ['int32', ['int64', 'bigint']],
  ['int64', ['bigint']],
  ['float', ['double']],
])

function compareTypes(before: Shape, after: Shape, report: Report, isText: boolean): void {
  const named = (types: ReadonlySet<string> | undefined) => (types ? [...types].join(' or ') : 'any')
  const types = `the type changed from ${named(before.types)} to ${named(after.types)}`
  if (before.types && after.types) {
    const isNarrower = isWithin(after.types, before.types)
    const isWider = isWithin(before.types, after.types) || (isText && after.types.has('string'))
    if (isWider && !isNarrower) report('widened', types)
    else if (!isWider) report(isNarrower ? 'narrowed' : 'replaced', types)
  } else if (before.types) report('widened', types)
  else if (after.types) report('narrowed', types)
  if (before.nullable !== after.nullable)
    report(
      after.nullable ? 'widened' : 'narrowed',
      `null is ${after.nullable ? 'allowed now' : 'no longer allowed'}`,
    )
  if (before.format === after.format) return
  const { format: was = '' } = before
  const { format: is = '' } = after
  const effect: Effect =
    is === '' || WIDER.get(was)?.includes(is)
      ? 'widened'
      : was === '' || WIDER.get(is)?.includes(was)
        ? 'narrowed'
        : 'replaced'
  report(effect, `the format changed from ${was || 'none'} to ${is || 'none'}`)
}

const MAX_SHOWN = 20
const shown = (values: Iterable<string>) => {
  const all = [...values]
  const rest = all.length - MAX_SHOWN
  return all.slice(0, MAX_SHOWN).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}

const without = (values: ReadonlySet<string>, others: ReadonlySet<string>) =>
  new Set([...values].filter(value => !others.has(value)))

function compareValues({ values: before }: Shape, { values: after }: Shape, report: Report) {
  if (!before && !after) return
  if (!before) return report('narrowed', `only these values are allowed now: ${shown(after ?? [])}`)
  if (!after) return report('widened', 'values other than those of the list are allowed now')
  const removed = without(before, after)
  const added = without(after, before)
  if (removed.size > 0) report('narrowed', `values are no longer allowed: ${shown(removed)}`)
  if (added.size > 0) report('widened', `values are allowed now: ${shown(added)}`)
}

function comparePatterns(
  { pattern: before }: Shape,
  { pattern: after }: Shape,
  report: Report,
  unclear: Unclear,
): void {
  if (before === after) return
  if (before === undefined) report('narrowed', `the pattern ${after} was added`)
  else if (after === undefined) report('widened', `the pattern ${before} was removed`)
  else unclear(`the pattern changed from ${before} to ${after}`)
}

function compareLimits(before: Shape, after: Shape, report: Report): void {
  for (const [keyword, was, is] of pairsOf(before.limits, after.limits)) {
    if (was === is) continue
    const stricter = BOUNDS[keyword as keyof typeof BOUNDS]
    const isNarrower = was === undefined || (is !== undefined && stricter(was, is) === is)
    report(isNarrower ? 'narrowed' : 'widened', `${keyword} changed from ${was ?? 'none'} to ${is ?? 'none'}`)
  }
}

function compareOthers(before: Shape, after: Shape, report: Report, unclear: Unclear): void {
  for (const [keyword, was, is] of pairsOf(before.others, after.others)) {
    if (was === is) continue
    const isUnclear = (was !== undefined && is !== undefined) || keyword === '$ref'
    if (isUnclear) unclear(`${keyword} changed`)
    else report(was === undefined ? 'narrowed' : 'widened', `${keyword} was ${was ? 'removed' : 'added'}`)
  }
}

interface Choices {
  keyword: string
  report: Report
  unclear: Unclear
  inner(before: Schema, after: Schema): void
  /** The schemas that have the choices or not. */
  plain: { before: Schema; after: Schema }
}

function compareChoices(
  before: readonly Part[] | undefined,
  after: readonly Part[] | undefined,
  { keyword, report, unclear, inner, plain }: Choices,
) {
  if (!before && !after) return
  if (!before || !after) {
    const known = namesOf(before ? plain.after : plain.before)
    const isKept = (before ?? after ?? []).some(choice =>
      namesOf([choice]).some(name => known.includes(name)),
    )
    const message = `${keyword} was ${before ? 'removed' : 'added'}`
    if (isKept) return report(before ? 'narrowed' : 'widened', message)
    return unclear(message)
  }
  const left = new Set(after)
  const unmatched: Part[] = []
  const byName = new Map<string, Part[]>()
  for (const one of after)
    for (const name of namesOf([one])) byName.set(name, [...(byName.get(name) ?? []), one])
  for (const one of before) {
    const other = namesOf([one])
      .flatMap(name => byName.get(name) ?? [])
      .find(candidate => left.has(candidate))
    if (!other) unmatched.push(one)
    else {
      left.delete(other)
      inner([one], [other])
    }
  }
  const rest = [...left]
  if (unmatched.length === rest.length && !rest.some(referenceOf) && !unmatched.some(referenceOf)) {
    for (const [index, one] of unmatched.entries()) inner([one], [rest[index] as Part])
    return
  }
  const named = (parts: readonly Part[]) => shown(parts.map(part => referenceOf(part) ?? part.pointer))
  if (unmatched.length > 0) report('narrowed', `${keyword} lost ${named(unmatched)}`)
  if (rest.length > 0) report('widened', `${keyword} got ${named(rest)}`)
}

/** By what a choice is recognised: what it refers to, its title or its JSON. */
function namesOf(schema: Schema): string[] {
  const [part] = schema
  if (!part) return []
  const reference = referenceOf(part)
  if (reference !== undefined) return [reference.split('/').at(-1) as string]
  const { title } = (part.value ?? {}) as { title?: unknown }
  return [JSON.stringify(part.value), ...(typeof title === 'string' ? [`title ${title}`] : [])]
}
