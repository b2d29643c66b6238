import { Ajv2020 } from 'ajv/dist/2020.js'
import Ajv04 from 'ajv-draft-04'
import addFormats from 'ajv-formats'
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
import { escaped } from './pointer.ts'
import { lostReferences, resolve } from './references.ts'
import { AJV_OPTIONS, type Found, readSchema, validatorFor, violationsOf } from './schema.ts'

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'])
const FORMATS = ['media-range', 'json-pointer-uri-fragment'] as const

const validatorOf = (version: string) =>
  validatorFor(`openapi ${version}`, () => {
    const Ajv = version === '2.0' || version === '3.0' ? Ajv04.default : Ajv2020
    const ajv = new Ajv(AJV_OPTIONS)
    addFormats.default(ajv)
    for (const format of FORMATS) ajv.addFormat(format, true)
    return ajv.compile(readSchema(`@seriousme/openapi-schema-validator/schemas/v${version}/schema.json`))
  })

/** The version of the specification: 2.0, 3.0, 3.1 or 3.2. @throws DocumentInvalid for others */
export function openApiVersion(document: Record<string, unknown>): string {
  const { openapi, swagger } = document
  const named = String(openapi ?? swagger)
  const version = /^(\d+\.\d+)/.exec(named)?.[1] ?? named
  // YAML reads 2.0 without quotes as the number 2.
  if (openapi === undefined && (version === '2' || version === '2.0')) return '2.0'
  if (openapi !== undefined && ['3.0', '3.1', '3.2'].includes(version)) return version
  const member = openapi === undefined ? 'swagger' : 'openapi'
  throw invalid(
    `${member} must be ${openapi === undefined ? '2.0' : '3.0.x, 3.1.x or 3.2.x'}, not ${named.slice(0, 50)}`,
    {},
    `/${member}`,
  )
}

/** The content of an OpenAPI document. References to other files are not followed. */
export function openApiContent(document: Record<string, unknown>): Content {
  const { title, version } = objectOf(document.info)
  const components = objectOf(document.components)
  return contentWith({
    title,
    version,
    operations: operationsOf(document),
    schemas: Object.keys(objectOf(components.schemas ?? document.definitions)),
  })
}

/** The path items by path, and those of webhooks by name. @yields member of the document, key and item */
function* itemsOf(document: Record<string, unknown>): Generator<[string, string, unknown]> {
  for (const member of ['paths', 'webhooks'])
    for (const [key, item] of membersOf(document[member])) yield [member, key, item]
}

function* operationsOf(document: Record<string, unknown>): Generator<Operation> {
  for (const [, path, item] of itemsOf(document)) {
    const { $ref } = objectOf(item)
    const members =
      typeof $ref === 'string' ? { ...objectOf(resolve(document, $ref)), ...objectOf(item) } : objectOf(item)
    const others = objectOf(members.additionalOperations)
    for (const [method, operation] of [...Object.entries(members), ...Object.entries(others)]) {
      if (!(METHODS.has(method) || Object.hasOwn(others, method)) || !isObject(operation)) continue
      yield operationWith({
        method: method.toUpperCase().slice(0, 20),
        path: textOf(path) ?? '',
        operationId: textOf(operation.operationId),
        summary: summaryOf(operation.description, operation.summary),
        tags: textsOf(listOf(operation.tags).slice(0, 50)),
        deprecated: operation.deprecated === true,
      })
    }
  }
}

/** Violations of the schema of OpenAPI, references to nothing, and ids that several operations have. */
export function openApiFindings(document: Record<string, unknown>, version: string): Found[] {
  return [
    ...violationsOf(validatorOf(version), document),
    ...lostReferences(document),
    ...sharedIds(document),
  ]
}

function sharedIds(document: Record<string, unknown>): Found[] {
  const found: Found[] = []
  const seen = new Set<unknown>()
  for (const [part, path, item] of itemsOf(document))
    for (const [method, operation] of membersOf(item)) {
      const id = METHODS.has(method) ? objectOf(operation).operationId : undefined
      const pointer = `/${part}/${escaped(path)}/${method}/operationId`
      const message = `another operation has the operationId ${String(id).slice(0, 200)}`
      if (id !== undefined && seen.has(id))
        found.push({ severity: 'WARNING', code: 'operation-id-shared', message, pointer })
      if (id !== undefined) seen.add(id)
    }
  return found
}
