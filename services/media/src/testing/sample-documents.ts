import { deflateRawSync } from 'node:zlib'

const PROTO = `// A service.
syntax = "proto3";
package shop.v1;
import "google/protobuf/empty.proto";
// Orders.
service Orders {
  // Gets an order.
  rpc Get(OrderId) returns (Order) { option deprecated = true; }
}
message OrderId { string id = 1; }
message Order { enum State { NEW = 0; } State state = 1; }
`

/** A zip of files, by name. @param pack compresses a file */
export function zip(
  files: Readonly<Record<string, Buffer | string>>,
  pack: (content: Buffer) => Buffer = content => deflateRawSync(content),
): Buffer {
  const local: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const data = pack(typeof content === 'string' ? Buffer.from(content) : content)
    const header = Buffer.alloc(30)
    header.writeUInt32LE(0x04034b50)
    header.writeUInt16LE(8, 8)
    header.writeUInt32LE(data.length, 18)
    header.writeUInt16LE(name.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50)
    entry.writeUInt16LE(8, 10)
    entry.writeUInt32LE(data.length, 20)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(offset, 42)
    local.push(header, Buffer.from(name), data)
    directory.push(entry, Buffer.from(name))
    offset += 30 + name.length + data.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...local, ...directory, end])
}

/** A document of each kind and syntax. */
export const samples = {
  openApi2: `{"swagger":"2.0","info":{"title":"A","version":"1"},"paths":{"/a":{"get":{"responses":{"200":{"description":""}}}}},"definitions":{"B":{}}}`,
  openApi30: `openapi: 3.0.3
info: {title: A, version: "1", contact: {email: a@example.com}}
paths:
  /a/{id}:
    parameters: [{$ref: "#/components/parameters/id"}]
    get: &get
      operationId: getA
      tags: [a, b]
      responses: {"200": {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/A"}}}}}
    delete: {<<: *get, operationId: deleteA, deprecated: true}
components:
  parameters: {id: {name: id, in: path, required: true, schema: {type: string}}}
  schemas: {A: {type: object, properties: {next: {$ref: "#/components/schemas/A"}}}}
`,
  openApi31:
    'openapi: 3.1.0\ninfo: {title: A, version: "1"}\npaths: {/a: {get: {operationId: a}}}\nwebhooks:\n  ordered: {post: {operationId: a}}\n',
  openApi32:
    'openapi: 3.2.0\ninfo: {title: A, version: "1"}\npaths:\n  /a:\n    query: {responses: {default: {description: d}}}\n    additionalOperations: {COPY: {responses: {default: {description: d}}}}\n',
  asyncApi2:
    'asyncapi: 2.6.0\ninfo: {title: A, version: "1"}\nchannels: {orders: {subscribe: {message: {payload: {type: string}}}, publish: {}}}\n',
  asyncApi3:
    'asyncapi: 3.0.0\ninfo: {title: A, version: "1"}\nchannels: {o: {address: orders}}\noperations: {get: {action: receive, channel: {$ref: "#/channels/o"}}}\n',
  graphQl: '# Pets\n"""A query"""\ntype Query { pet(id: ID!): Pet @deprecated }\ntype Pet { name: String }\n',
  introspection: JSON.stringify({
    data: {
      __schema: {
        queryType: { name: 'Query' },
        directives: [],
        types: [
          { kind: 'SCALAR', name: 'String' },
          {
            kind: 'OBJECT',
            name: 'Query',
            interfaces: [],
            fields: [{ name: 'pet', args: [], type: { kind: 'SCALAR', name: 'String' } }],
          },
        ],
      },
    },
  }),
  protobuf: PROTO,
  protobufZip: zip({ 'a/orders.proto': PROTO, 'README.md': '# Read' }),
  wsdl11: `<?xml version="1.0"?>
<!-- The <service> -->
<definitions name="Stock" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:xsd="http://www.w3.org/2001/XMLSchema"
  xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
  <types><xsd:schema><xsd:element name="Price"/></xsd:schema></types>
  <portType name="StockPort"><operation name="GetPrice"><documentation>A price</documentation></operation></portType>
  <service name="StockService"><port><soap:address location="http://example.com/stock"/></port></service>
</definitions>`,
  wsdl20:
    '<w:description xmlns:w="http://www.w3.org/ns/wsdl"><w:interface name="I"><w:operation name="op"/></w:interface></w:description>',
  postman: JSON.stringify({
    info: { name: 'P', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
    item: [
      { name: 'F', item: [{ name: 'R', request: { method: 'POST', url: { raw: '{{base}}/a?b=1' } } }] },
      {},
    ],
  }),
  jsonSchema:
    '{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"T","type":"nothing","$defs":{"A":{}}}',
  markdown: 'Some text\n\n# A *title*\n',
} as const

/** A document of OpenAPI of almost `size` bytes, with an operation in about 3 KB, as the public APIs have. */
export function largeOpenApi(size: number, title = 'Large'): string {
  const properties = Array.from(
    { length: 24 },
    (_, n) =>
      `"property${n}":{"type":"string","description":"Property ${n} of the resource","maxLength":${n + 100}}`,
  )
  const item = (n: number) =>
    `"/resources/${n}/{id}":{"get":{"operationId":"get${n}","summary":"Read resource ${n}","tags":["resources"],"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"The resource","content":{"application/json":{"schema":{"type":"object","properties":{${properties}}}}}}}}}`
  const paths: string[] = []
  for (let length = 100 + title.length, n = 0; ; n++) {
    const path = item(n)
    length += path.length + 1
    if (length > size) break
    paths.push(path)
  }
  return `{"openapi":"3.0.3","info":{"title":"${title}","version":"1"},"paths":{${paths.join(',')}}}`
}
