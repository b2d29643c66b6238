import type { z } from 'zod'
import type { ProblemCode } from './problems.ts'
import type { Scope } from './scopes.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type ServiceName = 'catalog' | 'identity' | 'media' | 'notifier' | 'gateway'

export interface Answer {
  description: string
  /** Body as JSON, each item of it when it is a stream; without schema and media type the answer has no body. */
  schema?: z.ZodType
  /** Media types of a body that is not one JSON document. */
  mediaTypes?: readonly string[]
  /** Headers beyond those that every answer may have: name to description. */
  headers?: Readonly<Record<string, string>>
  example?: unknown
}

/** One operation of the REST interface: what is checked, what is answered, who may ask. The single source of all of it. */
export interface Operation<
  Params extends z.ZodObject | undefined = z.ZodObject | undefined,
  Query extends z.ZodObject | undefined = z.ZodObject | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
> {
  id: string
  method: Method
  /** With placeholders in braces, e.g. /apis/{api_id}. */
  path: string
  service: ServiceName
  tag: string
  summary: string
  description?: string
  /** The scope that the caller needs; `authenticated` for any caller, `public` for anyone at all. */
  scope: Scope | 'authenticated' | 'public'
  params?: Params
  query?: Query
  body?: Body
  bodyExample?: unknown
  /** Media type of the request body when it is not JSON. */
  bodyMediaType?: 'multipart/form-data' | 'application/cloudevents+json'
  /** Bytes of the request body at most, where `bodyLimitOf` would give another number. */
  bodyLimit?: number
  answers: Readonly<Record<number, Answer>>
  /** Beyond what any operation may answer (400, 401, 403, 429, 503 and the like). */
  problems?: readonly ProblemCode[]
  /** Takes an Idempotency-Key: every POST that creates. */
  idempotent?: boolean
  /**
   * Fields of the body of a successful answer that are secrets. An answer that is repeated under an Idempotency-Key has
   * them for the credential that got them first only: for another, each is null and `secretWithheld` is true. The
   * schema of the answer allows both.
   */
  secretFields?: readonly string[]
  /** Answers with an ETag; takes If-Match (PUT, DELETE) or If-None-Match (GET). */
  conditional?: boolean
}

/** Keeps the types of the parts while checking the whole. */
export const operation = <
  const Params extends z.ZodObject | undefined = undefined,
  const Query extends z.ZodObject | undefined = undefined,
  const Body extends z.ZodType | undefined = undefined,
>(
  definition: Operation<Params, Query, Body>,
): Operation<Params, Query, Body> => definition

/** Twice what the largest valid document takes when every character of it is escaped. */
const DOCUMENT_LIMIT = 262_144
/** For a client that sends an empty document where no body is asked for. */
const IGNORED_LIMIT = 1_024

/** Bytes that the body of a request for the operation may have; more is answered 413. */
export const bodyLimitOf = ({ bodyLimit, body }: Operation): number =>
  bodyLimit ?? (body ? DOCUMENT_LIMIT : IGNORED_LIMIT)

export type Parsed<Schema> = Schema extends z.ZodType ? z.infer<Schema> : undefined
