import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import Ajv04 from 'ajv-draft-04'
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
import { type Found, violationsOf } from './schema.ts'
import { escaped } from './tree.ts'

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'])
const FORMATS = ['media-range', 'json-pointer-uri-fragment'] as const

const schemaOf = (version: string) =>
  JSON.parse(
    readFileSync(
      fileURLToPath(
        import.meta.resolve(`@seriousme/openapi-schema-validator/schemas/v${version}/schema.json`),
      ),
      'utf8',
    ),
  )

const validators = new Map<string, ValidateFunction>()

function validatorOf(version: string): ValidateFunction {
  const known = validators.get(version)
  if (known) return known
  const Ajv = version === '2.0' || version === '3.0' ? Ajv04.default : Ajv2020
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false })
  addFormats.default(ajv)
  for (const format of FORMATS) ajv.addFormat(format, true)
  const made = ajv.compile(schemaOf(version))
  validators.set(version, made)
  return made
}

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
  const info = objectOf(document.info)
  const components = objectOf(document.components)
  return contentWith({
    title: textOf(info.title),
    version: textOf(info.version),
    operations: [...operationsOf(document)],
    schemas: textsOf(Object.keys(objectOf(components.schemas ?? document.definitions))),
  })
}

function* operationsOf(document: Record<string, unknown>): Generator<Operation> {
  let count = 0
  for (const [path, item] of membersOf(document.paths)) {
    const { $ref } = objectOf(item)
    const members =
      typeof $ref === 'string' ? { ...objectOf(resolve(document, $ref)), ...objectOf(item) } : objectOf(item)
    const others = objectOf(members.additionalOperations)
    for (const [method, operation] of [...Object.entries(members), ...Object.entries(others)]) {
      if (!(METHODS.has(method) || Object.hasOwn(others, method)) || !isObject(operation)) continue
      if (++count > MAX_KEPT) return
      yield operationWith({
        method: method.toUpperCase().slice(0, 20),
        path: textOf(path) ?? '',
        operationId: textOf(operation.operationId),
        summary: textOf(operation.summary) ?? textOf(operation.description)?.slice(0, 200) ?? null,
        tags: textsOf(listOf(operation.tags).slice(0, 50)),
        deprecated: operation.deprecated === true,
      })
    }
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const unescaped = (token: string) => {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return token
  }
}

/** What a reference inside the document refers to; undefined for nothing, and for other files. */
export function resolve(document: unknown, reference: string): unknown {
  if (!reference.startsWith('#/')) return reference === '#' ? document : undefined
  let at = document
  for (const token of reference.slice(2).split('/').map(unescaped)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, token)) return undefined
    at = (at as Record<string, unknown>)[token]
  }
  return at
}

/** Violations of the schema of OpenAPI, references to nothing, and ids that several operations have. */
export function openApiFindings(document: Record<string, unknown>, version: string): Found[] {
  return [
    ...violationsOf(validatorOf(version), document),
    ...lostReferences(document),
    ...sharedIds(document),
  ]
}

/** Members whose values are data and not parts of the document. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const', 'value'])

/** References inside the document to nothing. */
export function lostReferences(document: Record<string, unknown>): Found[] {
  const found: Found[] = []
  const seen = new Set<object>()
  const resolved = new Map<string, boolean>()
  const visit = (value: unknown, pointer: string) => {
    if (typeof value !== 'object' || value === null || seen.has(value) || found.length >= 100) return
    seen.add(value)
    for (const [key, part] of Object.entries(value)) {
      const at = `${pointer}/${escaped(key)}`
      if (key === '$ref' && typeof part === 'string' && part.startsWith('#/')) {
        const known = resolved.get(part) ?? resolve(document, part) !== undefined
        resolved.set(part, known)
        const message = `refers to ${part.slice(0, 200)}, which does not exist`
        if (!known) found.push({ severity: 'ERROR', code: 'unresolved-reference', message, pointer: at })
      } else if (!DATA.has(key) && !key.startsWith('x-')) visit(part, at)
    }
  }
  visit(document, '')
  return found
}

function sharedIds(document: Record<string, unknown>): Found[] {
  const found: Found[] = []
  const seen = new Set<unknown>()
  for (const [path, item] of membersOf(document.paths))
    for (const [method, operation] of membersOf(item)) {
      const id = METHODS.has(method) ? objectOf(operation).operationId : undefined
      const pointer = `/paths/${escaped(path)}/${method}/operationId`
      const message = `another operation has the operationId ${String(id).slice(0, 200)}`
      if (id !== undefined && seen.has(id))
        found.push({ severity: 'WARNING', code: 'operation-id-shared', message, pointer })
      if (id !== undefined) seen.add(id)
    }
  return found
}
