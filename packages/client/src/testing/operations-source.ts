import { join } from 'node:path'
import { jsonSchemaOf, OPERATIONS, openApiDocument, PUBLIC_EVENTS } from '@gantry/contracts'

/** The file that `npm run generate` writes. */
export const OPERATIONS_FILE = join(import.meta.dirname, '../operations.generated.ts')

interface Schema {
  /** The type itself, where the document has a wider one. */
  text?: string
  $ref?: string
  type?: string | string[]
  format?: string
  pattern?: string
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
  const { schemas } = document.components
  narrow(document)
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
    '/** The data of the events of GET /events, by type. */',
    `interface EventData ${members(eventData, Object.keys(eventData))}`,
    '',
    '/** The values of the schemas that are lists of values, e.g. `VALUES.Scope`. */',
    'export const VALUES = {',
    ...Object.entries(schemas).flatMap(([name, { enum: values }]) =>
      values ? [`  ${name}: [${values.map(literal).join(', ')}],`] : [],
    ),
    '} as const',
    '',
    '/** The schemas of the REST interface by name. */',
    `export interface Schemas ${members(schemas, Object.keys(schemas))}`,
    '',
    '/** The operations of the REST interface by operationId. */',
    'export interface Operations {',
    ...operations.map(operationType),
    '}',
    '',
  ].join('\n')
}

/** The types that `data` can have. The log has events of all versions. */
const eventData: Record<string, Schema> = Object.fromEntries(
  Object.entries(PUBLIC_EVENTS)
    .filter(([type]) => type !== 'TEST')
    .map(([type, { earlier, data }]) => [
      type,
      { anyOf: [...earlier, { data }].map(version => jsonSchemaOf(version.data) as Schema) },
    ]),
)

/** Gives narrower types to what the document describes in words. */
function narrow({ paths, webhooks, components: { schemas } }: Document): void {
  schemas.WebhookEventType = { enum: Object.keys(webhooks) }
  schemas.StreamedEventType = { enum: Object.keys(eventData) }
  const { properties = {}, required } = schemas.StreamedEvent ?? {}
  Object.assign(properties.type ?? {}, { text: 'Type' })
  Object.assign(properties.data ?? {}, { text: 'EventData[Type]' })
  schemas.StreamedEvent = {
    text: `{ [Type in keyof EventData]: ${members(properties, required, '  ')} }[keyof EventData]`,
  }
  const cloudEvent = "Schemas['EmittedCloudEvent']"
  const payload = `WebhookEvent | ${cloudEvent} | [${cloudEvent}] | null`
  Object.assign(schemas.Delivery?.properties?.payload ?? {}, { text: payload })
  Object.assign(schemas.EventType?.properties?.name ?? {}, { text: WEBHOOK_EVENT_TYPE })
  const filter = paths['/events']?.get?.parameters?.find(({ name }) => name === 'type')
  Object.assign(filter?.schema.items ?? {}, { text: "Schemas['StreamedEventType']" })
}

const WEBHOOK_EVENT_TYPE = "Schemas['WebhookEventType']"
/** Names of members with event types of webhooks, which are texts in the document. */
const EVENT_TYPE_MEMBERS = ['eventType', 'eventTypes', 'events']

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
  const { text, $ref, type, format, pattern, enum: values, anyOf, oneOf, allOf } = schema
  const any = anyOf ?? oneOf
  if (text) return text
  if ($ref) return `Schemas['${$ref.split('/').at(-1)}']`
  if ('const' in schema) return literal(schema.const)
  if (values) return values.map(literal).join(' | ')
  if (any) return [...new Set(any.map(each => typeOf(each, indent)))].join(' | ')
  if (allOf) return allOf.map(each => typeOf(each, indent)).join(' & ')
  if (Array.isArray(type)) return type.map(each => typeOf({ ...schema, type: each }, indent)).join(' | ')
  if (type === 'array') return `Array<${typeOf(schema.items ?? {}, indent)}>`
  if (type === 'object' || schema.properties) return objectType(schema, indent)
  if (type === 'string') return format === 'binary' ? 'Content' : (sortType(pattern) ?? 'string')
  if (type === 'integer' || type === 'number') return 'number'
  return type === 'boolean' || type === 'null' ? type : 'unknown'
}

/** The type of the texts by which a list is sorted, from their pattern. Other patterns have no type. */
function sortType(pattern = ''): string | undefined {
  const [, properties] = /^\^\(([\w|]+)\)\(,\(asc\|desc\)\)\?\$$/.exec(pattern) ?? []
  return properties && `\`\${${properties.split('|').map(literal).join(' | ')}}\${'' | ',asc' | ',desc'}\``
}

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value))

function objectType(schema: Schema, indent: string): string {
  const { properties, required, additionalProperties } = schema
  if (properties?.secretWithheld) return withheldType(schema, indent)
  if (properties && Object.keys(properties).length > 0)
    return members(properties, required, indent, additionalProperties ? ['[name: string]: unknown'] : [])
  const of = additionalProperties ? typeOf(additionalProperties, indent) : 'unknown'
  return `{ [name: string]: ${of} }`
}

/** The type of a response with a secret, or with null because another credential has received the secret. */
function withheldType({ properties = {}, required }: Schema, indent: string): string {
  const { secretWithheld = {}, ...others } = properties
  const secrets = Object.entries(others).filter(([name]) => SECRETS.has(name))
  const names = secrets.map(([name]) => name)
  const received = secrets.map(([name, { description = '' }]) => [name, { type: 'string', description }])
  const withheld = names.map(name => [name, { type: 'null' }])
  const rest = Object.entries(others).filter(([name]) => !SECRETS.has(name))
  return [
    members(Object.fromEntries(rest), required, indent),
    ` & (${members({ ...Object.fromEntries(received), secretWithheld: { text: 'never' } }, names, indent)}`,
    ` | ${members({ ...Object.fromEntries(withheld), secretWithheld }, [...names, 'secretWithheld'], indent)})`,
  ].join('')
}

const SECRETS: ReadonlySet<string> = new Set(OPERATIONS.flatMap(({ secretFields = [] }) => secretFields))

/** The members of an object type, each on a line with its description. */
function members(
  properties: Record<string, Schema>,
  required: readonly string[] = [],
  indent = '',
  others: readonly string[] = [],
): string {
  const inner = `${indent}  `
  const lines = Object.entries(properties).flatMap(([name, schema]) => {
    const wide = typeOf(schema, inner)
    const type = EVENT_TYPE_MEMBERS.includes(name) ? wide.replace(/\bstring\b/, WEBHOOK_EVENT_TYPE) : wide
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
