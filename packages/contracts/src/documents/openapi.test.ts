import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  bodyLimitOf,
  createApi,
  EVENT_TYPES,
  logout,
  OPERATIONS,
  openApiDocument,
  PROBLEMS,
} from '../index.ts'

/** Names of fields that are secrets in every schema. */
const SECRETS = new Set(['token', 'secret', 'password'])

interface MediaType {
  schema?: object
  example?: unknown
  examples?: Record<string, { $ref: string }>
}
interface Response {
  description: string
  headers?: Record<string, object>
  content?: Record<string, MediaType>
  links?: Record<string, object>
}
interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: object
}
interface Described {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  security: Record<string, string[]>[]
  'x-required-scope': string
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { description: string; content: Record<string, MediaType> }
  responses: Record<string, Response>
}
interface Document {
  openapi: string
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Described>>
  webhooks: Record<string, Record<string, Described>>
  components: {
    schemas: Record<string, object>
    examples: Record<string, { value: unknown }>
    responses: Record<string, Response>
    parameters: Record<string, Parameter>
    securitySchemes: Record<string, object>
  }
}

const documentOf = (basePath: string) => openApiDocument({ basePath, version: '1.2.3' }) as Document
const document = documentOf('')
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
)
const operation = (id: string) => {
  const found = operations.find(({ operation: { operationId } }) => operationId === id)
  if (!found) throw new Error(`no operation ${id}`)
  return found.operation
}
const parameters = ({ parameters: listed = [] }: Described) =>
  listed.map(parameter => {
    if (!('$ref' in parameter)) return parameter
    const name = parameter.$ref.replace('#/components/parameters/', '')
    const found = document.components.parameters[name]
    if (!found) throw new Error(`no parameter ${name}`)
    return found
  })
const names = (described: Described, place: string) =>
  parameters(described)
    .filter(parameter => parameter.in === place)
    .map(({ name }) => name)

const ajv = new Ajv2020({ allowUnionTypes: true })
formats.default(ajv)
ajv.addVocabulary(['example', 'components', 'x-enum-varnames'])

const { schemas } = document.components
const validators = new Map<string, ReturnType<typeof ajv.compile>>()
/** The validator of a schema. Many places of the document have the same schema. */
function compiled(schema: object) {
  const text = JSON.stringify(schema)
  const validator = validators.get(text) ?? ajv.compile({ ...schema, components: { schemas } })
  validators.set(text, validator)
  return validator
}

/** Validates a value against a schema of the document. @returns the errors */
function faults(schema: object, value: unknown): string[] {
  const validate = compiled(schema)
  validate(value)
  return (validate.errors ?? []).map(error => `${error.instancePath} ${error.message}`)
}

const allNodes = function* (node: unknown): Generator<Record<string, unknown>> {
  if (typeof node !== 'object' || node === null) return
  yield node as Record<string, unknown>
  for (const child of Object.values(node)) yield* allNodes(child)
}

/** The bodies of an operation with their media types. */
const bodies = ({ requestBody, responses }: Described) =>
  [requestBody, ...Object.values(responses)].flatMap(body =>
    Object.entries(body?.content ?? {}).map(([type, of]) => ({ type, ...of })),
  )

describe('The document', () => {
  test('states the maximum size of bodies, which is enough for every valid body', () => {
    expect(operation('login').requestBody?.description).toBe('At most 8 KiB')
    expect(operation('updateApi').requestBody?.description).toBe('At most 256 KiB')
    expect(bodyLimitOf(logout)).toBe(1_024)
    const emoji = (length: number) => '\u{1f680}'.repeat(length)
    const largest = {
      name: emoji(255),
      displayName: emoji(255),
      description: emoji(1_000),
      url: emoji(2_048),
      status: 'ACTIVE',
      tags: Array.from({ length: 50 }, (_, at) => `${emoji(98)}${String(at).padStart(2, '0')}`),
      platformType: emoji(100),
      gitUrl: emoji(2_048),
    }
    expect(createApi.body?.safeParse(largest).error).toBeUndefined()
    const escaped = JSON.stringify(largest, null, 2).replace(
      /[^\x20-\x7e\n]/g,
      unit => `\\u${unit.charCodeAt(0).toString(16)}`,
    )
    expect(JSON.parse(escaped)).toEqual(largest)
    expect(escaped.length).toBeLessThan(bodyLimitOf(createApi))
  })

  test('has a valid example for every request body', () => {
    for (const { operation: described } of operations) {
      for (const [type, { schema, example }] of Object.entries(described.requestBody?.content ?? {})) {
        if (type === 'multipart/form-data' || /octet-stream|\*/.test(type)) continue
        expect(example, described.operationId).toBeDefined()
        expect(faults(schema ?? {}, example), described.operationId).toEqual([])
      }
    }
  })

  test('has no description with a line that Markdown takes for an item of a list', () => {
    const texts = [...allNodes(document)].flatMap(({ description }) =>
      typeof description === 'string' ? [description] : [],
    )
    expect(texts.filter(text => /^\s*(\d+[.)]|[-*+]) /m.test(text))).toEqual([])
  })

  test('has operations in the order list, create, get, replace, delete', () => {
    const ofRuleSets = operations.filter(({ path }) => /^\/ruleSets(\/\{\w+\})?$/.test(path))
    expect(ofRuleSets.map(({ operation: { operationId } }) => operationId)).toEqual([
      'listRuleSets',
      'createRuleSet',
      'getRuleSet',
      'updateRuleSet',
      'deleteRuleSet',
    ])
  })

  test('has schemas that are JSON Schema 2020-12', () => {
    const schemas = [
      ...Object.values(document.components.schemas),
      ...[...allNodes(document.paths)].flatMap(({ schema }) =>
        typeof schema === 'object' && schema ? [schema] : [],
      ),
    ]
    expect(schemas.length).toBeGreaterThan(200)
    for (const schema of schemas) expect(() => compiled(schema), JSON.stringify(schema)).not.toThrow()
  })

  test('contains everything that it refers to', () => {
    const references = [...allNodes(document)].flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []))
    const missing = references.filter(reference => {
      const parts = reference.slice(2).split('/')
      return (
        parts.reduce<unknown>((node, part) => (node as Record<string, unknown>)?.[part], document) ===
        undefined
      )
    })
    expect(missing).toEqual([])
  })

  test('names every enum, object and union, so that generated clients have a type with its name for each', () => {
    const isUnion = ({ anyOf = [] }: { anyOf?: { $ref?: string }[] }) =>
      anyOf.filter(({ $ref }) => $ref).length > 1
    /** The nodes inside of a named one. */
    const unnamed = (schema: object) =>
      [...allNodes(schema)]
        .slice(1)
        .filter(node => node.properties || (node.enum as unknown[] | undefined)?.[1] || isUnion(node))
    for (const [name, schema] of Object.entries(document.components.schemas))
      expect(unnamed(schema), name).toEqual([])
    for (const { operation: described } of operations)
      expect(unnamed([bodies(described), described.parameters]), described.operationId).toEqual([])
  })

  test('has no union with arrays, of which a generator for Java makes code that does not compile', () => {
    const unions = [...allNodes(document)].flatMap(({ anyOf }) => (Array.isArray(anyOf) ? [anyOf] : []))
    const values = unions.map(union => union.filter(({ type }) => type !== 'null'))
    expect(values.filter(({ length }) => length > 1)).not.toEqual([])
    expect(values.filter(union => union.length > 1 && union.some(({ type }) => type === 'array'))).toEqual([])
  })

  test('describes every property and parameter, and bounds integers by rules of the service alone', () => {
    for (const { operation: described } of operations)
      for (const { name, description } of parameters(described))
        expect(description, `${described.operationId} ${name}`).toBeTruthy()
    for (const node of allNodes(document.components.schemas)) {
      if (node.type === 'integer') expect(node.format).toBe('int64')
      expect([node.minimum, node.maximum]).not.toContain(Number.MAX_SAFE_INTEGER)
      const properties = node.type === 'object' && node.properties ? Object.entries(node.properties) : []
      for (const [name, { description }] of properties) expect(description, name).toBeTruthy()
    }
  })

  test('has a schema for every body, and a valid example of every body that is not of bytes', () => {
    for (const { operation: described } of operations)
      for (const { type, schema = {}, example } of bodies(described)) {
        expect(Object.keys(schema), described.operationId).not.toEqual([])
        if (!/json$/.test(type) || /problem|ndjson/.test(type)) continue
        expect(faults(schema, example), `${described.operationId} ${type}`).toEqual([])
      }
  })

  test('has the payloads of webhooks by event type', () => {
    expect(Object.keys(document.webhooks)).toEqual(Object.keys(EVENT_TYPES))
    for (const { post } of Object.values(document.webhooks)) {
      const { schema = {}, example } = post?.requestBody?.content['application/json'] ?? {}
      expect(faults(schema, example), post?.operationId).toEqual([])
    }
  })

  test('has operations and requests of webhooks under different tags', () => {
    const tagsOf = (paths: Document['paths']) =>
      new Set(Object.values(paths).flatMap(item => Object.values(item).flatMap(({ tags }) => tags)))
    const [ofOperations, ofWebhooks] = [tagsOf(document.paths), tagsOf(document.webhooks)]
    expect([...ofOperations, ...ofWebhooks].toSorted()).toEqual(
      document.tags.map(({ name }) => name).toSorted(),
    )
  })

  test('links what was created to its record', () => {
    expect(operation('createVersion').responses[201]?.links).toEqual({
      getVersion: {
        operationId: 'getVersion',
        parameters: { api_id: '$request.path.api_id', version_id: '$response.body#/id' },
      },
    })
  })

  test('declares the parameters of every path and requires no others', () => {
    for (const { path, operation: described } of operations) {
      const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(names(described, 'path'), path).toEqual(placeholders)
      const required = parameters(described).filter(parameter => parameter.required)
      expect(
        required.map(({ name }) => name),
        path,
      ).toEqual(placeholders)
    }
  })
})

describe('An operation', () => {
  test('names its required scope', () => {
    expect(operation('createApi').security).toEqual([{ bearer: ['API_WRITE'] }])
    expect(operation('createApi')['x-required-scope']).toBe('API_WRITE')
    expect(operation('createApi').description).toContain('API_WRITE')
    expect(operation('logout').security).toEqual([{ bearer: [] }])
    expect(operation('login').security).toEqual([])
    expect(operation('getLiveness').security).toEqual([])
    expect(document.components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' })
  })

  test('lists the headers of conditional and idempotent requests', () => {
    expect(names(operation('getApi'), 'header')).toEqual(['If-None-Match'])
    expect(names(operation('updateApi'), 'header')).toEqual(['If-Match'])
    expect(names(operation('deleteApi'), 'header')).toEqual(['If-Match'])
    expect(names(operation('createApi'), 'header')).toEqual(['Idempotency-Key'])
    expect(names(operation('streamEvents'), 'header')).toEqual(['Last-Event-ID'])
    expect(names(operation('listApis'), 'header')).toEqual([])
  })

  test('that returns a secret declares it, and may respond without it', () => {
    const secretsOf = (schema: z.ZodType | undefined) =>
      schema instanceof z.ZodObject ? Object.keys(schema.shape).filter(name => SECRETS.has(name)) : []
    const answering = OPERATIONS.flatMap(({ id, responses, secretFields = [] }) =>
      Object.values(responses).flatMap(({ schema, example }) => {
        const secrets = secretsOf(schema)
        return secrets.length > 0 ? [{ id, schema, example, secrets, secretFields }] : []
      }),
    )
    expect(answering.map(({ id }) => id)).toEqual([
      'createAccessToken',
      'createWebhook',
      'rotateWebhookSecret',
    ])
    for (const { id, schema, example, secrets, secretFields } of answering) {
      expect(secretFields, id).toEqual(secrets)
      const withheld = { ...Object.fromEntries(secrets.map(name => [name, null])), secretWithheld: true }
      expect(schema?.safeParse({ ...(example as object), ...withheld }).success, id).toBe(true)
      expect(operation(id).description).toContain('`secretWithheld`')
    }
  })

  test('states what the headers of requests may be', () => {
    const accepts = (name: string, value: string) =>
      faults(document.components.parameters[name]?.schema ?? {}, value).length === 0
    expect(['*', '"7"', 'W/"7", "8-ab"', '7', ''].map(value => accepts('If-Match', value))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
    expect(['a-key', 'a key', '', 'k'.repeat(256)].map(value => accepts('Idempotency-Key', value))).toEqual([
      true,
      false,
      false,
      false,
    ])
  })

  test('lists the headers of its responses', () => {
    const created = operation('createApi').responses[201]?.headers ?? {}
    expect(Object.keys(created)).toEqual(
      expect.arrayContaining(['X-Request-Id', 'ETag', 'Location', 'Idempotency-Replayed', 'RateLimit-Limit']),
    )
    expect(Object.keys(operation('deleteApi').responses[204]?.headers ?? {})).not.toContain('ETag')
    expect(Object.keys(operation('login').responses[200]?.headers ?? {})).toContain('Authorization')
    expect(operation('getApi').responses.default).toEqual({ $ref: '#/components/responses/Problem' })
    expect(Object.keys(document.components.responses.Problem?.headers ?? {})).toEqual(
      expect.arrayContaining(['WWW-Authenticate', 'Retry-After', 'RateLimit-Reset']),
    )
  })

  test('lists every status of its responses, with an example of each problem', () => {
    const statuses = (id: string) => Object.keys(operation(id).responses).join(' ')
    expect(statuses('createApi')).toBe('201 400 409 422 default')
    expect(statuses('getApi')).toBe('200 304 400 404 default')
    expect(Object.keys(operation('login').responses)).not.toContain('304')
    const conflicts = operation('createApi').responses[409]?.content?.['application/problem+json']?.examples
    expect(conflicts).toEqual({
      'request-in-progress': { $ref: '#/components/examples/request-in-progress' },
      'write-conflict': { $ref: '#/components/examples/write-conflict' },
      'api-name-taken': { $ref: '#/components/examples/api-name-taken' },
    })
  })
})

test('Every problem has a valid example', () => {
  const { schemas, examples } = document.components
  expect(Object.keys(examples)).toEqual(Object.keys(PROBLEMS))
  for (const { value } of Object.values(examples)) expect(faults(schemas.Problem ?? {}, value)).toEqual([])
})

test('Unknown members are invalid in responses and valid in requests', () => {
  const { ApiInput = {}, DeploymentJob = {} } = document.components.schemas
  const job = {
    id: '0b7a4b0e-2f57-4f0a-9b5b-6c1f5b1f9d11',
    type: 'DEPLOY',
    api: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
    environment: '11111111-1111-1111-1111-111111111111',
    status: 'RUNNING',
    startedAt: '2026-11-21T09:31:00.000Z',
  }
  expect(faults(DeploymentJob, job)).toEqual([])
  expect(faults(DeploymentJob, { ...job, surprise: true })).not.toEqual([])
  const api = { name: 'a', displayName: 'A', status: 'ACTIVE', tags: [] }
  expect(faults(ApiInput, { ...api, surprise: true })).toEqual([])
})
