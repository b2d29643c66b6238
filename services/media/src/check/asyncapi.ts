import { createRequire } from 'node:module'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import {
  type Content,
  contentWith,
  invalid,
  listOf,
  MAX_KEPT,
  membersOf,
  type Operation,
  objectOf,
  operationWith,
  textOf,
  textsOf,
} from './checked.ts'
import { lostReferences, resolve } from './openapi.ts'
import { type Found, violationsOf } from './schema.ts'

const require = createRequire(import.meta.url)
const VERSIONS = new Set(['2.0.0', '2.1.0', '2.2.0', '2.3.0', '2.4.0', '2.5.0', '2.6.0', '3.0.0', '3.1.0'])

const validators = new Map<string, ValidateFunction>()

function validatorOf(version: string): ValidateFunction {
  const known = validators.get(version)
  if (known) return known
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false, validateFormats: false })
  addFormats.default(ajv)
  const { $schema, ...schema } = require(`@asyncapi/specs/schemas/${version}-without-$id.json`)
  const made = ajv.compile(schema)
  validators.set(version, made)
  return made
}

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
  const info = objectOf(document.info)
  const components = objectOf(document.components)
  const operations = [
    ...(String(document.asyncapi).startsWith('2') ? operations2(document) : operations3(document)),
  ]
  return contentWith({
    title: textOf(info.title),
    version: textOf(info.version),
    operations: operations.slice(0, MAX_KEPT),
    schemas: textsOf([
      ...Object.keys(objectOf(components.schemas)),
      ...Object.keys(objectOf(components.messages)),
    ]),
  })
}

const described = (operation: Record<string, unknown>) => ({
  summary: textOf(operation.summary) ?? textOf(operation.description)?.slice(0, 200) ?? null,
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
      if (typeof operation !== 'object' || operation === null) continue
      const members = objectOf(operation)
      yield operationWith({
        method,
        path: textOf(channel) ?? '',
        operationId: textOf(members.operationId),
        ...described(members),
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
