import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import Ajv04 from 'ajv-draft-04'
import {
  type Content,
  contentWith,
  listOf,
  MAX_FINDINGS,
  type Operation,
  objectOf,
  operationWith,
  textOf,
  textsOf,
} from './checked.ts'
import { AJV_OPTIONS, type Found, readSchema, validatorFor, violationsOf } from './schema.ts'

/** Whether a value is a collection of Postman 2.x. */
export const isPostman = (root: Record<string, unknown>): boolean =>
  /schema\.(?:get)?postman\.com\/.*collection/.test(String(objectOf(root.info).schema)) && 'item' in root

export function postman(root: Record<string, unknown>): { content: Content; found: Found[] } {
  const info = objectOf(root.info)
  const found: Found[] = []
  const fault = (pointer: string, message: string) =>
    void (
      found.length < MAX_FINDINGS &&
      found.push({ severity: 'ERROR', code: 'schema-violation', message, pointer })
    )
  if (!String(info.schema).includes('/v2.1')) fault('/info/schema', 'must be the schema of Postman 2.1')
  if (textOf(info.name) === null) fault('/info/name', 'must be a text')
  const operations: Operation[] = []
  const visit = (items: unknown, pointer: string, folders: string[]) => {
    if (!Array.isArray(items)) return fault(pointer, 'must be array')
    for (const [index, item] of items.entries()) {
      const at = `${pointer}/${index}`
      const { name, request, item: inner } = objectOf(item)
      if (inner !== undefined) visit(inner, `${at}/item`, [...folders, textOf(name) ?? ''].slice(0, 50))
      else if (request === undefined) fault(at, 'must have a request or items')
      else operations.push(requestOf(request, textOf(name), folders))
    }
  }
  visit(root.item, '/item', [])
  return { content: contentWith({ title: info.name, version: info.version, operations }), found }
}

function requestOf(request: unknown, summary: string | null, tags: string[]): Operation {
  const { method = 'GET', url = request } = objectOf(request)
  const { raw, path } = objectOf(url)
  const written =
    textOf(url) ??
    textOf(raw) ??
    `/${listOf(path)
      .map(part => textOf(part) ?? '')
      .join('/')}`
  const shown = written.replace(/^(?:\w+:\/\/[^/]*|\{\{[^}]*\}\})(?=\/|$)/, '').replace(/[?#].*$/, '')
  return operationWith({
    method: (textOf(method) ?? 'GET').toUpperCase().slice(0, 20),
    path: shown || '/',
    summary,
    tags: textsOf(tags),
  })
}

const DIALECT = /^https?:\/\/json-schema\.org\/draft(?:-|\/)(04|06|07|2019-09|2020-12)\/schema#?$/

/** Whether a value is a JSON Schema that says so. */
export const isJsonSchema = ({ $schema }: Record<string, unknown>): boolean =>
  typeof $schema === 'string' && DIALECT.test($schema)

export function jsonSchema(root: Record<string, unknown>): { content: Content; found: Found[] } {
  const dialect = DIALECT.exec(String(root.$schema))?.[1] ?? '2020-12'
  const definitions = { ...objectOf(root.definitions), ...objectOf(root.$defs) }
  const content = contentWith({ title: root.title, schemas: Object.keys(definitions) })
  return { content, found: violationsOf(metaSchema(dialect), root) }
}

const metaSchema = (dialect: string) =>
  validatorFor(`json-schema ${dialect}`, () => {
    const Draft = { '04': Ajv04.default, '2019-09': Ajv2019, '2020-12': Ajv2020 }[dialect] ?? Ajv
    const ajv = new Draft({ ...AJV_OPTIONS, validateFormats: false })
    if (dialect === '06') ajv.addMetaSchema(readSchema('ajv/dist/refs/json-schema-draft-06.json'))
    const $ref =
      dialect.length === 2
        ? `http://json-schema.org/draft-${dialect}/schema`
        : `https://json-schema.org/draft/${dialect}/schema`
    return ajv.compile({ $ref })
  })
