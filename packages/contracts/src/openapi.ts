import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverride,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi'
import { problemExample, problemsOf } from './openapi-problems.ts'
import { SERVICE_PATHS } from './openapi-service.ts'
import { type Answer, bodyLimitOf, type Operation } from './operation.ts'
import { OPERATIONS } from './operations.ts'
import { PROBLEMS, Problem, type ProblemCode } from './problems.ts'

const DESCRIPTION = `Management of API definitions, their images, versions and deployments, of access tokens and webhooks.

Every answer carries \`X-Request-Id\`: the one that the request came with, or a new one. Failures are problem details
(RFC 9457) with a stable \`code\`. Unknown members of bodies are ignored; a query parameter that an operation does not
list is refused with 400. HEAD is answered wherever GET is. A body has at most 1 KiB where an operation does not say
otherwise; a larger one is answered 413, and 503 with \`Retry-After\` one that there is no memory for at the moment.`

const TAGS: Readonly<Record<string, string>> = {
  APIs: 'API definitions',
  Deployments: 'Deployment of APIs to environments; jobs are carried out by deployment agents',
  Images: 'One image for each API',
  Versions: 'Versions of APIs',
  Login: 'Login with user name and password',
  'Access tokens': 'Personal access tokens, for automation',
  Users: 'Who may do what',
  Audit: 'What was changed, by whom, and how',
  Webhooks: 'Endpoints that are called when something happens',
  Deliveries: 'What was sent to webhooks, and what is still to be sent',
  Events: 'Everything that happens, as a stream; and the way in for events of the platform',
  Service: 'Health, metrics and keys',
}

const HEADERS = {
  'X-Request-Id': 'Id of the request, for support and logs',
  ETag: 'Strong entity tag of the record: its revision',
  'WWW-Authenticate': 'How to authenticate',
  'Retry-After': 'Seconds after which to try again',
  'RateLimit-Limit': 'Requests allowed in a minute; present when requests are limited',
  'RateLimit-Remaining': 'Requests left in this minute',
  'RateLimit-Reset': 'Seconds until the minute is over',
  'Idempotency-Replayed': 'true when this is the answer to an earlier request with the same key',
} as const
type HeaderName = keyof typeof HEADERS

const REQUEST_HEADERS = {
  'If-Match': 'Change only what is at one of these entity tags; 412 otherwise',
  'If-None-Match': 'Answer 304 when the record is still at one of these entity tags',
  'Idempotency-Key':
    'The same request with the same key within 24 hours is answered with the first answer again; another body, query or If-Match with the key is refused with 422. Keys are apart by access token, else by user, and by operation and path parameters',
  'Last-Event-ID': 'Position to resume after, for server-sent events; goes before the query parameter',
} as const
type RequestHeaderName = keyof typeof REQUEST_HEADERS

const text = { type: 'string' } as const
const headers = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))

/** The whole interface as an OpenAPI 3.1 document; `basePath` is empty or like /this, `version` that of the product. */
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
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      paths: { ...pathsOf(OPERATIONS), ...SERVICE_PATHS },
      components: {
        schemas: { Problem },
        headers: mapped(HEADERS, description => ({ description, schema: text })),
        parameters: mapped(REQUEST_HEADERS, (description, name) => ({
          name,
          in: 'header',
          description,
          schema: text,
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
    { override: formatsOnly },
  )
  return JSON.parse(JSON.stringify(document)) as object
}

/** A format says it all; the patterns that zod adds are narrower than what is taken and given, e.g. UUIDs of any version. */
const formatsOnly: ZodOpenApiOverride = ({ jsonSchema }) => {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
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
    security: scope === 'public' ? [] : [{ bearer: scope === 'authenticated' ? [] : [scope] }],
    'x-required-scope': scope,
    requestParams: {
      ...(operation.params && { path: operation.params }),
      ...(operation.query && { query: operation.query }),
    },
    parameters: requestHeadersOf(operation).map(name => ({ $ref: `#/components/parameters/${name}` })),
    ...(operation.body && { requestBody: requestBodyOf(operation) }),
    responses: { ...answersOf(operation), ...problemResponsesOf(operation) },
  }
}

function needs(scope: Operation['scope']): string {
  if (scope === 'public') return 'Open to anyone.'
  if (scope === 'authenticated') return 'Needs valid credentials, of any scope.'
  return `Needs the scope **${scope}**.`
}

function repeatsSecrets({ idempotent, secretFields = [] }: Operation): string | undefined {
  if (!idempotent || secretFields.length === 0) return undefined
  const fields = secretFields.map(field => `\`${field}\``).join(' and ')
  return `Repeated under an Idempotency-Key, the answer has ${fields} only for the credential (login, access token or JWT of the platform) that got it first. For another one ${fields} is null and \`secretWithheld\` true.`
}

function requestHeadersOf({ method, conditional, idempotent, answers }: Operation): RequestHeaderName[] {
  const streams = Object.values(answers).some(({ mediaTypes }) => mediaTypes?.includes('text/event-stream'))
  return [
    ...(conditional && method === 'GET' ? (['If-None-Match'] as const) : []),
    ...(conditional && (method === 'PUT' || method === 'DELETE') ? (['If-Match'] as const) : []),
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
    content: { [bodyMediaType ?? 'application/json']: { schema: body, ...example } },
  }
}

function answersOf(operation: Operation): Record<string, ZodOpenApiResponseObject> {
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
  const answers = mapped(operation.answers as Record<string, Answer>, answer => ({
    description: answer.description,
    headers: { ...common, ...mapped(answer.headers ?? {}, description => ({ description, schema: text })) },
    ...contentOf(answer),
  }))
  return tagged && method === 'GET'
    ? { ...answers, 304: { description: 'The record is still at the entity tag given', headers: common } }
    : answers
}

function contentOf({ schema, mediaTypes, example }: Answer): Pick<ZodOpenApiResponseObject, 'content'> {
  if (!schema && !mediaTypes) return {}
  const body = { ...(schema && { schema }), ...(example !== undefined && { example }) }
  return { content: Object.fromEntries((mediaTypes ?? ['application/json']).map(type => [type, body])) }
}

const PROBLEM_HEADERS: Partial<Record<ProblemCode, readonly HeaderName[]>> = {
  unauthenticated: ['WWW-Authenticate'],
  'wrong-credentials': ['WWW-Authenticate'],
  'request-in-progress': ['Retry-After'],
  'too-many-requests': ['Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
  unavailable: ['Retry-After'],
  'body-memory-full': ['Retry-After'],
  'not-ready': ['Retry-After'],
}

/** A response for each status, with an example for each problem that has it. */
function problemResponsesOf(operation: Operation): Record<string, ZodOpenApiResponseObject> {
  const codes = Object.groupBy(problemsOf(operation), code => PROBLEMS[code].status)
  return mapped(codes as Record<string, ProblemCode[]>, these => ({
    description: these.map(code => PROBLEMS[code].title).join('; '),
    headers: headers(['X-Request-Id', ...these.flatMap(code => PROBLEM_HEADERS[code] ?? [])]),
    content: {
      'application/problem+json': {
        schema: Problem,
        examples: Object.fromEntries(these.map(code => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  }))
}
