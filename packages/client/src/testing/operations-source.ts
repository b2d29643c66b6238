import { join } from 'node:path'
import { openApiDocument } from '@gantry/contracts'

/** The file that `npm run generate` writes. */
export const OPERATIONS_FILE = join(import.meta.dirname, '../operations.generated.ts')

interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
}
interface Content {
  [mediaType: string]: { schema: Schema }
}
interface Parameter {
  $ref?: string
  name: string
  in: string
  required?: boolean
  schema: Schema
  description?: string
}
interface Described {
  operationId: string
  summary: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}
interface Document {
  paths: Record<string, Record<string, Described>>
  webhooks: Record<string, { post: { requestBody: { content: Content } } }>
  components: { schemas: Record<string, Schema>; examples: Record<string, unknown> }
}

/** PUT operations that refuse a second, equal request because of the first one. */
const NOT_REPEATABLE = ['changePassword', 'deployApi']

/** The text of `operations.generated.ts`: a table of routes, and the types of the REST interface, from its OpenAPI document. */
export function operationsSource(): string {
  const document = openApiDocument({ basePath: '', version: '0' }) as Document
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      path,
      method: method.toUpperCase(),
      ...described,
    })),
  )
  const payloads = Object.values(document.webhooks).map(({ post }) =>
    typeOf(contentOf(post.requestBody.content)?.schema ?? {}),
  )
  return [
    '// Generated from the contracts by `npm run generate -w @gantry/client`.',
    "import type { Content } from './content.ts'",
    '',
    '/** Method and path of each operation, and what the client must know of it. */',
    'export const ROUTES = {',
    ...operations.map(routeOf),
    '} as const',
    '',
    '/** The stable codes of problems. */',
    `export type ProblemCode =\n${union(Object.keys(document.components.examples).map(code => `  | '${code}'`))}`,
    '',
    '/** The request body of a webhook with the format STANDARD. */',
    `export type WebhookEvent =\n${union(payloads.map(payload => `  | ${payload}`))}`,
    '',
    '/** The schemas of the REST interface by name. */',
    `export interface Schemas ${members(document.components.schemas, Object.keys(document.components.schemas))}`,
    '',
    '/** The operations of the REST interface by operationId. */',
    'export interface Operations {',
    ...operations.map(operationType),
    '}',
    '',
  ].join('\n')
}

type Operation = Described & { path: string; method: string }
const union = (lines: string[]) => lines.join('\n')

function routeOf({ operationId, method, path, parameters = [], requestBody, responses }: Operation): string {
  const type = requestBody && mediaTypeOf(requestBody.content)
  const flags = [
    ...(method === 'PUT' && !NOT_REPEATABLE.includes(operationId) ? ['repeatable: true'] : []),
    ...(accepts(parameters, 'Idempotency-Key') ? ['keyed: true'] : []),
    ...(type && type !== 'application/json' ? [`body: '${type}'`] : []),
    ...(isStream(responses[200]?.content) ? ['stream: true'] : []),
  ]
  return `  ${operationId}: { ${[`method: '${method}'`, `path: '${path}'`, ...flags].join(', ')} },`
}

const accepts = (parameters: Parameter[], header: string) =>
  parameters.some(({ $ref }) => $ref?.endsWith(`/${header}`))

/** A media type that has its own rules before that for any content. */
const mediaTypeOf = (content: Content): string =>
  ['multipart/form-data', '*/*'].find(type => type in content) ?? Object.keys(content)[0] ?? ''

const JSON_TYPE = /^application\/(.+\+)?json$/
const isStream = (content?: Content) =>
  content !== undefined && !Object.keys(content).some(type => JSON_TYPE.test(type))

/** The JSON of a content, that of application/json first. */
const contentOf = (content: Content = {}) =>
  content['application/json'] ?? Object.entries(content).find(([type]) => JSON_TYPE.test(type))?.[1]

function operationType(operation: Operation): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation
  const inputs = parameters.filter(parameter => parameter.in === 'path' || parameter.in === 'query')
  const properties: Record<string, Schema> = Object.fromEntries(
    inputs.map(({ name, schema, description = '' }) => [name, { ...schema, description }]),
  )
  if ('body' in properties || Object.keys(properties).length < inputs.length)
    throw new Error(`${operationId}: two parameters have the same name`)
  if (requestBody) properties.body = bodyOf(requestBody.content)
  const required = [
    ...inputs.flatMap(({ name, required }) => (required ? [name] : [])),
    ...(requestBody ? ['body'] : []),
  ]
  const options = ['If-Match', 'If-None-Match', 'Idempotency-Key'].filter(name => accepts(parameters, name))
  const output = Object.entries(responses)
    .filter(([status]) => /^2/.test(status))
    .map(([status, { content }]) => `${status}: ${responseType(content)}`)
  return [
    comment([summary, ...(description ? ['', ...description.split('\n')] : [])], '  '),
    `  ${operationId}: {`,
    `    input: ${members(properties, required, '    ')}`,
    `    output: { ${output.join('; ')} }`,
    `    options: ${options.map(name => `'${optionOf(name)}'`).join(' | ') || 'never'}`,
    '  }',
  ].join('\n')
}

/** E.g. ifNoneMatch for If-None-Match. */
const optionOf = (header: string) =>
  header.replaceAll('-', '').replace(/^[A-Z]/, first => first.toLowerCase())

const bodyOf = (content: Content): Schema =>
  ['*/*', 'multipart/form-data'].includes(mediaTypeOf(content))
    ? { type: 'string', format: 'binary' }
    : (contentOf(content)?.schema ?? {})

function responseType(content: Content | undefined): string {
  if (!content) return 'undefined'
  if (isStream(content)) return 'ReadableStream<Uint8Array>'
  return typeOf(contentOf(content)?.schema ?? {})
}

function typeOf(schema: Schema | boolean, indent = ''): string {
  if (typeof schema === 'boolean') return 'unknown'
  const { $ref, type, format, enum: values, anyOf, oneOf, allOf } = schema
  const any = anyOf ?? oneOf
  if ($ref) return `Schemas['${$ref.split('/').at(-1)}']`
  if ('const' in schema) return literal(schema.const)
  if (values) return values.map(literal).join(' | ')
  if (any) return [...new Set(any.map(each => typeOf(each, indent)))].join(' | ')
  if (allOf) return allOf.map(each => typeOf(each, indent)).join(' & ')
  if (Array.isArray(type)) return type.map(each => typeOf({ ...schema, type: each }, indent)).join(' | ')
  if (type === 'array') return `Array<${typeOf(schema.items ?? {}, indent)}>`
  if (type === 'object' || schema.properties) return objectType(schema, indent)
  if (type === 'string') return format === 'binary' ? 'Content' : 'string'
  if (type === 'integer' || type === 'number') return 'number'
  return type === 'boolean' || type === 'null' ? type : 'unknown'
}

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value))

function objectType({ properties, required, additionalProperties }: Schema, indent: string): string {
  if (properties && Object.keys(properties).length > 0)
    return members(properties, required, indent, additionalProperties ? ['[name: string]: unknown'] : [])
  const of = additionalProperties ? typeOf(additionalProperties, indent) : 'unknown'
  return `{ [name: string]: ${of} }`
}

/** The members of an object type, each on a line with its description. */
function members(
  properties: Record<string, Schema>,
  required: readonly string[] = [],
  indent = '',
  others: readonly string[] = [],
): string {
  const inner = `${indent}  `
  const lines = Object.entries(properties).flatMap(([name, schema]) => {
    const type = typeOf(schema, inner)
    const key = /^\w+$/.test(name) ? name : `'${name}'`
    const line = required.includes(name) ? `${key}: ${type}` : `${key}?: ${type} | undefined`
    const described = schema.description && schema.description.toLowerCase() !== name.toLowerCase()
    return [...(described ? [comment([schema.description ?? ''], inner)] : []), inner + line]
  })
  const all = [...lines, ...others.map(line => inner + line)]
  return all.length === 0 ? '{}' : `{\n${all.join('\n')}\n${indent}}`
}

function comment(lines: string[], indent: string): string {
  const safe = lines.flatMap(line => line.split('\n')).map(line => line.replaceAll('*/', '*\u200b/'))
  if (safe.length === 1) return `${indent}/** ${safe[0]} */`
  return [`${indent}/**`, ...safe.map(line => `${indent} * ${line}`.trimEnd()), `${indent} */`].join('\n')
}
