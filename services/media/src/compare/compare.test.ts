import type { DocumentKind } from '@gantry/contracts'
import { describe, expect, test } from 'vitest'
import { compareDocuments } from './compare.ts'

const compared = (kind: DocumentKind, before: unknown, after: unknown) => {
  const document = (content: unknown) => ({
    kind,
    bytes: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
  })
  return compareDocuments(document(before), document(after))
}
/** The changes, each by the first letter of its level and its message. */
const changesOf = async (kind: DocumentKind, before: unknown, after: unknown) =>
  (await compared(kind, before, after)).changes.map(({ level, message }) => `${level[0]} ${message}`)

const api = (operation: object, more: object = {}) => ({
  openapi: '3.0.3',
  info: { title: 'T', version: '1' },
  paths: { '/pets/{id}': { get: { responses: { 200: { description: 'ok' } }, ...operation } } },
  ...more,
})
const parameter = (more: object) => api({ parameters: [{ name: 'q', in: 'query', schema: {}, ...more }] })
const json = (schema: unknown) => ({ content: { 'application/json': { schema } } })
const request = (schema: unknown) => api({ requestBody: json(schema) })
const response = (schema: unknown) => api({ responses: { 200: { description: 'ok', ...json(schema) } } })

describe('an operation of OpenAPI', () => {
  const removed = { ...api({}), paths: { '/x': { get: { responses: {} } } } }
  test.for<[string, unknown, unknown, string[]]>([
    [
      'removed',
      api({}),
      removed,
      ['B the operation GET /pets/{id} was removed', 'C the operation GET /x was added'],
    ],
    [
      'with other names in its path',
      api({}),
      { ...api({}), paths: { '/pets/{pet}': api({}).paths['/pets/{id}'] } },
      [],
    ],
    ['with another text', api({ summary: 'a' }), api({ summary: 'b' }), []],
    ['deprecated', api({}), api({ deprecated: true }), ['C it became deprecated']],
    [
      'with a required parameter',
      api({}),
      parameter({ required: true }),
      ['B the required query parameter q was added'],
    ],
    ['with an optional parameter', api({}), parameter({}), ['C the optional query parameter q was added']],
    ['without a parameter', parameter({}), api({}), ['U the query parameter q was removed']],
    [
      'whose parameter became required',
      parameter({}),
      parameter({ required: true }),
      ['B the query parameter q became required'],
    ],
    [
      'whose parameter is a text now',
      parameter({ schema: { type: 'integer' } }),
      parameter({ schema: { type: 'string' } }),
      ['C the type changed from integer to string in requests'],
    ],
    [
      'with a required body',
      api({}),
      api({ requestBody: { required: true, ...json({}) } }),
      ['B the required request body was added'],
    ],
    ['without a body', request({}), api({}), ['B the request body was removed']],
    [
      'whose body has another media type',
      request({}),
      api({ requestBody: { content: { 'text/plain': {} } } }),
      [
        'B the media type application/json of requests was removed',
        'C the media type text/plain of requests was added',
      ],
    ],
    ['without a successful response', api({}), api({ responses: {} }), ['B the response 200 was removed']],
    [
      'without an error',
      api({ responses: { 404: { description: '' } } }),
      api({ responses: {} }),
      ['U the response 404 was removed'],
    ],
    [
      'that needs authentication',
      api({}),
      api({ security: [{ key: [] }] }),
      ['B requests need authentication', 'C authentication by key was added'],
    ],
    [
      'that needs another scope',
      api({ security: [{ key: ['a'] }] }),
      api({ security: [{ key: ['a', 'b'] }] }),
      ['B the scopes b of key are needed now'],
    ],
    [
      'below another path',
      api({}, { servers: [{ url: 'https://a/v1' }] }),
      api({}, { servers: [{ url: 'https://b/v2/' }] }),
      ['U the paths of the servers changed from /v1 to /v2'],
    ],
  ])('%s', async ([, before, after, changes]) =>
    expect(await changesOf('openapi', before, after)).toEqual(changes),
  )
})

describe('a schema', () => {
  const object = (properties: object, required: string[] = []) => ({ type: 'object', properties, required })
  const text = { type: 'string' }
  /** What it means in requests, and in responses. */
  test.for<[string, unknown, unknown, string, string]>([
    ['an optional property was added', object({}), object({ a: text }), 'C', 'C'],
    ['a required property was added', object({}), object({ a: text }, ['a']), 'B', 'C'],
    ['an optional property was removed', object({ a: text }), object({}), 'U', 'U'],
    ['a required property was removed', object({ a: text }, ['a']), object({}), 'U', 'B'],
    ['a property became required', object({ a: text }), object({ a: text }, ['a']), 'B', 'C'],
    [
      'a read-only property became required',
      object({ a: { readOnly: true } }),
      object({ a: { readOnly: true } }, ['a']),
      '',
      'C',
    ],
    ['a property became optional', object({ a: text }, ['a']), object({ a: text }), 'C', 'B'],
    [
      'other properties are no longer allowed',
      object({}),
      { ...object({}), additionalProperties: false },
      'B',
      'C',
    ],
    ['other properties are allowed now', { additionalProperties: false }, {}, 'C', 'C'],
    ['a value was added', { enum: ['a'] }, { enum: ['a', 'b'] }, 'C', 'B'],
    ['a value was removed', { enum: ['a', 'b'] }, { enum: ['a'] }, 'B', 'C'],
    ['a list of values was added', {}, { enum: ['a'] }, 'B', 'C'],
    ['integers became numbers', { type: 'integer' }, { type: 'number' }, 'C', 'B'],
    ['another type', text, { type: 'integer' }, 'B', 'B'],
    ['another format', { format: 'date' }, { format: 'date-time' }, 'B', 'B'],
    ['a wider format', { format: 'int32' }, { format: 'int64' }, 'C', 'B'],
    ['null is allowed now', text, { ...text, nullable: true }, 'C', 'B'],
    ['a longer text', { maxLength: 5 }, { maxLength: 6 }, 'C', 'B'],
    ['a larger least value', { minimum: 5 }, { minimum: 6 }, 'B', 'C'],
    [
      'a least value that is excluded',
      { minimum: 5, exclusiveMinimum: true },
      { minimum: 5, exclusiveMinimum: true },
      '',
      '',
    ],
    ['a pattern was added', {}, { pattern: 'a' }, 'B', 'C'],
    ['another pattern', { pattern: 'b' }, { pattern: 'a' }, 'U', 'U'],
    ['unique elements', {}, { uniqueItems: true }, 'B', 'C'],
    ['another default', { default: 1 }, { default: 2 }, 'U', ''],
    ['elements of another type', { items: text }, { items: { type: 'integer' } }, 'B', 'B'],
    [
      'the same in allOf',
      object({ a: text, b: text }, ['a']),
      { allOf: [object({ a: text }, ['a']), object({ b: text })], type: 'object' },
      '',
      '',
    ],
    [
      'a choice was added',
      { oneOf: [text, { type: 'integer' }] },
      { oneOf: [text, { type: 'integer' }, { type: 'boolean' }] },
      'C',
      'B',
    ],
    [
      'a choice was removed',
      { anyOf: [text, { type: 'integer' }, object({})] },
      { anyOf: [text, object({})] },
      'B',
      'C',
    ],
    ['nothing is valid', {}, false, 'B', 'C'],
  ])('%s', async ([, before, after, inRequests, inResponses]) => {
    const levels = async (of: typeof request) => {
      const { changes } = await compared('openapi', of(before), of(after))
      return [...new Set(changes.map(({ level }) => level[0]))].join('')
    }
    expect([await levels(request), await levels(response)]).toEqual([inRequests, inResponses])
  })
})

test('a change of a shared schema is told once, where the schema is, and cyclic schemas end', async () => {
  const shared = (type: string) => ({
    ...response({ $ref: '#/components/schemas/Pet' }),
    components: {
      schemas: {
        Pet: { properties: { owner: { $ref: '#/components/schemas/Owner' } } },
        Owner: { properties: { 'a/b': { type }, pets: { items: { $ref: '#/components/schemas/Pet' } } } },
        Self: { $ref: '#/components/schemas/Self' },
      },
    },
  })
  expect(await compared('openapi', shared('string'), shared('integer'))).toEqual({
    breaking: true,
    changes: [
      {
        pointer: '/components/schemas/Owner/properties/a~1b',
        level: 'BREAKING',
        message: 'the type changed from string to integer in responses',
        line: 1,
        fromLine: 1,
      },
    ],
    truncated: false,
  })
})

test('Swagger 2.0 and OpenAPI 3 are compared by what they mean', async () => {
  const swagger = {
    swagger: '2.0',
    basePath: '/v1',
    consumes: ['application/json'],
    securityDefinitions: { login: { type: 'basic' } },
    paths: {
      '/pets': {
        parameters: [
          { name: 'ids', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'multi' },
        ],
        post: {
          parameters: [{ name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } }],
          responses: {
            200: { schema: { $ref: '#/definitions/Pet' }, headers: { 'X-Rate': { type: 'integer' } } },
          },
        },
        put: {
          consumes: ['multipart/form-data'],
          parameters: [{ name: 'file', in: 'formData', type: 'string' }],
        },
      },
    },
    definitions: { Pet: { type: 'object', 'x-nullable': true } },
  }
  const Pet = { type: 'object', nullable: true }
  const ids = { name: 'ids', in: 'query', schema: { type: 'array', items: { type: 'string' } } }
  const openapi = (more: object = {}) => ({
    openapi: '3.0.0',
    servers: [{ url: 'https://host/v1' }],
    paths: {
      '/pets': {
        parameters: [ids],
        post: {
          requestBody: { required: true, ...json(Pet) },
          responses: { 200: { ...json(Pet), headers: { 'x-rate': { schema: { type: 'integer' } } } } },
        },
        put: {
          requestBody: {
            content: {
              'multipart/form-data': { schema: { type: 'object', properties: { file: { type: 'string' } } } },
            },
          },
          ...more,
        },
      },
    },
    components: { securitySchemes: { login: { type: 'http', scheme: 'basic' } } },
  })
  expect(await changesOf('openapi', swagger, openapi())).toEqual([])
  expect(await changesOf('openapi', swagger, openapi({ deprecated: true }))).toEqual([
    'C it became deprecated',
  ])
})

test('more changes than can be shown are cut, and what breaks comes first', async () => {
  const many = (count: number) =>
    response({ properties: Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, {}])) })
  const without = await compared('openapi', many(0), many(1_500))
  expect([without.breaking, without.truncated, without.changes.length]).toEqual([false, true, 1_000])
  const broken = await compared('openapi', many(0), { ...many(1_500), security: [{ key: [] }] })
  expect([broken.truncated, broken.changes[0]?.level]).toEqual([true, 'BREAKING'])
  const typed = (type: string) =>
    response({ properties: Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`p${n}`, { type }])) })
  const cut = await compared('openapi', typed('string'), typed('integer'))
  expect([cut.truncated, new Set(cut.changes.map(({ level }) => level))]).toEqual([
    true,
    new Set(['BREAKING']),
  ])
})

test('members that are no texts are no changes', async () => {
  const odd = (text: string) => ({
    ...api({
      summary: text,
      parameters: [null, { name: 'q', in: '__proto__', schema: { format: '__proto__' } }],
    }),
    components: { securitySchemes: { a: { type: {}, in: [] } } },
  })
  expect(await changesOf('openapi', odd('a'), odd('b'))).toEqual([])
  const parameter = [{ name: 'q', in: '__proto__', schema: { format: 'x' } }]
  expect(await changesOf('openapi', odd('a'), { ...odd('a'), ...api({ parameters: parameter }) })).toEqual([
    'B the format changed from __proto__ to x in requests',
  ])
})

const NOWHERE = { line: null, fromLine: null }

test('documents of different kinds, and texts, are not judged', async () => {
  const markdown = { kind: 'markdown' as const, bytes: Buffer.from('# A\nb\nc') }
  const other = { kind: 'other' as const, bytes: Buffer.from([0, 1]) }
  expect(await compareDocuments(markdown, other)).toEqual({
    breaking: null,
    changes: [
      { pointer: '', level: 'UNCLEAR', message: 'the kind changed from markdown to other', ...NOWHERE },
    ],
    truncated: false,
  })
  expect((await compared('markdown', '# A\nb\nc', '# A\nx\ny\nc')).changes).toEqual([
    {
      pointer: 'line 2',
      level: 'UNCLEAR',
      message: 'the text changed: line 2 before, now the lines 2 to 3',
      ...NOWHERE,
    },
  ])
  expect((await compared('markdown', '# A', '# A\nb')).changes[0]?.message).toContain(
    'nothing after line 1 before, now line 2',
  )
  expect(await compareDocuments(other, other)).toEqual({ breaking: false, changes: [], truncated: false })
})

test.for<[string, DocumentKind, unknown, unknown, string[]]>([
  [
    'graphql',
    'graphql',
    'type Query { "text" a(b: Int): Int c: Int }',
    'type Query { a(b: Int, d: Int): Int! }',
    [
      "B field 'c' was removed from object type 'Query'",
      "U argument 'd: Int' added to field 'Query.a'",
      "C field 'Query.a' changed type from 'Int' to 'Int!'",
    ],
  ],
  [
    'json-schema: fewer or more values are unclear',
    'json-schema',
    { $defs: { A: { type: 'string' }, B: {} }, properties: { a: { enum: [1] }, b: { type: 'string' } } },
    {
      $defs: { A: { type: 'number' } },
      properties: { a: { enum: [1, 2] }, b: { type: ['string', 'null'] } },
    },
    [
      'B the type changed from string to number',
      'U null is allowed now',
      'U values are allowed now: 2',
      'U the definition B was removed',
    ],
  ],
  [
    'asyncapi: clients write what is received, and read what is sent',
    'asyncapi',
    {
      asyncapi: '2.6.0',
      channels: {
        a: { publish: { message: { payload: { required: ['x'], properties: { x: {} } } } } },
        b: {
          subscribe: { message: { oneOf: [{ name: 'm', payload: { type: 'integer' } }, { name: 'n' }] } },
        },
        c: { subscribe: {} },
      },
    },
    {
      asyncapi: '3.0.0',
      channels: {
        one: {
          address: 'a',
          messages: {
            m: {
              payload: {
                schemaFormat: 'application/schema+json',
                schema: { required: ['x', 'y'], properties: { x: {}, y: {} } },
              },
            },
          },
        },
        two: { address: 'b', messages: { m: { payload: { type: 'number' } }, o: {} } },
      },
      operations: {
        receive: { action: 'receive', channel: { $ref: '#/channels/one' } },
        send: { action: 'send', channel: { $ref: '#/channels/two' } },
      },
    },
    [
      'B the required property y was added in requests',
      'B the type changed from integer to number in responses',
      'B the operation SEND c was removed',
      'U the message o was added',
      'C the message n was removed in responses',
    ],
  ],
  [
    'protobuf: numbers and types',
    'protobuf',
    'syntax = "proto3"; package p; message A { int32 a = 1; string b = 2; B c = 3; int32 d = 4; map<string, int32> e = 5; } message B {} enum E { X = 0; Y = 1; } service S { rpc Get(A) returns (B); rpc Old(A) returns (B); }',
    'syntax = "proto3"; package p; message A { int64 a = 1; repeated string b = 2; p.B z = 3; string f = 6; map<string, B> e = 5; } message B {} enum E { X = 0; Z = 2; } service S { rpc Get(A) returns (stream B); }',
    [
      'B the field is repeated now',
      'B the field d = 4 was removed',
      'B the type changed from map<string, int32> to map<string, p.B>',
      'B the value Y = 1 was removed',
      'B the method changed from (p.A) returns (p.B) to (p.A) returns (stream p.B)',
      'B the method Old was removed',
      'U the type changed from int32 to int64',
      'U the field was called c, which JSON shows',
      'C the field f = 6 was added',
      'C the value Z = 2 was added',
    ],
  ],
])('%s', async ([, kind, before, after, changes]) =>
  expect((await changesOf(kind, before, after)).toSorted()).toEqual(changes.toSorted()),
)

test('changes have their lines in both documents, or those of the nearest value around, and none in other syntaxes', async () => {
  const yaml = (paths: string) => `openapi: 3.0.3\npaths:\n${paths}`
  const get = (path: string) => `  ${path}:\n    get:\n      responses: {}\n`
  const lines = async (kind: DocumentKind, before: unknown, after: unknown) =>
    (await compared(kind, before, after)).changes.map(({ message, fromLine, line }) => [
      message,
      fromLine,
      line,
    ])
  expect(await lines('openapi', yaml(get('/a') + get('/b')), yaml(get('/b') + get('/c')))).toEqual([
    ['the operation GET /a was removed', 4, 2],
    ['the operation GET /c was added', 2, 7],
  ])
  const schema = (type: string, more: object) =>
    JSON.stringify({ ...more, properties: { a: { type } } }, null, 1)
  expect(await lines('json-schema', schema('string', {}), schema('integer', { title: 'T' }))).toEqual([
    ['the type changed from string to integer', 3, 4],
  ])
  expect(await lines('graphql', 'type Query { a: Int, b: Int }', 'type Query { a: Int }')).toEqual([
    [expect.any(String), null, null],
  ])
})
