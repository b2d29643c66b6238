import { Ajv } from 'ajv'
import {
  type Content,
  contentWith,
  invalid,
  isObject,
  listOf,
  membersOf,
  type Operation,
  objectOf,
  operationWith,
  summaryOf,
  textOf,
  textsOf,
} from './checked.ts'
import { lostReferences, resolve } from './references.ts'
import { AJV_OPTIONS, type Found, readSchema, validatorFor, violationsOf } from './schema.ts'

const VERSIONS = new Set(['2.0.0', '2.1.0', '2.2.0', '2.3.0', '2.4.0', '2.5.0', '2.6.0', '3.0.0', '3.1.0'])

const validatorOf = (version: string) =>
  validatorFor(`asyncapi ${version}`, () => {
    const { $schema, ...schema } = readSchema(`@asyncapi/specs/schemas/${version}-without-$id.json`)
    return new Ajv({ ...AJV_OPTIONS, validateFormats: false }).compile(schema)
  })

/** @throws DocumentInvalid for versions other than 2 and 3 */
export function asyncApiVersion({ asyncapi }: Record<string, unknown>): string {
  const version = String(asyncapi)
  if (VERSIONS.has(version)) return version
  throw invalid(
    `asyncapi must be one of ${[...VERSIONS].join(', ')}, not ${version.slice(0, 50)}`,
    {},
    '/asyncapi',
  )
}

export const asyncApiFindings = (document: Record<string, unknown>, version: string): Found[] => [
  ...violationsOf(validatorOf(version), document),
  ...lostReferences(document),
]

export function asyncApiContent(document: Record<string, unknown>): Content {
  const { title, version } = objectOf(document.info)
  const components = objectOf(document.components)
  return contentWith({
    title,
    version,
    operations: String(document.asyncapi).startsWith('2') ? operations2(document) : operations3(document),
    schemas: [components.schemas, components.messages].flatMap(part => Object.keys(objectOf(part))),
  })
}

const described = (operation: Record<string, unknown>) => ({
  summary: summaryOf(operation.description, operation.summary),
  tags: textsOf(listOf(operation.tags).map(tag => objectOf(tag).name)).slice(0, 50),
  deprecated: operation.deprecated === true,
})

/** In AsyncAPI 2 `subscribe` is what a client can do: the API sends. */
function* operations2(document: Record<string, unknown>): Generator<Operation> {
  for (const [channel, item] of membersOf(document.channels))
    for (const [member, method] of [
      ['subscribe', 'SEND'],
      ['publish', 'RECEIVE'],
    ] as const) {
      const operation = objectOf(item)[member]
      if (!isObject(operation)) continue
      yield operationWith({
        method,
        path: textOf(channel) ?? '',
        operationId: textOf(operation.operationId),
        ...described(operation),
      })
    }
}

function* operations3(document: Record<string, unknown>): Generator<Operation> {
  for (const [id, value] of membersOf(document.operations)) {
    const operation = objectOf(value)
    const { $ref } = objectOf(operation.channel)
    const channel = typeof $ref === 'string' ? objectOf(resolve(document, $ref)) : {}
    const path =
      textOf(channel.address) ??
      textOf(
        String($ref ?? '')
          .split('/')
          .at(-1),
      ) ??
      ''
    const method = operation.action === 'receive' ? 'RECEIVE' : 'SEND'
    yield operationWith({ method, path, operationId: textOf(id), ...described(operation) })
  }
}
