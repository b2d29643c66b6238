import type { z } from 'zod'
import type { ProblemCode } from './problems.ts'
import type { Scope } from './scopes.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type ServiceName = 'catalog' | 'identity' | 'media' | 'notifier' | 'gateway'

export interface OperationResponse {
  description: string
  /** Schema of the JSON body, or of each item of a stream. Without schema and media types the response has no body. */
  schema?: z.ZodType
  /** Media types of a body that is not one JSON document. */
  mediaTypes?: readonly string[]
  /** The schemas of a response with a choice of media types: of the body, or of each item of a stream. */
  alternatives?: Readonly<Record<string, z.ZodType>>
  /** Headers beyond those that every response may have: descriptions by name. */
  headers?: Readonly<Record<string, string>>
  example?: unknown
}

export type OperationResponses = Readonly<Record<number, OperationResponse>>

/** The body of a response: `undefined` without a schema, `unknown` for media types other than JSON. */
export type ResponseBody<Of extends OperationResponse> = Of extends
  | { mediaTypes: readonly string[] }
  | { alternatives: Readonly<Record<string, z.ZodType>> }
  ? unknown
  : Of extends { schema: infer Schema extends z.ZodType }
    ? z.output<Schema>
    : undefined

/** What an operation is defined by, besides its id, method and path. */
interface Definition<
  Params extends z.ZodObject | undefined = z.ZodObject | undefined,
  Query extends z.ZodObject | undefined = z.ZodObject | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Responses extends OperationResponses = OperationResponses,
> {
  service: ServiceName
  tag: string
  summary: string
  description?: string
  /** The scope that the caller needs; `authenticated` for any authenticated caller; `public` for everyone. */
  scope: Scope | 'authenticated' | 'public'
  /** Whether callers without credentials may use it if PUBLIC_CATALOG is set. They see ACTIVE APIs only. */
  crawled?: boolean
  params?: Params
  query?: Query
  body?: Body
  bodyExample?: unknown
  /** Media type of the request body when it is not JSON. */
  bodyMediaType?: 'multipart/form-data' | 'application/cloudevents+json' | '*/*'
  /** Maximum bytes of the request body. Default: see `bodyLimitOf`. */
  bodyLimit?: number
  /** By status. */
  responses: Responses
  /** Problems other than those that follow from the operation's other properties, see `problemsOf`. */
  problems?: readonly ProblemCode[]
  /** Whether it accepts an Idempotency-Key, as every POST that creates does. */
  idempotent?: boolean
  /**
   * Fields of the response body that are secrets. A response that is repeated for an Idempotency-Key contains them only for
   * the credential that first received them. For another credential each is null and `secretWithheld` is true. The schema
   * of the response allows both.
   */
  secretFields?: readonly string[]
  /** Whether responses have an ETag and the operation accepts If-None-Match (GET) or, unless it creates, If-Match. */
  conditional?: boolean
}

/** One operation of the REST interface: input, responses and required scope. The single source for routes and OpenAPI. */
export interface Operation<
  Params extends z.ZodObject | undefined = z.ZodObject | undefined,
  Query extends z.ZodObject | undefined = z.ZodObject | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Responses extends OperationResponses = OperationResponses,
> extends Definition<Params, Query, Body, Responses> {
  id: string
  method: Method
  /** With placeholders in braces, e.g. /apis/{api_id}. */
  path: string
}

/** Checks a definition and keeps the exact types of its schemas. @param route e.g. `GET /apis/{api_id}` */
export const operation = <
  const Params extends z.ZodObject | undefined = undefined,
  const Query extends z.ZodObject | undefined = undefined,
  const Body extends z.ZodType | undefined = undefined,
  const Responses extends OperationResponses = OperationResponses,
>(
  id: string,
  route: `${Method} /${string}`,
  definition: Definition<Params, Query, Body, Responses>,
): Operation<Params, Query, Body, Responses> => {
  const [method, path = ''] = route.split(' ') as [Method, string]
  return { id, method, path, ...definition }
}

/** Twice the size of the largest valid document with every character escaped. */
const DOCUMENT_LIMIT = 262_144
/** Limit for operations without a body: some clients send an empty document. */
const IGNORED_LIMIT = 1_024

/** Maximum bytes of the request body of an operation. A larger body is answered with 413. */
export const bodyLimitOf = ({ bodyLimit, body }: Operation): number =>
  bodyLimit ?? (body ? DOCUMENT_LIMIT : IGNORED_LIMIT)

export type Parsed<Schema> = Schema extends z.ZodType ? z.infer<Schema> : undefined
