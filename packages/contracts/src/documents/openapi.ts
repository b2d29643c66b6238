import { z } from 'zod'
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverride,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi'
import { bodyLimitOf, type Operation, type OperationResponse } from '../operations/operation.ts'
import { PROBLEMS, Problem, type ProblemCode } from '../operations/problems.ts'
import { SCOPES, Scope } from '../operations/scopes.ts'
import { OPERATIONS, TAGS } from './all-operations.ts'
import { describedFields } from './openapi-fields.ts'
import { PROBLEMS_OF_ALL, problemExample, problemsOf } from './openapi-problems.ts'
import { SERVICE_PATHS } from './openapi-service.ts'
import { pascalCase, webhookPaths } from './openapi-webhooks.ts'

const DESCRIPTION = `Management of API definitions, their images, versions and deployments, of access tokens and webhooks.

## Quick start

Log in. The header \`Authorization\` of the response has the token.

\`\`\`sh
BASE_URL=http://localhost:8080
curl -i $BASE_URL/login \\
  -H 'content-type: application/json' \\
  -d '{"username":"NAME","password":"PASSWORD"}'
\`\`\`

Send the token with each request. It ends after an hour; a program uses a token of \`POST /accessTokens\`.

\`\`\`sh
TOKEN=...
curl "$BASE_URL/apis?size=5" \\
  -H "Authorization: Bearer $TOKEN"
\`\`\`

Create a webhook. Only this response has the secret that verifies its deliveries.

\`\`\`sh
curl $BASE_URL/webhooks \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'content-type: application/json' \\
  -d '{"displayName":"First","active":true,
    "url":"https://example.com/hook",
    "eventTypes":["API_CREATED"]}'
\`\`\`

## Requests

Unknown members of bodies are ignored. A query parameter that an operation does not list is refused with
the status 400. HEAD is supported wherever GET is.

A body may have at most 1 KiB unless the operation states another limit. A larger one is answered with
the status 413; if there is not enough memory for it at the moment, with 503 and \`Retry-After\`.

## Responses

Every response has an \`X-Request-Id\`: that of the request, or a new one. Failures are problem details (RFC 9457)
with a stable \`code\`.

Lists contain a change of their records as soon as it is answered. The audit log, events and search by words follow
within moments.

Text of more than 1 KiB is compressed for clients that accept it, except streams and documents of versions. Entity
tags are the same in every encoding.`

const HEADERS = {
  'X-Request-Id': 'Id of the request, for support and logs',
  ETag: 'Strong entity tag of the record: its revision',
  'WWW-Authenticate': 'How to authenticate',
  'Retry-After': 'Seconds after which to try again',
  'RateLimit-Limit': 'Requests allowed per minute; present if requests are limited',
  'RateLimit-Remaining': 'Requests left in this minute',
  'RateLimit-Reset': 'Seconds until the end of this minute',
  'Idempotency-Replayed': 'true if this is the response to an earlier request with the same key',
} as const
type HeaderName = keyof typeof HEADERS

const REQUEST_HEADERS = {
  'If-Match': 'Change the record only if it has one of these entity tags; otherwise the response is 412',
  'If-None-Match': 'Respond with 304 if the record still has one of these entity tags',
  'Idempotency-Key':
    'If the same request is sent again with the same key within 24 hours, it gets the response of the first one. The key with another body, query or If-Match is refused with 422. A key applies to one operation with its path parameters. It belongs to the access token of the request; another access token that sends the same key makes a new request. Without an access token it belongs to the user: all their logins share it',
  'Last-Event-ID': 'Position to resume after, for server-sent events; overrides the query parameter',
} as const
type RequestHeaderName = keyof typeof REQUEST_HEADERS

/** What the service accepts in a header of a request. */
const REQUEST_HEADER_SCHEMAS = {
  'If-Match': { type: 'string', pattern: '^\\s*(\\*|(W/)?"[^"]*"(\\s*,\\s*(W/)?"[^"]*")*)\\s*$' },
  'If-None-Match': { type: 'string' },
  'Idempotency-Key': { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  'Last-Event-ID': { type: 'string' },
} as const satisfies Record<RequestHeaderName, object>

const text = { type: 'string' } as const
const headers = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))

/**
 * The whole interface as an OpenAPI 3.1 document.
 * @param options.basePath empty, or a path such as /gantry
 * @param options.version version of the product
 */
export function openApiDocument({ basePath, version }: { basePath: string; version: string }): object {
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Gantry',
        version,
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: basePath || '/' }],
      security: [{ bearer: [] }],
      // Generators make the names of modules of tags; documentation shows the other name.
      tags: Object.entries(TAGS).map(([name, description]) => ({
        name,
        description,
        ...(name === 'Apis' && { 'x-displayName': 'APIs' }),
      })),
      paths: { ...pathsOf(OPERATIONS), ...SERVICE_PATHS },
      webhooks: webhookPaths(),
      components: {
        schemas: { Problem },
        responses: { Problem: problemResponse(PROBLEMS_OF_ALL) },
        headers: mapped(HEADERS, description => ({ description, schema: text })),
        parameters: mapped(REQUEST_HEADERS, (description, name) => ({
          name,
          in: 'header',
          description,
          schema: REQUEST_HEADER_SCHEMAS[name],
        })),
        examples: mapped(PROBLEMS, ({ title }, code) => ({ summary: title, value: problemExample(code) })),
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description:
              'A login token (POST /login), a personal access token (POST /accessTokens) or a JWT of the platform',
          },
        },
      },
    },
    { override: forGenerators },
  )
  return JSON.parse(JSON.stringify(document), (name, value) =>
    describedFields(name, withoutArrays(value)),
  ) as object
}

/**
 * Leaves what a union with arrays is to its description: openapi-generator makes code in Java of such a union that does not
 * compile.
 */
function withoutArrays(value: { anyOf?: { type?: string }[] } | null): object | null {
  if (!Array.isArray(value?.anyOf)) return value
  const { anyOf, ...rest } = value
  const options = anyOf.filter(({ type }) => type !== 'null')
  const isOpen = options.some(option => Object.keys(option).length === 0)
  const hasArray = options.length > 1 && options.some(({ type }) => type === 'array')
  return isOpen || hasArray ? rest : value
}

/**
 * Drops what generators of clients take for a constraint: the patterns that zod adds to formats are too narrow, e.g. UUIDs
 * of any version are accepted, and its bounds of integers are those of the language.
 */
const forGenerators: ZodOpenApiOverride = ({ jsonSchema, zodSchema }) => {
  if (zodSchema === Scope) Object.assign(jsonSchema, { 'x-enum-varnames': SCOPES.map(pascalCase) })
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
  if (jsonSchema.type !== 'integer') return
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  jsonSchema.format = 'int64'
}

const mapped = <Name extends string, From, To>(
  from: Record<Name, From>,
  to: (value: From, name: Name) => To,
) =>
  Object.fromEntries((Object.entries(from) as [Name, From][]).map(([name, value]) => [name, to(value, name)]))

function pathsOf(operations: readonly Operation[]): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {}
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: described(operation),
    }
  }
  return paths
}

function described(operation: Operation): ZodOpenApiOperationObject {
  const { scope } = operation
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: [operation.description, repeatsSecrets(operation), needs(scope)]
      .filter(Boolean)
      .join('\n\n'),
    security: securityOf(operation),
    'x-required-scope': scope,
    requestParams: {
      ...(operation.params && { path: operation.params }),
      ...(operation.query && { query: operation.query }),
    },
    parameters: requestHeadersOf(operation).map(name => ({ $ref: `#/components/parameters/${name}` })),
    ...(operation.body && { requestBody: requestBodyOf(operation) }),
    responses: { ...successResponsesOf(operation), ...problemResponsesOf(operation) },
  }
}

/** An empty requirement stands for callers without credentials, which only `PUBLIC_CATALOG` allows. */
function securityOf({ scope, crawled }: Operation): ZodOpenApiOperationObject['security'] {
  if (scope === 'public') return []
  return [{ bearer: scope === 'authenticated' ? [] : [scope] }, ...(crawled ? [{}] : [])]
}

function needs(scope: Operation['scope']): string {
  if (scope === 'public') return 'Requires no credentials.'
  if (scope === 'authenticated') return 'Requires valid credentials, with any scopes.'
  return `Requires the scope **${scope}**.`
}

function repeatsSecrets({ idempotent, secretFields = [] }: Operation): string | undefined {
  if (!idempotent || secretFields.length === 0) return undefined
  const fields = secretFields.map(field => `\`${field}\``).join(' and ')
  return `A response that is repeated for an Idempotency-Key contains ${fields} only for the credential that first received it. For another login or JWT of the platform of the same user ${fields} is null and \`secretWithheld\` is true.`
}

function requestHeadersOf({ method, conditional, idempotent, responses }: Operation): RequestHeaderName[] {
  const streams = Object.values(responses).some(
    ({ alternatives = {} }) => 'text/event-stream' in alternatives,
  )
  return [
    ...(conditional && method === 'GET' ? (['If-None-Match'] as const) : []),
    ...(conditional && method !== 'GET' && !(method === 'POST' && responses[201])
      ? (['If-Match'] as const)
      : []),
    ...(idempotent ? (['Idempotency-Key'] as const) : []),
    ...(streams ? (['Last-Event-ID'] as const) : []),
  ]
}

function requestBodyOf(operation: Operation) {
  const { body, bodyExample, bodyMediaType } = operation
  const example = bodyExample !== undefined && { example: bodyExample }
  return {
    description: `At most ${bodyLimitOf(operation) / 1_024} KiB`,
    required: true,
    content: Object.fromEntries(
      namedTypes([bodyMediaType ?? 'application/json']).map(type => [type, { schema: body, ...example }]),
    ),
  }
}

function successResponsesOf(operation: Operation): Record<string, ZodOpenApiResponseObject> {
  const { method, conditional, idempotent } = operation
  const tagged = conditional && method !== 'DELETE'
  const common = headers([
    'X-Request-Id',
    ...(tagged ? (['ETag'] as const) : []),
    ...(idempotent ? (['Idempotency-Replayed'] as const) : []),
    'RateLimit-Limit',
    'RateLimit-Remaining',
    'RateLimit-Reset',
  ])
  const responses = mapped(operation.responses as Record<string, OperationResponse>, response => ({
    description: response.description,
    headers: { ...common, ...mapped(response.headers ?? {}, description => ({ description, schema: text })) },
    ...contentOf(response),
    ...linksTo(operation, response),
  }))
  return tagged && method === 'GET'
    ? { ...responses, 304: { description: 'The record still has a given entity tag', headers: common } }
    : responses
}

/** The operation that reads what an operation has created, for clients that follow links. */
function linksTo({ path, params }: Operation, { headers = {} }: OperationResponse) {
  if (!headers.Location?.startsWith('Path of')) return {}
  const read = OPERATIONS.find(
    other =>
      other.method === 'GET' &&
      other.path.startsWith(`${path}/{`) &&
      !/\}\/./.test(other.path.slice(path.length)),
  )
  if (!read) return {}
  const own = Object.keys(params?.shape ?? {})
  const parameters = Object.keys(read.params?.shape ?? {}).map(name => [
    name,
    own.includes(name) ? `$request.path.${name}` : '$response.body#/id',
  ])
  return { links: { [read.id]: { operationId: read.id, parameters: Object.fromEntries(parameters) } } }
}

/** The examples of the bodies of responses, by their schemas. */
const EXAMPLES = new Map(
  OPERATIONS.flatMap(({ responses }) => Object.values(responses)).flatMap(({ schema, example }) =>
    schema && example !== undefined ? [[schema, example] as const] : [],
  ),
)

/** An example of a response: its own, or made of those of its items. */
function exampleOf(schema: z.ZodType | undefined): unknown {
  const known = schema && (EXAMPLES.get(schema) ?? schema.meta()?.example)
  if (schema === undefined || known !== undefined) return known
  if (schema instanceof z.ZodUnion) return exampleOf(schema.options[0] as z.ZodType)
  if (schema instanceof z.ZodArray) return listed(exampleOf(schema.element as z.ZodType))
  const items = schema instanceof z.ZodObject ? schema.shape.content : undefined
  const content = items instanceof z.ZodArray ? exampleOf(items) : undefined
  return content && { content, size: 10, number: 1, totalPages: 1, totalElements: 1, last: true }
}

const listed = (item: unknown) => (item === undefined ? undefined : [item])

function contentOf({
  schema,
  mediaTypes,
  alternatives,
  example,
}: OperationResponse): Pick<ZodOpenApiResponseObject, 'content'> {
  const bodyOf = (type: string, of = schema) => {
    const shown = example ?? exampleOf(of)
    return [type, { schema: of ?? bytesOf(type), ...(shown !== undefined && { example: shown }) }]
  }
  if (alternatives)
    return { content: Object.fromEntries(Object.entries(alternatives).map(([type, of]) => bodyOf(type, of))) }
  if (!schema && !mediaTypes) return {}
  return {
    content: Object.fromEntries(namedTypes(mediaTypes ?? ['application/json']).map(type => bodyOf(type))),
  }
}

/** Generators of clients know bytes by the media type application/octet-stream, and skip any other. */
const namedTypes = (mediaTypes: readonly string[]) =>
  mediaTypes.includes('*/*') ? ['application/octet-stream', ...mediaTypes] : mediaTypes

const bytesOf = (mediaType: string) =>
  /^text\/|ndjson/.test(mediaType) ? text : ({ type: 'string', format: 'binary' } as const)

/** Headers of problems beside those of their status. */
const PROBLEM_HEADERS: Partial<Record<ProblemCode, readonly HeaderName[]>> = {
  'request-in-progress': ['Retry-After'],
  'too-many-requests': ['Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
}

function headersOf(code: ProblemCode): readonly HeaderName[] {
  const { status } = PROBLEMS[code]
  if (status === 401) return ['WWW-Authenticate']
  if (status === 503) return ['Retry-After']
  return PROBLEM_HEADERS[code] ?? []
}

/** The error responses of an operation: its own by status, and those that all operations have. */
function problemResponsesOf(operation: Operation): ZodOpenApiResponsesObject {
  const own = problemsOf(operation)
  const statuses = new Set(own.map(code => PROBLEMS[code].status))
  const shared = PROBLEMS_OF_ALL.filter(code => statuses.has(PROBLEMS[code].status))
  const byStatus = Object.groupBy([...own, ...shared], code => PROBLEMS[code].status)
  return {
    ...mapped(byStatus as Record<string, ProblemCode[]>, problemResponse),
    default: { $ref: '#/components/responses/Problem' },
  }
}

/** A response with an example for each problem. */
const problemResponse = (listed: readonly ProblemCode[]): ZodOpenApiResponseObject => ({
  description: listed.map(code => PROBLEMS[code].title).join('; '),
  headers: headers(['X-Request-Id', ...listed.flatMap(headersOf)]),
  content: {
    'application/problem+json': {
      schema: Problem,
      examples: Object.fromEntries(listed.map(code => [code, { $ref: `#/components/examples/${code}` }])),
    },
  },
})
