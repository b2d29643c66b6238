import { isObject, listOf } from '../check/checked.ts'
import { child, children, members, type Part, resolved, rootOf } from './part.ts'

export interface OperationPlace {
  member: 'paths' | 'webhooks'
  method: string
  path: string
  /** The item of its path. */
  item: Part
  part: Part
}

/** An operation in the terms of OpenAPI 3, also of a document in Swagger 2.0. */
export interface OperationParts extends OperationPlace {
  isDeprecated: boolean
  /** By `keyOf`. */
  parameters: Map<string, Parameter>
  body: Body | undefined
  /** By status. */
  responses: Map<string, Response>
  /** Alternatives: the scopes of each scheme that a request needs. */
  security: Map<string, string[]>[]
}

export interface Parameter {
  part: Part
  name: string
  in: string
  isRequired: boolean
  schema: Part
  /** How values are written. */
  style: string
}

/** Schemas by media type; undefined where a media type has none. */
export type MediaTypes = Map<string, Part | undefined>

export interface Body {
  part: Part
  isRequired: boolean
  content: MediaTypes
}

export interface Response {
  part: Part
  content: MediaTypes
  /** By name in lower case. */
  headers: Map<string, { part: Part; isRequired: boolean; schema: Part }>
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'])

export const isSwagger = (root: unknown) => isObject(root) && 'swagger' in root

/** The operations of a document: those of paths and of webhooks. */
export function* operationsIn(root: unknown): Generator<OperationPlace> {
  for (const member of ['paths', 'webhooks'] as const) {
    const at = child(rootOf(root), member)
    for (const path in members(at)) {
      if (path.startsWith('x-')) continue
      const item = resolved(child(at, path))
      for (const method in members(item)) {
        const place = placeIn(item, { member, path, method })
        if (place) yield place
      }
      for (const [method, part] of children(child(item, ADDITIONAL)))
        if (isObject(part.value)) yield { member, path, method, item, part }
    }
  }
}

type OperationName = Pick<OperationPlace, 'member' | 'path' | 'method'>
const ADDITIONAL = 'additionalOperations'

/** The operation of the same name in another document. */
export const sameOperationIn = (root: unknown, name: OperationName): OperationPlace | undefined =>
  placeIn(resolved(child(child(rootOf(root), name.member), name.path)), name)

function placeIn(item: Part, { member, path, method }: OperationName): OperationPlace | undefined {
  const part = METHODS.has(method) ? child(item, method) : child(child(item, ADDITIONAL), method)
  return isObject(part.value) ? { member, path, method, item, part } : undefined
}

export function operationOf(place: OperationPlace): OperationParts {
  const { item, part } = place
  const all = [item, part].flatMap(at => children(child(at, 'parameters')).map(([, one]) => resolved(one)))
  const given = all.filter(one => typeof members(one).name === 'string')
  const isForm = ({ value }: Part) => isObject(value) && value.in === 'formData'
  const isBody = ({ value }: Part) => isObject(value) && value.in === 'body'
  const parameters = new Map<string, Parameter>()
  for (const one of given) {
    if (isForm(one) || isBody(one)) continue
    const parameter = parameterOf(one)
    const key = keyOf(parameter, place.path)
    if (key !== undefined) parameters.set(key, parameter)
  }
  const responses = children(child(part, 'responses')).filter(([status]) => !status.startsWith('x-'))
  return {
    ...place,
    isDeprecated: members(part).deprecated === true,
    parameters,
    body: isSwagger(part.root) ? bodyOf2(part, all.find(isBody), given.filter(isForm)) : bodyOf3(part),
    responses: new Map(responses.map(([status, at]) => [status.toUpperCase(), responseOf(part, at)])),
    security: securityOf(part),
  }
}

/** Headers that parameters do not describe (OpenAPI 3.1 §4.8.12.1). */
const OWN_HEADERS = new Set(['accept', 'content-type', 'authorization'])

/** The place of a parameter of a path counts, its name does not. Undefined for headers that are described elsewhere. */
function keyOf({ in: place, name }: Parameter, path: string): string | undefined {
  if (place === 'path') {
    const index = [...path.matchAll(/\{([^}]*)\}/g)].findIndex(([, one]) => one === name)
    return `path ${index === -1 ? name : index}`
  }
  if (place !== 'header') return `${place} ${name}`
  return OWN_HEADERS.has(name.toLowerCase()) ? undefined : `header ${name.toLowerCase()}`
}

/** What the styles of OpenAPI 3 call a `collectionFormat` of Swagger 2.0. */
const SEPARATORS = new Map([
  ['ssv', 'spaceDelimited'],
  ['tsv', 'tab'],
  ['pipes', 'pipeDelimited'],
])

function parameterOf(part: Part): Parameter {
  const { name, in: place, required, style, explode, collectionFormat } = members(part)
  const [content] = children(child(part, 'content'))
  const inner = content ? child(content[1], 'schema') : child(part, 'schema')
  const plain = place === 'query' || place === 'cookie' ? 'form' : 'simple'
  const written = style ?? plain
  const isRepeated = isSwagger(part.root) ? collectionFormat === 'multi' : (explode ?? written === 'form')
  const separator = SEPARATORS.get(String(collectionFormat))
  return {
    part,
    name: String(name),
    in: String(place),
    isRequired: required === true || place === 'path',
    schema: isSwagger(part.root) ? part : inner,
    style: `${separator ?? String(written)}${isRepeated ? ', repeated' : ''}`,
  }
}

/** A media type without spaces, in lower case. */
const typeName = (name: string) => name.toLowerCase().replaceAll(/\s/g, '')

const contentOf = (part: Part): MediaTypes =>
  new Map(
    children(child(part, 'content')).map(([name, media]) => {
      const schema = child(resolved(media), 'schema')
      return [typeName(name), schema.value === undefined ? undefined : schema]
    }),
  )

function bodyOf3(operation: Part): Body | undefined {
  const part = resolved(child(operation, 'requestBody'))
  if (!isObject(part.value)) return undefined
  return { part, isRequired: part.value.required === true, content: contentOf(part) }
}

const FORMS = ['multipart/form-data', 'application/x-www-form-urlencoded']

function bodyOf2(operation: Part, body: Part | undefined, fields: readonly Part[]): Body | undefined {
  const types = typesOf(operation, 'consumes')
  if (body) {
    const { required } = members(body)
    const schema = child(body, 'schema')
    return {
      part: body,
      isRequired: required === true,
      content: new Map(types.map(type => [type, schema.value === undefined ? undefined : schema])),
    }
  }
  if (fields.length === 0) return undefined
  const nameOf = (field: Part) => String(members(field).name)
  const required = fields.filter(field => members(field).required === true).map(nameOf)
  const properties = Object.fromEntries(fields.map(field => [nameOf(field), { $ref: `#${field.pointer}` }]))
  const part = child(operation, 'parameters')
  const schema: Part = { ...part, value: { type: 'object', properties, required } }
  const forms = types.filter(type => FORMS.includes(type))
  return {
    part,
    isRequired: required.length > 0,
    content: new Map((forms.length > 0 ? forms : FORMS.slice(1)).map(type => [type, schema])),
  }
}

function typesOf(operation: Part, member: 'consumes' | 'produces'): string[] {
  const { [member]: own } = members(operation)
  const { [member]: general } = members(rootOf(operation.root))
  const types = listOf(own ?? general).filter(type => typeof type === 'string')
  return types.length > 0 ? types.map(typeName) : ['application/json']
}

function responseOf(operation: Part, at: Part): Response {
  const part = resolved(at)
  const schema = child(part, 'schema')
  const is2 = isSwagger(part.root)
  const types = is2 && schema.value !== undefined ? typesOf(operation, 'produces') : []
  return {
    part,
    content: is2 ? new Map(types.map(type => [type, schema])) : contentOf(part),
    headers: new Map(
      children(child(part, 'headers')).map(([name, header]) => {
        const found = resolved(header)
        const isRequired = members(found).required === true
        const of = is2 ? found : child(found, 'schema')
        return [name.toLowerCase(), { part: found, isRequired, schema: of }]
      }),
    ),
  }
}

function securityOf(operation: Part): Map<string, string[]>[] {
  const given = members(operation).security ?? members(rootOf(operation.root)).security
  return listOf(given).map(alternative => {
    const schemes = isObject(alternative) ? Object.entries(alternative) : []
    return new Map(schemes.map(([scheme, scopes]) => [scheme, listOf(scopes).map(String)]))
  })
}

/** The security schemes by name. */
export function schemesIn(root: unknown): Map<string, Part> {
  const at = isSwagger(root)
    ? child(rootOf(root), 'securityDefinitions')
    : child(child(rootOf(root), 'components'), 'securitySchemes')
  return new Map(children(at).map(([name, part]) => [name, resolved(part)]))
}
