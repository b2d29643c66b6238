import { hash, randomBytes } from 'node:crypto'
import {
  bodyLimitOf,
  invalidField,
  type Operation,
  type OperationResponses,
  type Parsed,
  type Principal,
  Refusal,
  type ResponseBody,
} from '@gantry/contracts'
import type { CommandMetadata } from '@gantry/event-sourcing'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import type { Instrumented } from '../service/append-watch.ts'
import { type Idempotency, idempotency, type KeyUse, type Seed } from '../service/idempotency.ts'
import type { Admit } from '../service/service.ts'
import { retainBody } from './body-memory.ts'
import {
  ANONYMOUS,
  callerOf,
  contextOfRequest,
  inContextOfRequest,
  isAnonymous,
  noteCaller,
} from './request-context.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation
  }
}

/**
 * Strong entity tag of a record (RFC 9110 §8.8.3): its revision, and a hash of `variant`, i.e. of the text that other
 * services contribute to the representation. So the tag changes with every byte of the representation.
 */
export const etag = (revision: number, variant?: string | null): string =>
  variant ? `"${revision}-${hashOf(variant)}"` : `"${revision}"`

const hashes = new LRUCache<string, string>({ max: 1_000 })

function hashOf(variant: string): string {
  let hashed = hashes.get(variant)
  if (hashed === undefined) {
    hashed = hash('sha256', variant, 'base64url').slice(0, 8)
    hashes.set(variant, hashed)
  }
  return hashed
}

const tagsOf = (header: string) => header.match(/(?:W\/)?"[^"]*"/g) ?? []

/** A list of entity tags (RFC 9110 §13.1.1). */
const TAGS = /^\s*(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*\s*$/

/**
 * Entity tags that If-Match names; undefined when it is absent or `*`.
 * @throws Refusal invalid-request when it is neither `*` nor a list of entity tags
 */
export function ifMatchTags(ifMatch: string | undefined): string[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined
  if (TAGS.test(ifMatch)) return tagsOf(ifMatch)
  throw invalidField('If-Match', 'must be * or entity tags in double quotes, e.g. "7"')
}

/** Revisions that If-Match names. Weak tags, and tags that `etag` cannot have made, match nothing (RFC 9110 §13.1.1). */
export function revisionsOf(ifMatch: string | undefined): number[] | undefined {
  return ifMatchTags(ifMatch)?.flatMap(tag => {
    const revision = /^"(\d{1,15})(?:-[\w-]*)?"$/.exec(tag)?.[1]
    return revision === undefined ? [] : [Number(revision)]
  })
}

/** Whether If-None-Match names the tag, by weak comparison (RFC 9110 §13.1.2). */
export function matchesNone(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.trim() === '*' || tagsOf(ifNoneMatch).some(known => known.replace(/^W\//, '') === tag)
}

/**
 * The options of the route of an operation apart from its handler. Its hook admits the caller, synchronously if `admit`
 * does: most callers are known.
 * @param admitted called with the caller before the body is read
 */
export const routeOf = (
  operation: Operation,
  admit: Admit,
  admitted: (request: FastifyRequest, principal: Principal) => void = () => {},
) => ({
  method: operation.method,
  url: operation.path.replace(/\{(\w+)\}/g, ':$1'),
  bodyLimit: bodyLimitOf(operation),
  config: { operation },
  onRequest(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) {
    const proceed = (principal: Principal) => {
      noteCaller(request, principal)
      admitted(request, principal)
    }
    try {
      const caller = admit(request, reply, operation)
      if (caller instanceof Promise) {
        caller.then(proceed).then(() => done(), done)
        return
      }
      proceed(caller)
    } catch (error) {
      done(error as Error)
      return
    }
    done()
  },
})

/** A request that was checked against its contract, as the handler of the route receives it. */
interface Call<Params, Query, Body> {
  params: Params
  query: Query
  body: Body
  /** The caller; `ANONYMOUS` for a public operation, `CRAWLER` without credentials for a crawled one. */
  principal: Principal
  metadata: CommandMetadata
  /**
   * Metadata of a command that creates a stream with an id of `newId`. With an Idempotency-Key `repeated` is always set: at
   * the cost of one read of a missing stream, nothing is created twice even if the store has lost its idempotency records.
   * Without a record, no earlier try is in progress.
   */
  creationMetadata: CommandMetadata
  /** A new UUID. Every try with the same Idempotency-Key gets the same ids and `secretBytes`. */
  newId(): string
  secretBytes(length: number): Buffer
  /** Revisions that If-Match allows; undefined when it allows every revision. */
  ifMatch: number[] | undefined
  request: FastifyRequest
  reply: FastifyReply
}

/** The response of a handler, before it is sent. */
interface HandlerResponse {
  status: number
  body?: unknown
  headers?: Record<string, string>
  /** Path of the created resource, without the base path. Becomes the Location header. */
  location?: string
  /** Revision of the record in the body. Becomes the ETag. */
  revision?: number
  /** Text that other services contribute to the body; part of the ETag. */
  variant?: string | null
}

/** A response that the contract of an operation declares: a status with the body that belongs to it. */
type DeclaredResponse<Responses extends OperationResponses> = HandlerResponse &
  {
    [Status in keyof Responses & number]: ResponseBody<Responses[Status]> extends undefined
      ? { status: Status; body?: undefined }
      : { status: Status; body: ResponseBody<Responses[Status]> }
  }[keyof Responses & number]

export type AddRoute = <
  Params extends z.ZodObject | undefined,
  Query extends z.ZodObject | undefined,
  Body extends z.ZodType | undefined,
  Responses extends OperationResponses,
>(
  operation: Operation<Params, Query, Body, Responses>,
  handle: (
    call: Call<Parsed<Params>, Parsed<Query>, Parsed<Body>>,
  ) => Promise<DeclaredResponse<NoInfer<Responses>>>,
) => void

/** Media types of bodies that handlers read themselves. */
const STREAMED: ReadonlySet<string | undefined> = new Set(['multipart/form-data', '*/*'])

const KEY = /^[\x21-\x7e]{1,255}$/

/**
 * Adds operations to an app. Admits the caller, checks the input against the contract, handles Idempotency-Key and
 * conditional requests, and sends the reply. The handler of a route only turns the call into a command or query and a reply.
 */
export function router(
  app: FastifyInstance,
  admit: Admit,
  dependencies: Instrumented,
  service: string,
): AddRoute {
  const { now, newId } = dependencies
  const newSeed = (): Seed => ({
    commandId: newId(),
    keyed: false,
    repeated: false,
    newId,
    secretBytes: randomBytes,
  })
  const once = idempotency({ ...dependencies, service })
  const mayContinue = coalesceResponses()

  return (operation, handle) => {
    const handled = async (request: FastifyRequest, reply: FastifyReply) => {
      const principal = callerOf(request) ?? ANONYMOUS
      const input = {
        params: checkParams(operation.params, request.params),
        query: checkQuery(operation.query, request.query),
        body: STREAMED.has(operation.bodyMediaType) ? undefined : check(operation.body, request.body),
      }
      const run = async (seed: Seed) => {
        const call = new CheckedCall(operation, input, { request, reply, principal }, seed, now)
        const response = await handle(call as unknown as Parameters<typeof handle>[0])
        const { location } = response
        if (location === undefined) return response
        return { ...response, headers: { ...response.headers, location: `${app.prefix}${location}` } }
      }
      const key = request.headers['idempotency-key']
      const body =
        operation.idempotent && key !== undefined
          ? await answerOnce(once, run, {
              operation,
              use: useOf(operation, input.params, { request, principal, prefix: app.prefix }),
              reply,
            })
          : prepared(request, reply, await run(newSeed()))
      await mayContinue()
      return body
    }

    app.route({
      ...routeOf(operation, admit),
      handler: (request, reply) =>
        retainBody(
          request,
          inContextOfRequest(request, () => handled(request, reply)),
        ),
    })
  }
}

/**
 * Lets the first response of a turn of the event loop continue at once, and all later ones together at the end of the turn.
 * Responses that are written directly after one another wake the receiving process once. With the work for the next
 * response in between, it would be woken for each, which costs more than writing.
 * @returns a function that returns undefined to the first caller in a turn, and a promise for its end to the others
 */
export function coalesceResponses(): () => Promise<void> | undefined {
  let end: Promise<void> | undefined
  return () => {
    if (end) return end
    end = new Promise(resolve =>
      setImmediate(() => {
        end = undefined
        resolve()
      }),
    )
    return undefined
  }
}

interface Input {
  params: unknown
  query: unknown
  body: unknown
}

/**
 * A class because of its accessors: for an object literal with accessors V8 makes a hidden class per request, which keeps
 * the request alive until the next full garbage collection.
 */
class CheckedCall implements Call<unknown, unknown, unknown> {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly principal: Principal
  readonly newId: () => string
  readonly secretBytes: (length: number) => Buffer
  readonly ifMatch: number[] | undefined
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly #seed: Seed
  readonly #now: () => Date

  constructor(
    operation: Operation,
    { params, query, body }: Input,
    { request, reply, principal }: { request: FastifyRequest; reply: FastifyReply; principal: Principal },
    seed: Seed,
    now: () => Date,
  ) {
    this.params = params
    this.query = query
    this.body = body
    this.principal = principal
    this.newId = seed.newId
    this.secretBytes = seed.secretBytes
    this.ifMatch = operation.conditional ? revisionsOf(request.headers['if-match']) : undefined
    this.request = request
    this.reply = reply
    this.#seed = seed
    this.#now = now
  }

  /** Computed on access, because reads do not need it. */
  get metadata(): CommandMetadata {
    return metadataOf(this, this.#now(), this.#seed.commandId, this.#seed.repeated)
  }

  get creationMetadata(): CommandMetadata {
    const { commandId, keyed, repeated } = this.#seed
    return metadataOf(this, this.#now(), commandId, repeated || (keyed && 'ended'))
  }
}

/**
 * The use of an Idempotency-Key. The path is the operation's own with the decoded and checked parameters, so that other
 * spellings, such as `/access%54okens/`, are the same use.
 * @throws Refusal invalid-request
 */
function useOf(
  operation: Operation,
  params: unknown,
  { request, principal, prefix }: { request: FastifyRequest; principal: Principal; prefix: string },
): KeyUse {
  const { 'idempotency-key': key = '', 'if-match': ifMatch } = request.headers
  if (!KEY.test(String(key)))
    throw invalid([{ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }])
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((params as Record<string, unknown>)[name])),
  )
  const asked = [contentOf(request)]
  if (Object.keys(request.query as object).length > 0) asked.push(`query ${JSON.stringify(request.query)}`)
  if (ifMatch !== undefined) asked.push(`if-match ${ifMatch}`)
  return {
    // An access token gets no response to another credential of its user: it may contain more than the token may read.
    scope: `${principal.tokenId ?? principal.userId} ${operation.method} ${prefix}${path}`,
    key: String(key),
    user: principal.userId,
    request: asked.join('\n'),
    credential: principal.credentialId,
  }
}

/** The body of a request as text; of bytes that are no JSON their hash, with the headers that say what they are. */
function contentOf({ body, headers }: FastifyRequest): string {
  if (!Buffer.isBuffer(body)) return JSON.stringify(body ?? null)
  const { 'content-type': type, 'content-encoding': encoding } = headers
  return JSON.stringify([type, encoding, hash('sha256', body)])
}

async function answerOnce(
  once: Idempotency,
  run: (seed: Seed) => Promise<HandlerResponse>,
  { operation, use, reply }: { operation: Operation; use: KeyUse; reply: FastifyReply },
) {
  const outcome = await once.run(use, async seed => {
    const { status, body, headers = {}, revision, variant } = await run(seed)
    const tag: Record<string, string> = revision === undefined ? {} : { etag: etag(revision, variant) }
    return { status, body, headers: { ...headers, ...tag } }
  })
  if (outcome.replayed) reply.header('idempotency-replayed', 'true')
  reply.code(outcome.status).headers(outcome.headers)
  return outcome.first ? outcome.body : withoutSecrets(operation, outcome.body)
}

/** The body with null for each secret and `secretWithheld: true`; unchanged if the operation returns no secrets. */
function withoutSecrets({ secretFields }: Operation, body: unknown): unknown {
  if (!secretFields) return body
  const hidden = Object.fromEntries(secretFields.map(field => [field, null]))
  return { ...(body as object), ...hidden, secretWithheld: true }
}

/** Sets status and headers. @returns the body to be sent */
function prepared(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, body, headers, revision, variant }: HandlerResponse,
) {
  reply.code(status)
  if (headers) reply.headers(headers)
  if (revision !== undefined) {
    const tag = etag(revision, variant)
    reply.header('etag', tag)
    if (
      (request.method === 'GET' || request.method === 'HEAD') &&
      matchesNone(request.headers['if-none-match'], tag)
    ) {
      reply.code(304)
      return undefined
    }
  }
  return body
}

function metadataOf(
  { request, principal }: Pick<CheckedCall, 'request' | 'principal'>,
  now: Date,
  commandId: string,
  repeated: boolean | 'ended',
): CommandMetadata {
  const traceparent = contextOfRequest(request)?.traceparent
  return {
    commandId,
    now: now.toISOString(),
    actor: {
      ...(isAnonymous(principal)
        ? { id: null, name: principal.username }
        : { id: principal.userId, name: principal.userId }),
      ...(principal.tokenId && { tokenId: principal.tokenId }),
      ...(principal.address && { address: principal.address }),
    },
    requestId: request.id,
    ...(traceparent && { traceparent }),
    ...(repeated && { repeated }),
  }
}

const invalid = (
  errors: { field: string; message: string }[],
  hints: string[] = [],
  code: Code = 'invalid-request',
) =>
  new Refusal(code, {
    detail: [...errors.map(({ field, message }) => (field ? `${field} ${message}` : message)), ...hints].join(
      '; ',
    ),
    errors,
  })

/** The message of a violation that the schema has no words for, for people who read it beside the field. */
function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${KINDS[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be ${issue.values.join(' or ')}`
    case 'too_small':
      return boundOf('at least', issue.minimum, issue.origin)
    case 'too_big':
      return boundOf('at most', issue.maximum, issue.origin)
    case 'invalid_format':
      return issue.format === 'datetime'
        ? 'must be a date and time with Z or an offset, e.g. 2026-11-21T09:30:00Z'
        : undefined
    case 'unrecognized_keys':
      return `has unknown members: ${issue.keys.join(', ')}`
    default:
      return undefined
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

function boundOf(word: string, bound: number | bigint, origin: string): string {
  if (origin !== 'string' && origin !== 'array' && origin !== 'set') return `must be ${word} ${bound}`
  const unit = origin === 'string' ? 'character' : 'item'
  return `must have ${word} ${bound} ${unit}${Number(bound) === 1 ? '' : 's'}`
}

type Code = 'invalid-request' | 'not-found'

/** Checks a part of a request against its schema. @throws Refusal with the code, naming every wrong field */
function check<Schema extends z.ZodType | undefined>(
  schema: Schema,
  value: unknown,
  code?: Code,
): Parsed<Schema> {
  if (!schema) return undefined as Parsed<Schema>
  const parsed = schema.safeParse(value ?? {}, { error: inWords })
  if (parsed.success) return parsed.data as Parsed<Schema>
  const errors = parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message }))
  throw invalid(errors, [], code)
}

/** Checks the parameters of a path against their schema. @throws Refusal not-found */
export const checkParams = <Schema extends z.ZodType | undefined>(
  schema: Schema,
  params: unknown,
): Parsed<Schema> => check(schema, params, 'not-found')

/**
 * Checks the query of a request against its schema. Unknown parameters are refused, because a mistyped filter would
 * otherwise return everything.
 * @throws Refusal invalid-request naming every unknown parameter and the known ones, or every wrong value
 */
export function checkQuery<Schema extends z.ZodObject | undefined>(
  schema: Schema,
  query: unknown,
): Parsed<Schema> {
  const known = Object.keys(schema?.shape ?? {})
  const unknown = Object.keys(query as object).filter(name => !known.includes(name))
  if (unknown.length === 0) return check(schema, query)
  throw invalid(
    unknown.map(field => ({ field, message: 'is not a query parameter' })),
    [`known: ${known.join(', ') || 'none'}`],
  )
}

/** Refuses a caller without the scope of the operation. Every service checks this itself. @throws Refusal scope-missing */
export function requireScope(principal: Principal, operation: Operation): void {
  const { scope } = operation
  if (scope === 'public' || scope === 'authenticated' || principal.scopes.includes(scope)) return
  throw new Refusal('scope-missing', { detail: `needs the scope ${scope}`, scope })
}
