import { listOf, objectOf, textOf } from '../check/checked.ts'
import { type Changes, pairsOf, type Side } from './changes.ts'
import {
  type Body,
  isSwagger,
  type MediaTypes,
  type OperationParts,
  type OperationPlace,
  operationOf,
  operationsIn,
  type Parameter,
  type Response,
  sameOperationIn,
  schemesIn,
} from './openapi-parts.ts'
import { members, type Part } from './part.ts'
import { SchemaComparison } from './schemas.ts'

/**
 * Compares OpenAPI documents, also of different versions of OpenAPI: operations, and what they use. Texts and examples do
 * not count.
 */
export function compareOpenApi(before: unknown, after: unknown, changes: Changes): void {
  const context: Context = { changes, schemas: new SchemaComparison(changes) }
  compareServers(before, after, changes)
  compareSchemes(schemesIn(before), schemesIn(after), changes)
  for (const [one, other] of operationPairs(before, after)) {
    if (changes.isFull) return
    if (one && other) compareOperations(operationOf(one), operationOf(other), context)
    else if (one) changes.add('BREAKING', one.part.pointer, `${nameOf(one)} was removed`)
    else if (other) changes.add('COMPATIBLE', other.part.pointer, `${nameOf(other)} was added`)
  }
}

interface Context {
  changes: Changes
  schemas: SchemaComparison
}

const nameOf = ({ method, path }: OperationPlace) => `the operation ${method.toUpperCase()} ${path}`

/** Matches operations by their path, and then by their path without the names of its parameters. */
function* operationPairs(
  before: unknown,
  after: unknown,
): Generator<[OperationPlace | undefined, OperationPlace | undefined]> {
  const unmatched: OperationPlace[] = []
  for (const one of operationsIn(before)) {
    const other = sameOperationIn(after, one)
    if (other) yield [one, other]
    else unmatched.push(one)
  }
  const nameless = ({ method, path }: OperationPlace) =>
    `${method} ${path.replaceAll(/\{[^}]*\}/g, '{}').replace(/(?<=.)\/$/, '')}`
  const rest = new Map<string, OperationPlace[]>()
  for (const other of operationsIn(after)) {
    if (sameOperationIn(before, other)) continue
    const key = nameless(other)
    const known = rest.get(key)
    if (known) known.push(other)
    else rest.set(key, [other])
  }
  for (const one of unmatched) yield [one, rest.get(nameless(one))?.shift()]
  for (const others of rest.values()) for (const other of others) yield [undefined, other]
}

function compareOperations(before: OperationParts, after: OperationParts, context: Context): void {
  const { changes } = context
  const { pointer } = after.part
  if (!before.isDeprecated && after.isDeprecated) changes.add('COMPATIBLE', pointer, 'it became deprecated')
  for (const [, one, other] of pairsOf(before.parameters, after.parameters))
    compareParameters(one, other, context)
  compareBodies(before, after, context)
  for (const [status, one, other] of pairsOf(before.responses, after.responses))
    compareResponses(status, [one, other], context)
  compareSecurity(before.security, after.security, { changes, pointer })
}

const parameterName = ({ in: place, name }: Parameter) =>
  `${place === 'query' || place === 'path' ? `${place} parameter` : place} ${name}`

function compareParameters(
  before: Parameter | undefined,
  after: Parameter | undefined,
  { changes, schemas }: Context,
) {
  if (!before) {
    if (!after) return
    const message = `the ${after.isRequired ? 'required' : 'optional'} ${parameterName(after)} was added`
    return changes.add(after.isRequired ? 'BREAKING' : 'COMPATIBLE', after.part.pointer, message)
  }
  const name = `the ${parameterName(before)}`
  if (!after) return changes.add('UNCLEAR', before.part.pointer, `${name} was removed`)
  const { pointer } = after.part
  if (before.isRequired !== after.isRequired)
    changes.add(
      after.isRequired ? 'BREAKING' : 'COMPATIBLE',
      pointer,
      `${name} became ${after.isRequired ? 'required' : 'optional'}`,
    )
  const isList = [before, after].some(({ schema }) => objectOf(schema.value).type === 'array')
  if (isList && before.style !== after.style)
    changes.add('UNCLEAR', pointer, `${name} is written differently: ${before.style}, now ${after.style}`)
  schemas.compare([before.schema], [after.schema], 'request', { isText: true })
}

function compareBodies(
  { body: before }: OperationParts,
  { body: after, part }: OperationParts,
  context: Context,
) {
  const { changes } = context
  if (!before) {
    if (!after) return
    const message = `the ${after.isRequired ? 'required' : 'optional'} request body was added`
    return changes.add(after.isRequired ? 'BREAKING' : 'COMPATIBLE', after.part.pointer, message)
  }
  if (!after) return changes.add('BREAKING', part.pointer, 'the request body was removed')
  compareRequired(before, after, changes)
  compareContent(before.content, after.content, { side: 'request', context, place: after.part })
}

function compareRequired(before: Body, after: Body, changes: Changes): void {
  if (before.isRequired === after.isRequired) return
  const message = `the request body became ${after.isRequired ? 'required' : 'optional'}`
  changes.add(after.isRequired ? 'BREAKING' : 'COMPATIBLE', after.part.pointer, message)
}

function compareResponses(
  status: string,
  [before, after]: [Response | undefined, Response | undefined],
  context: Context,
) {
  const { changes, schemas } = context
  if (!before) {
    if (after) changes.add('COMPATIBLE', after.part.pointer, `the response ${status} was added`)
    return
  }
  if (!after) {
    const level = status.startsWith('2') ? 'BREAKING' : 'UNCLEAR'
    return changes.add(level, before.part.pointer, `the response ${status} was removed`)
  }
  compareContent(before.content, after.content, { side: 'response', context, place: after.part })
  for (const [name, one, other] of pairsOf(before.headers, after.headers)) {
    if (!one) {
      if (other) changes.add('COMPATIBLE', other.part.pointer, `the response header ${name} was added`)
    } else if (!other) {
      const level = one.isRequired ? 'BREAKING' : 'UNCLEAR'
      changes.add(level, one.part.pointer, `the response header ${name} was removed`)
    } else {
      if (one.isRequired && !other.isRequired)
        changes.add('BREAKING', other.part.pointer, `the response header ${name} became optional`)
      schemas.compare([one.schema], [other.schema], 'response')
    }
  }
}

function compareContent(
  before: MediaTypes,
  after: MediaTypes,
  { side, context, place }: { side: Side; context: Context; place: Part },
): void {
  const { changes, schemas } = context
  for (const type of new Set([...before.keys(), ...after.keys()])) {
    const where = `of ${side}s`
    if (!before.has(type))
      changes.add('COMPATIBLE', place.pointer, `the media type ${type} ${where} was added`)
    else if (!after.has(type))
      changes.add('BREAKING', place.pointer, `the media type ${type} ${where} was removed`)
    else {
      const [one, other] = [before.get(type), after.get(type)]
      if (one && other)
        schemas.compare([one], [other], side, { isText: side === 'request' && !/[/+]json$/.test(type) })
      else if (one ?? other)
        changes.addEffect(
          side,
          one ? 'widened' : 'narrowed',
          place.pointer,
          `the schema of ${type} was ${one ? 'removed' : 'added'}`,
        )
    }
  }
}

type Security = OperationParts['security']
const schemesOf = (alternative: Security[number]) => [...alternative.keys()].toSorted().join(' and ')
const isOpen = (security: Security) => security.length === 0 || security.some(({ size }) => size === 0)

/** Clients keep working if each way to authenticate still works, or none is needed. */
function compareSecurity(
  before: Security,
  after: Security,
  { changes, pointer }: { changes: Changes; pointer: string },
): void {
  if (isOpen(before) !== isOpen(after)) {
    const message = `requests ${isOpen(after) ? 'no longer need' : 'need'} authentication`
    changes.add(isOpen(after) ? 'COMPATIBLE' : 'BREAKING', pointer, message)
  }
  const ways = (security: Security) => new Map(security.map(one => [schemesOf(one), one]))
  for (const [schemes, one, other] of pairsOf(ways(before), ways(after))) {
    if (!one) {
      if (schemes) changes.add('COMPATIBLE', pointer, `authentication by ${schemes} was added`)
    } else if (!other) {
      const level = isOpen(after) ? 'COMPATIBLE' : 'BREAKING'
      if (schemes) changes.add(level, pointer, `authentication by ${schemes} was removed`)
    } else
      for (const [scheme, scopes] of other) {
        const added = scopes.filter(scope => !one.get(scheme)?.includes(scope))
        if (added.length > 0)
          changes.add('BREAKING', pointer, `the scopes ${added.join(', ')} of ${scheme} are needed now`)
      }
  }
}

/** How a scheme is used, as OpenAPI 3 says it. */
function useOf(part: Part): Map<string, string | null> {
  const { type, scheme, name, in: place } = members(part)
  const said = type === 'basic' ? { type: 'http', scheme: 'basic' } : { type, scheme, name, in: place }
  return new Map(
    Object.entries(said).map(([member, value]) => [
      member,
      member === 'scheme' ? (textOf(value)?.toLowerCase() ?? null) : textOf(value),
    ]),
  )
}

function compareSchemes(
  before: ReadonlyMap<string, Part>,
  after: ReadonlyMap<string, Part>,
  changes: Changes,
): void {
  for (const [name, one, other] of pairsOf(before, after)) {
    if (!one || !other) continue
    for (const [member, was = null, is = null] of pairsOf(useOf(one), useOf(other)))
      if (was !== is)
        changes.add(
          'BREAKING',
          other.pointer,
          `the ${member} of the security scheme ${name} changed from ${was ?? 'none'} to ${is ?? 'none'}`,
        )
  }
}

/** The paths of the servers. Hosts differ between environments. */
function compareServers(before: unknown, after: unknown, changes: Changes): void {
  const [was, is] = [before, after].map(pathsOfServers)
  if (was === is) return
  const pointer = isSwagger(after) ? '/basePath' : '/servers'
  changes.add('UNCLEAR', pointer, `the paths of the servers changed from ${was} to ${is}`)
}

function pathsOfServers(root: unknown): string {
  const { basePath, servers } = objectOf(root)
  const urls = isSwagger(root) ? [basePath] : listOf(servers).map(server => objectOf(server).url)
  const paths = urls.map(url =>
    String(url ?? '')
      .replace(/^(?:[\w{}+.-]+:)?\/\/[^/]*/, '')
      .replace(/\/$/, ''),
  )
  return [...new Set(paths)].toSorted().join(' ') || '/'
}
