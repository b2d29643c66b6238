import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

export interface OpenApi {
  openapi: string
  info: { title: string; version: string }
  servers?: { url: string }[]
  paths: Record<string, Record<string, OpenApiOperation>>
  components: { responses: Record<string, OpenApiResponse> }
}
interface OpenApiOperation {
  summary?: string
  security?: Record<string, string[]>[]
  tags?: string[]
  parameters?: ({ name: string; in: string } | { $ref: string })[]
  requestBody?: { content: Record<string, MediaType> }
  responses: Record<string, OpenApiResponse>
}
interface OpenApiResponse {
  $ref?: string
  content?: Record<string, MediaType>
}
interface MediaType {
  schema?: { type?: string } | boolean
  /** OpenAPI 3.2: schema of each item of a stream. */
  itemSchema?: object
  example?: unknown
  examples?: Record<string, { value?: unknown }>
}

export interface Operation {
  /** Method and path template, e.g. `GET /apis/{api_id}`. */
  key: string
  method: string
  template: string
  definition: OpenApiOperation
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options']
const escapeRegExp = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
const patternOf = (template: string) =>
  new RegExp(
    `^${template
      .split('/')
      .map(segment => (/^\{.*\}$/.test(segment) ? '[^/]+' : escapeRegExp(segment)))
      .join('/')}/?$`,
  )
const placeholders = (template: string) => template.split('{').length

/** The place of the content of a response in the document. */
const pointerTo = ({ template, method }: Operation, response: string, mediaType: string) =>
  ['paths', template, method.toLowerCase(), 'responses', response, 'content', mediaType] as const

const mediaTypeOf = (contentType: string | null) => contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
const isJson = (mediaType: string) => mediaType === 'application/json' || mediaType.endsWith('+json')

/** The document with the responses in place of the references to them. */
const withResponses = (document: OpenApi): OpenApi =>
  JSON.parse(JSON.stringify(document), (_, value) => {
    const [, name] = /^#\/components\/responses\/(.*)/.exec(value?.$ref ?? '') ?? []
    return name === undefined ? value : document.components.responses[name]
  })

/**
 * Compares the responses of a service with its OpenAPI document, and with nothing else.
 * `check` throws an Error that names the difference.
 */
export const contractOf = (document: OpenApi) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, logger: false })
  formats.default(ajv)
  const resolved = withResponses(document)
  ajv.addSchema(resolved, 'openapi')
  const validators = new Map<string, ValidateFunction>()

  const operations: Operation[] = Object.entries(resolved.paths).flatMap(([template, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, definition]) => ({
        key: `${method.toUpperCase()} ${template}`,
        method: method.toUpperCase(),
        template,
        definition,
      })),
  )
  // A literal path such as /webhooks/requests takes precedence over one with a placeholder in the same segment.
  const patterns = operations
    .map(operation => ({ operation, pattern: patternOf(operation.template) }))
    .sort((a, b) => placeholders(a.operation.template) - placeholders(b.operation.template))

  const operationOf = (method: string, path: string) =>
    patterns.find(({ operation, pattern }) => operation.method === method && pattern.test(path))?.operation

  /** HEAD is checked like GET unless the document lists it. */
  const find = (method: string, path: string) =>
    operationOf(method, path) ?? (method === 'HEAD' ? operationOf('GET', path) : undefined)

  const validatorOf = (...pointer: string[]) => {
    const reference = `openapi#/${pointer
      .map(part => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/')}`
    const known = validators.get(reference) ?? ajv.compile({ $ref: reference })
    validators.set(reference, known)
    return known
  }

  const conform = (what: string, value: unknown, ...pointer: string[]) => {
    const validate = validatorOf(...pointer)
    if (!validate(value)) {
      throw new Error(
        `${what} does not match its schema: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`,
      )
    }
  }

  const responseOf = (operation: Operation, status: number) =>
    [String(status), `${Math.trunc(status / 100)}XX`, 'default'].find(
      key => key in operation.definition.responses,
    )

  const documented = (operation: Operation, status: number, contentType: string | null) => {
    const key = responseOf(operation, status)
    if (key === undefined) {
      throw new Error(`${operation.key} answered ${status}, which the document does not list`)
    }
    const content = operation.definition.responses[key]?.content ?? {}
    const mediaType = mediaTypeOf(contentType)
    const listed = [mediaType, `${mediaType.split('/')[0]}/*`, '*/*'].find(type => type in content)
    return { key, content, mediaType, listed }
  }

  /** Checks status, content type and body of one response. */
  const check = (
    operation: Operation,
    answer: { status: number; headers: Headers; bytes: Uint8Array; head: boolean },
  ) => {
    const { status, bytes, head } = answer
    const contentType = answer.headers.get('content-type')
    const { key, content, mediaType, listed } = documented(operation, status, contentType)
    const what = `The ${status} of ${operation.key}`
    if (Object.keys(content).length === 0) {
      if (bytes.length > 0) throw new Error(`${what} has a body, which the document does not list`)
      return
    }
    if (status === 304) return
    if (listed === undefined) {
      throw new Error(`${what} has content type ${contentType}; the document lists ${Object.keys(content)}`)
    }
    if (head || content[listed]?.schema === undefined) return
    if (isJson(mediaType)) {
      const body: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
      conform(what, body, ...pointerTo(operation, key, listed), 'schema')
    }
  }

  /** The document lists the problems of an operation as examples, each under its code. */
  const checkProblem = (operation: Operation, status: number, code: unknown) => {
    const { content } = documented(operation, status, 'application/problem+json')
    const codes = Object.keys(content['application/problem+json']?.examples ?? {})
    if (!codes.some(listed => listed === code))
      throw new Error(`${operation.key} answered ${status} ${code}; the document lists ${codes}`)
  }

  /** Checks status and content type of a streaming response. @returns check of one of its items */
  const checkStream = (operation: Operation, status: number, contentType: string | null) => {
    const { key, content, listed } = documented(operation, status, contentType)
    if (listed === undefined) {
      throw new Error(`${operation.key} streams ${contentType}; the document lists ${Object.keys(content)}`)
    }
    const pointer = pointerTo(operation, key, listed)
    const { schema, itemSchema } = content[listed] ?? {}
    return (item: unknown) => {
      if (itemSchema !== undefined) conform(`An item of ${operation.key}`, item, ...pointer, 'itemSchema')
      else if (typeof schema === 'object' && schema.type !== 'string') {
        conform(`An item of ${operation.key}`, item, ...pointer, 'schema')
      }
    }
  }

  return { document, operations, find, check, checkProblem, checkStream, conform }
}
export type Contract = ReturnType<typeof contractOf>
