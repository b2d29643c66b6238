import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Refusal } from '@gantry/contracts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Gauge, type Registry } from 'prom-client'
import { measureBuffer } from '../service/buffers.ts'
import { Accounts, accountOf, RETRY_AFTER } from './accounts.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether callers are other processes of the installation. Their bodies count, but are never refused as too many. */
    vouched?: boolean
  }
}

/** Bytes allocated for a body at first. */
const FIRST_BYTES = 512

/** Counts the bytes of request bodies that a process has in memory, for requests that are incomplete or being handled. */
export class BodyMemory {
  readonly #accounts: Accounts

  /** @param limit in bytes */
  constructor(limit: number) {
    this.#accounts = new Accounts(limit)
  }

  get limit(): number {
    return this.#accounts.limit
  }

  /** Bytes in memory now. */
  get bytes(): number {
    return this.#accounts.bytes
  }

  /** Starts counting a body. @param caller account of the caller; undefined for a caller that is never refused */
  countFor(caller: string | undefined): BodyBytes {
    return new BodyBytes(bytes => {
      if (caller !== undefined && bytes > 0) {
        if (this.#accounts.exceedsShare(caller, bytes))
          throw new Refusal('too-many-requests', {
            detail: 'the caller is sending too many bodies at once',
            headers: { 'retry-after': RETRY_AFTER },
          })
        if (this.#accounts.exceedsLimit(bytes)) throw new Refusal('body-memory-full')
      }
      this.#accounts.add(caller, bytes)
    })
  }
}

/** The bytes of a request's body that are in memory. */
export class BodyBytes {
  readonly #add: (bytes: number) => void
  #bytes = 0
  /** Number of users: the response, and work that continues with the body after the response has been closed. */
  #users = 1

  constructor(add: (bytes: number) => void) {
    this.#add = add
  }

  /** Counts bytes; call it before they are allocated. @throws Refusal too-many-requests, body-memory-full; malformed-request after the end */
  add(bytes: number): void {
    if (this.#users === 0) throw new Refusal('malformed-request', { detail: 'the request was aborted' })
    this.#add(bytes)
    this.#bytes += bytes
  }

  /** Subtracts bytes that were counted by `add` and are no longer in memory. */
  subtract(bytes: number): void {
    if (this.#users === 0) return
    this.#add(-bytes)
    this.#bytes -= bytes
  }

  /** Adds a user. The body counts until each user has called `release`, even if the client disconnects before. */
  retain(): void {
    this.#users++
  }

  /** Removes a user. After the last one the body no longer counts. */
  release(): void {
    if (--this.#users > 0) return
    this.#add(-this.#bytes)
    this.#bytes = 0
  }
}

/** Collects chunks in one buffer: a list of many small chunks needs many times the memory of their content. */
export class GrowingBuffer {
  readonly #counted: BodyBytes
  #memory = Buffer.alloc(0)
  #length = 0

  constructor(counted: BodyBytes) {
    this.#counted = counted
  }

  get length(): number {
    return this.#length
  }

  /** @throws Refusal too-many-requests, body-memory-full */
  add(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (length > this.#memory.length) this.#grow(Math.max(length, 2 * this.#length, FIRST_BYTES))
    this.#memory.set(chunk, this.#length)
    this.#length = length
  }

  /** The bytes added so far. They share the memory of this object: the next `add` after `clear` overwrites them. */
  bytes(): Buffer {
    return this.#memory.subarray(0, this.#length)
  }

  /** Removes all bytes and keeps the memory for new ones. */
  clear(): void {
    this.#length = 0
  }

  #grow(size: number): void {
    this.#counted.add(size)
    const memory = Buffer.allocUnsafe(size)
    this.#memory.copy(memory, 0, 0, this.#length)
    this.#counted.subtract(this.#memory.length)
    this.#memory = memory
  }
}

const MEMORY = Symbol('body memory')
const RESPONSE = Symbol('response')
const BODY = Symbol('counted body')
type CountingRequest = FastifyRequest & {
  [MEMORY]: BodyMemory
  [RESPONSE]: ServerResponse | null
  [BODY]: BodyBytes | null
}

/** Bodies up to this size are read before their request is admitted. */
const SMALL_BYTES = 16_384

/**
 * Lets the requests of an app count their bodies in `memory`. A body is not read before its request is admitted: until it is
 * counted, Node would keep up to 128 KiB of it.
 */
export function countBodies(app: FastifyInstance, memory: BodyMemory): void {
  app.decorateRequest(MEMORY, { getter: () => memory })
  app.decorateRequest(RESPONSE, null)
  app.decorateRequest(BODY, null)
  app.addHook('onRequest', (request, reply, done) => {
    ;(request as CountingRequest)[RESPONSE] = reply.raw
    // Node reads on when the body is read, or when the response is complete.
    // An injected request has no socket to read from.
    if (hasLargeBody(request) && request.raw.socket instanceof Socket) request.raw.socket.pause()
    done()
  })
}

const hasLargeBody = ({ headers }: FastifyRequest) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > SMALL_BYTES

/** Registers gauges of the bytes in memory and of the limit. */
export function bodyMetrics(memory: BodyMemory, metrics: Registry): void {
  const registers = [metrics]
  measureBuffer(metrics, 'request-bodies', () => memory.bytes)
  new Gauge({
    name: 'gantry_request_body_bytes',
    help: 'Bytes of request bodies in memory, of requests that are incomplete or being handled',
    registers,
    collect() {
      this.set(memory.bytes)
    },
  })
  new Gauge({
    name: 'gantry_request_body_limit_bytes',
    help: 'Setting BODY_MEMORY: bytes of request bodies in memory above which requests are answered with 503',
    registers,
  }).set(memory.limit)
}

/** The count of a request's body; undefined until `countBody` is called for the request. */
export const countedBody = (request: FastifyRequest): BodyBytes | undefined =>
  (request as CountingRequest)[BODY] ?? undefined

/**
 * Starts counting the body of a request, until its response is closed. Later calls return the same count.
 * @throws Refusal malformed-request when the client has disconnected
 */
export function countBody(request: FastifyRequest): BodyBytes {
  const counting = request as CountingRequest
  if (counting[BODY]) return counting[BODY]
  const response = counting[RESPONSE]
  if (!response || response.closed || response.destroyed)
    throw new Refusal('malformed-request', { detail: 'the request was aborted' })
  const counted = counting[MEMORY].countFor(
    request.routeOptions.config.vouched ? undefined : accountOf(request),
  )
  counting[BODY] = counted
  let open = true
  const close = () => {
    if (open) counted.release()
    open = false
  }
  response.once('finish', close).once('close', close)
  return counted
}

/** Counts the body of a request until the work has ended, even if the client disconnects before. @returns the work */
export function retainBody<Result>(request: FastifyRequest, work: Promise<Result>): Promise<Result> {
  const counted = countedBody(request)
  if (!counted) return work
  counted.retain()
  return work.finally(() => counted.release())
}

/**
 * Reads a whole body into memory, up to the body limit of its route.
 * @param done called with the body, or with a Refusal: body-too-large, too-many-requests, body-memory-full, malformed-request
 */
export function readBody(
  request: FastifyRequest,
  payload: IncomingMessage,
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const limit = request.routeOptions.bodyLimit
  const announced = Number(request.headers['content-length'] ?? Number.NaN)
  let buffer: GrowingBuffer
  try {
    if (announced > limit) throw tooLarge(limit)
    buffer = new GrowingBuffer(countBody(request))
  } catch (error) {
    done(error as Error)
    return
  }
  const end = (error: Error | null) => {
    payload.off('data', add).off('end', complete).off('error', fail)
    // Reads and drops the rest: many clients do not read a response before they have sent the whole body.
    if (error) payload.resume()
    done(error, error ? undefined : buffer.bytes())
  }
  const add = (chunk: Buffer) => {
    try {
      if (buffer.length + chunk.length > limit) throw tooLarge(limit)
      buffer.add(chunk)
    } catch (error) {
      end(error as Error)
    }
  }
  const complete = () => end(null)
  const fail = () => end(new Refusal('malformed-request', { detail: 'the request was aborted' }))
  payload.on('data', add).on('end', complete).on('error', fail)
}

const tooLarge = (limit: number) =>
  new Refusal('body-too-large', { detail: `the body may have at most ${limit} bytes` })
