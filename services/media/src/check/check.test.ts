import { expect, test } from 'vitest'
import { samples, zip } from '../testing/sample-documents.ts'
import { checkDocument } from './check.ts'
import { DocumentInvalid } from './checked.ts'

const bytesOf = (content: string | Buffer) => (typeof content === 'string' ? Buffer.from(content) : content)
const shown = (content: string | Buffer, options = {}) => {
  const { kind, mediaType, content: what, findings } = checkDocument(bytesOf(content), options)
  return {
    kind,
    mediaType,
    title: what.title,
    operations: what.operations.map(({ method, path }) => `${method} ${path}`),
    schemas: what.schemas,
    findings: findings.map(({ line, message }) => `${line}: ${message}`),
  }
}
const faultOf = (content: string | Buffer, options = {}) => {
  try {
    return checkDocument(bytesOf(content), options).kind
  } catch (error) {
    if (!(error instanceof DocumentInvalid)) throw error
    const [{ line, column, message } = { line: 0, column: 0, message: '' }] = error.errors
    return `${line}:${column} ${message}`
  }
}

const none = { title: null, operations: [], schemas: [], findings: [] }

test.for<[string, string | Buffer, object]>([
  [
    'OpenAPI 2.0 in JSON',
    samples.openApi2,
    {
      kind: 'openapi',
      mediaType: 'application/vnd.oai.openapi+json;version=2.0',
      title: 'A',
      operations: ['GET /a'],
      schemas: ['B'],
      findings: [],
    },
  ],
  [
    'OpenAPI 3.0 with faults',
    'openapi: 3.0.3\ninfo: {title: A, version: "1"}\npaths:\n  /a:\n    get: {responses: {}}\n    post: {responses: {200: {$ref: "#/components/responses/no"}}}\n  b: {}\n',
    {
      kind: 'openapi',
      mediaType: 'application/vnd.oai.openapi+yaml;version=3.0',
      title: 'A',
      operations: ['GET /a', 'POST /a'],
      schemas: [],
      findings: [
        '5: must NOT have fewer than 1 properties',
        '6: refers to #/components/responses/no, which does not exist',
        '7: is an unknown member',
      ],
    },
  ],
  [
    'OpenAPI in JSON with faults',
    '{"openapi":"3.0.3",\n"info":{"title":"A","version":"1"},\n"tags":[{"name":"{[\\"a"},\n{}],\n"paths":{"/a":{},\n"b":{}}}',
    {
      kind: 'openapi',
      mediaType: 'application/vnd.oai.openapi+json;version=3.0',
      title: 'A',
      operations: [],
      schemas: [],
      findings: ["4: must have required property 'name'", '6: is an unknown member'],
    },
  ],
  [
    'OpenAPI 3.0 with aliases and merge keys',
    samples.openApi30,
    {
      kind: 'openapi',
      mediaType: 'application/vnd.oai.openapi+yaml;version=3.0',
      title: 'A',
      operations: ['GET /a/{id}', 'DELETE /a/{id}'],
      schemas: ['A'],
      findings: [],
    },
  ],
  [
    'OpenAPI 3.2',
    samples.openApi32,
    {
      kind: 'openapi',
      mediaType: 'application/vnd.oai.openapi+yaml;version=3.2',
      title: 'A',
      operations: ['QUERY /a', 'COPY /a'],
      schemas: [],
      findings: [],
    },
  ],
  [
    'OpenAPI 3.1 with webhooks',
    samples.openApi31,
    {
      kind: 'openapi',
      mediaType: 'application/vnd.oai.openapi+yaml;version=3.1',
      title: 'A',
      operations: ['GET /a', 'POST ordered'],
      schemas: [],
      findings: ['5: another operation has the operationId a'],
    },
  ],
  [
    'AsyncAPI 2',
    samples.asyncApi2,
    {
      kind: 'asyncapi',
      mediaType: 'application/vnd.aai.asyncapi+yaml;version=2.6.0',
      title: 'A',
      operations: ['SEND orders', 'RECEIVE orders'],
      schemas: [],
      findings: [],
    },
  ],
  [
    'AsyncAPI 3',
    samples.asyncApi3,
    {
      kind: 'asyncapi',
      mediaType: 'application/vnd.aai.asyncapi+yaml;version=3.0.0',
      title: 'A',
      operations: ['RECEIVE orders'],
      schemas: [],
      findings: [],
    },
  ],
  [
    'GraphQL',
    samples.graphQl,
    {
      ...none,
      kind: 'graphql',
      mediaType: 'application/graphql',
      operations: ['QUERY Query.pet'],
      schemas: ['Pet'],
    },
  ],
  [
    'GraphQL introspection',
    samples.introspection,
    { ...none, kind: 'graphql', mediaType: 'application/json', operations: ['QUERY Query.pet'] },
  ],
  [
    'Protobuf',
    samples.protobuf,
    {
      ...none,
      kind: 'protobuf',
      mediaType: 'text/x-protobuf',
      title: 'shop.v1',
      operations: ['RPC shop.v1.Orders/Get'],
      schemas: ['shop.v1.OrderId', 'shop.v1.Order', 'shop.v1.Order.State'],
    },
  ],
  [
    'Protobuf in a zip',
    samples.protobufZip,
    {
      ...none,
      kind: 'protobuf',
      mediaType: 'application/zip',
      title: 'shop.v1',
      operations: ['RPC shop.v1.Orders/Get'],
      schemas: ['shop.v1.OrderId', 'shop.v1.Order', 'shop.v1.Order.State'],
    },
  ],
  [
    'WSDL 1.1',
    samples.wsdl11,
    {
      ...none,
      kind: 'wsdl',
      mediaType: 'application/wsdl+xml',
      title: 'StockService',
      operations: ['RPC StockPort/GetPrice'],
      schemas: ['Price'],
    },
  ],
  [
    'WSDL 2.0',
    samples.wsdl20,
    { ...none, kind: 'wsdl', mediaType: 'application/wsdl+xml', operations: ['RPC I/op'] },
  ],
  [
    'Postman 2.1',
    samples.postman,
    {
      ...none,
      kind: 'postman',
      mediaType: 'application/json',
      title: 'P',
      operations: ['POST /a'],
      findings: ['1: must have a request or items'],
    },
  ],
  [
    'JSON Schema',
    samples.jsonSchema,
    {
      ...none,
      kind: 'json-schema',
      mediaType: 'application/schema+json',
      title: 'T',
      schemas: ['A'],
      findings: [
        '1: must be one of array, boolean, integer, null, number, object, string',
        '1: must be array',
      ],
    },
  ],
  [
    'Markdown',
    samples.markdown,
    { ...none, kind: 'markdown', mediaType: 'text/markdown; charset=utf-8', title: 'A *title*' },
  ],
  [
    'Markdown about OpenAPI',
    '# A\n\n```yaml\nopenapi: 3.0.0\n```\n',
    { ...none, kind: 'markdown', mediaType: 'text/markdown; charset=utf-8', title: 'A' },
  ],
  ...[
    'plain text',
    '<!doctype html><h1>a</h1>',
    '{"a": 1}',
    '{"a": ',
    'a: [1',
    '%PDF-1.4',
    '\u0000\u0001',
  ].map((content): [string, string, object] => [
    JSON.stringify(content),
    content,
    { ...none, kind: 'other', mediaType: 'application/octet-stream' },
  ]),
  [
    'a zip without Protobuf',
    zip({ a: 'b' }),
    { ...none, kind: 'other', mediaType: 'application/octet-stream' },
  ],
])('%s is told by its content', ([, content, expected]) => {
  expect(shown(content)).toEqual(expected)
})

test.for<[string, string | Buffer, string]>([
  ['an empty document', '', 'null:null the document is empty'],
  ['JSON that ends', '{"openapi": "3.0.0",\n "info"', "2:8 Expected ':' after property name"],
  ['JSON with a wrong token', '{"info": {},\n "swagger": }', "2:13 Unexpected token '}'"],
  [
    'JSON with duplicate keys',
    '{"openapi":"3.0.0",\n"info":{"title":"a","title":"b"}}',
    '2:21 duplicated mapping key',
  ],
  ['YAML with duplicate keys', 'openapi: 3.0.0\ninfo: {}\ninfo: {}\n', '3:1 duplicated mapping key'],
  [
    'YAML with a wrong indentation',
    'asyncapi: 3.0.0\ninfo:\n  title: a\n version: b\n',
    '4:2 bad indentation of a mapping entry',
  ],
  [
    'several YAML documents',
    'openapi: 3.0.0\n---\na: 1\n',
    'null:null the file has 2 YAML documents, not one',
  ],
  ['an unknown version', '{"a":1,"openapi":"4.0.0"}', '1:8 openapi must be 3.0.x, 3.1.x or 3.2.x, not 4.0.0'],
  [
    'UTF-16',
    Buffer.from('\ufeffopenapi: 3.0.0\n', 'utf16le'),
    '1:1 the document is UTF-16; it must be UTF-8',
  ],
  [
    'UTF-16 without a mark',
    Buffer.from('{"openapi": "3.0.0"}', 'utf16le'),
    '1:1 the document is UTF-16; it must be UTF-8',
  ],
  [
    'Latin-1',
    Buffer.from('openapi: 3.0.0\ninfo: {title: Gr\xfcn}\n', 'latin1'),
    '2:17 the document has bytes that are not UTF-8',
  ],
  [
    'an alias that contains itself',
    'openapi: 3.0.0\ninfo: &a {b: *a}\n',
    'null:null an alias refers to a value that contains it',
  ],
  [
    'aliases that explode',
    `openapi: 3.0.0\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n${Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(10).fill(`*a${n}`)}]`).join('\n')}\n`,
    'null:null the aliases expand to more than 5000000 values',
  ],
  [
    'deep JSON',
    `{"openapi":"3.0.0","a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    'null:null the document is more than 500 levels deep',
  ],
  ['deep YAML', `openapi: 3.0.0\na: ${'['.repeat(100_000)}`, '2:503 nesting exceeded maxDepth (500)'],
  ['GraphQL with a fault', 'type Query {\n  pet: }\n', '2:8 Expected Name, found "}".'],
  [
    'deep GraphQL',
    `type Query { a: ${'['.repeat(100_000)}Int }`,
    'null:null the document is nested too deeply',
  ],
  ['Protobuf with a fault', 'syntax = "proto3";\nmessage A { string }\n', "2:null illegal name '}'"],
  [
    'WSDL with a fault',
    '<definitions xmlns="http://schemas.xmlsoap.org/wsdl/">\n<a></b></definitions>',
    '2:7 unexpected close tag',
  ],
  [
    'WSDL with entities',
    '<!DOCTYPE a [<!ENTITY b "c">]><definitions xmlns="http://schemas.xmlsoap.org/wsdl/"/>',
    '1:30 a document type with an internal subset is not accepted',
  ],
  [
    'a zip with a path that leaves it',
    zip({ '../a.proto': samples.protobuf }),
    'null:null the zip has a path that leaves it: ../a.proto',
  ],
  [
    'a zip bomb',
    zip({ 'a.proto': Buffer.alloc(30_000_000) }),
    'null:null the files of the zip have more than 20971520 bytes together',
  ],
  [
    'a zip with a fault',
    zip({ 'a.proto': 'syntax = "proto3"; message' }),
    'null:null a.proto: the file ends too early',
  ],
  [
    'a damaged zip',
    zip({ 'a.proto': samples.protobuf }).subarray(0, -10),
    'null:null the zip is damaged: its directory is missing',
  ],
  [
    'a zip with a damaged file',
    zip({ 'a.proto': samples.protobuf }, content => content),
    'null:null a.proto in the zip is damaged',
  ],
])('%s is refused with its place', ([, content, fault]) => {
  expect(faultOf(content)).toBe(fault)
})

test('a wanted kind and a charset are compared with the content', () => {
  expect(faultOf('text', { kind: 'openapi' })).toBe('null:null the content is other, not openapi')
  expect(faultOf('{"a": ', { kind: 'json-schema' })).toBe('1:7 Unexpected end of JSON input')
  expect(faultOf('text', { kind: 'markdown' })).toBe('markdown')
  expect(faultOf('{"a": ')).toBe('other')
  expect(faultOf('{"a": ', { mustParse: true })).toBe('1:7 Unexpected end of JSON input')
  expect(faultOf('text', { mustParse: true })).toBe('other')
  expect(faultOf('openapi: 3.0.0', { charset: 'latin1' })).toContain('was sent with the charset latin1')
  expect(faultOf('text', { charset: 'latin1' })).toBe('other')
})

test('members of documents that are no texts are no faults of the extraction', () => {
  const odd = [null, 1, true, [], {}, [null], { a: null }, '']
  const parts = ['info', 'paths', 'servers', 'components', 'channels', 'operations', 'definitions', 'tags']
  for (const head of [
    { openapi: '3.0.0' },
    { openapi: '3.1.0' },
    { swagger: '2.0' },
    { asyncapi: '2.6.0' },
    { asyncapi: '3.0.0' },
  ])
    for (const part of parts)
      for (const value of [
        ...odd,
        ...odd.map(inner => ({ a: inner })),
        ...odd.map(inner => ({ a: { get: inner, subscribe: inner } })),
      ])
        expect(
          faultOf(JSON.stringify({ ...head, [part]: value })),
          `${part} ${JSON.stringify(value)}`,
        ).toMatch(/api$/)
})

test('the summary of an operation without one is the beginning of its description', () => {
  const document = { openapi: '3.0.0', paths: { '/a': { get: { description: `${'a'.repeat(199)}😀` } } } }
  const { content } = checkDocument(Buffer.from(JSON.stringify(document)))
  expect(content.operations[0]?.summary).toBe(`${'a'.repeat(199)}\ufffd…`)
})
