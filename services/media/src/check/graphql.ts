import type { Finding } from '@gantry/contracts'
import {
  buildASTSchema,
  buildClientSchema,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  type IntrospectionQuery,
  isSpecifiedScalarType,
  parse,
  validateSchema,
} from 'graphql'
import {
  type Content,
  contentWith,
  invalid,
  MAX_FINDINGS,
  type Operation,
  objectOf,
  operationWith,
  summaryOf,
  textOf,
} from './checked.ts'

const MAX_TOKENS = 1_000_000

/** Whether JSON is the answer to an introspection query, with or without the envelope. */
export const introspectionOf = (value: unknown): IntrospectionQuery | undefined => {
  const root = objectOf(objectOf(value).data ?? value)
  return Array.isArray(objectOf(root.__schema).types) ? (root as unknown as IntrospectionQuery) : undefined
}

const DEFINITION =
  /^(?:extend\s+)?(?:schema\s*[@{]|(?:type|interface|input|enum|union|scalar)\s+[A-Za-z_]\w*\s*(?:[{=@\n]|implements\b|$)|directive\s*@)/

/** Whether a text begins like the schema definition language of GraphQL, after descriptions and comments. */
export const looksLikeGraphQl = (text: string): boolean => {
  let at = 0
  for (;;) {
    while (at < text.length && ' \t\r\n,\ufeff'.includes(text.charAt(at))) at++
    const [open, close] = text.startsWith('"""', at)
      ? ['"""', '"""']
      : [text.charAt(at), text[at] === '#' ? '\n' : '"']
    if (open !== '"""' && open !== '"' && open !== '#') return DEFINITION.test(text.slice(at, at + 1_000))
    const end = text.indexOf(close, at + open.length)
    if (end === -1) return false
    at = end + close.length
  }
}

const findingOf = ({ message, locations }: GraphQLError): Finding => ({
  severity: 'ERROR',
  code: 'schema-violation',
  message,
  line: locations?.[0]?.line ?? null,
  column: locations?.[0]?.column ?? null,
  pointer: null,
})

/** @throws DocumentInvalid for wrong syntax */
export function checkSdl(text: string): { content: Content; findings: Finding[] } {
  const document = parsedSdl(text)
  return checked(() => schemaOfSdl(document))
}

/** @throws DocumentInvalid for wrong syntax */
export function parsedSdl(text: string): DocumentNode {
  try {
    return parse(text, { maxTokens: MAX_TOKENS })
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    throw invalid(error.message.replace(/^Syntax Error: /, ''), error.locations?.[0])
  }
}

/** @throws Error for a schema that makes no sense */
export const schemaOfSdl = (document: DocumentNode) => buildASTSchema(document, { assumeValidSDL: true })

export const checkIntrospection = (introspection: IntrospectionQuery) =>
  checked(() => buildClientSchema(introspection))

function checked(build: () => GraphQLSchema): { content: Content; findings: Finding[] } {
  try {
    const schema = build()
    return {
      content: contentOf(schema),
      findings: validateSchema(schema).slice(0, MAX_FINDINGS).map(findingOf),
    }
  } catch (error) {
    if (error instanceof RangeError) throw error
    return { content: contentWith(), findings: [findingOf(new GraphQLError((error as Error).message))] }
  }
}

function contentOf(schema: GraphQLSchema): Content {
  const operations: Operation[] = []
  for (const [method, type] of [
    ['QUERY', schema.getQueryType()],
    ['MUTATION', schema.getMutationType()],
    ['SUBSCRIPTION', schema.getSubscriptionType()],
  ] as const)
    for (const field of Object.values(type?.getFields() ?? {}))
      operations.push(
        operationWith({
          method,
          path: textOf(`${type?.name}.${field.name}`) ?? '',
          operationId: textOf(field.name),
          summary: summaryOf(field.description),
          deprecated: field.deprecationReason !== undefined && field.deprecationReason !== null,
        }),
      )
  const roots = new Set([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()])
  const types = Object.values(schema.getTypeMap()).filter(
    type =>
      !type.name.startsWith('__') && !isSpecifiedScalarType(type) && ![...roots].includes(type as never),
  )
  return contentWith({ operations, schemas: types.map(({ name }) => name) })
}
