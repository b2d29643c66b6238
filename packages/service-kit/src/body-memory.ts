import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from '@gantry/event-sourcing'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Gauge, type Registry } from 'prom-client'
import { ANONYMOUS, callerOf } from './caller.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The caller is another process of the installation: its bodies count, and are never refused for want of memory. */
    vouched?: boolean
  }
}

/** What one caller may hold of the limit, so that one caller alone cannot keep out the others. */
const SHARE = 1 / 4
/** Room for a body before it is known to be larger. */
const FIRST_BYTES = 512

/** Bytes of request bodies that a process holds for requests that are unfinished or running. */
export class BodyMemory {
  readonly limit: number
  #held = 0
  readonly #byCaller = new Map<string, number>()

  /** @param limit in bytes */
  constructor(limit: number) {
    this.limit = limit
  }

  get held(): number {
    return this.#held
  }

  /** @param caller undefined for one that is never refused */
  hold(caller: string | undefined): HeldBody {
    return new HeldBody(bytes => this.#add(caller, bytes))
  }

  /** @throws Refusal body-memory-full when there is no room for more; fewer always go */
  #add(caller: string | undefined, bytes: number): void {
    const total = this.#held + bytes
    if (caller !== undefined) {
      const own = (this.#byCaller.get(caller) ?? 0) + bytes
      if (bytes > 0 && own > this.limit * SHARE)
        throw new Refusal('body-memory-full', { detail: 'the caller is sending too many bodies at once' })
      if (bytes > 0 && total > this.limit) throw new Refusal('body-memory-full')
      if (own > 0) this.#byCaller.set(caller, own)
      else this.#byCaller.delete(caller)
    }
    this.#held = total
  }
}

/** What one request holds of its body. */
export class HeldBody {
  readonly #add: (bytes: number) => void
  #bytes = 0
  /** The response, and whatever goes on with the body when the response has been closed. */
  #users = 1

  constructor(add: (bytes: number) => void) {
    this.#add = add
  }

  /** Counts bytes before they are kept. @throws Refusal body-memory-full; malformed-request when the request has ended */
  take(bytes: number): void {
    if (this.#users === 0) throw new Refusal('malformed-request', { detail: 'the request was broken off' })
    this.#add(bytes)
    this.#bytes += bytes
  }

  /** To be called when bytes that were taken are kept no longer. */
  give(bytes: number): void {
    if (this.#users === 0) return
    this.#add(-bytes)
    this.#bytes -= bytes
  }

  /** The body is kept until `leave` is called as often, also when the client is gone before. */
  use(): void {
    this.#users++
  }

  leave(): void {
    if (--this.#users > 0) return
    this.#add(-this.#bytes)
    this.#bytes = 0
  }
}

/** Bytes that come one after the other, in one piece of memory: many small ones would need many times their length. */
export class Gathered {
  readonly #held: HeldBody
  #memory = Buffer.alloc(0)
  #length = 0

  constructor(held: HeldBody) {
    this.#held = held
  }

  get length(): number {
    return this.#length
  }

  /** @throws Refusal body-memory-full */
  add(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (length > this.#memory.length) this.#grow(Math.max(length, 2 * this.#length, FIRST_BYTES))
    this.#memory.set(chunk, this.#length)
    this.#length = length
  }

  /** What was added; of the same memory, so that it is gone with the next `add` after `clear`. */
  bytes(): Buffer {
    return this.#memory.subarray(0, this.#length)
  }

  /** Begins anew with the same memory. */
  clear(): void {
    this.#length = 0
  }

  #grow(size: number): void {
    this.#held.take(size)
    const memory = Buffer.allocUnsafe(size)
    this.#memory.copy(memory, 0, 0, this.#length)
    this.#held.give(this.#memory.length)
    this.#memory = memory
  }
}

const MEMORY = Symbol('body memory')
const RESPONSE = Symbol('response')
const HELD = Symbol('held body')
type Holding = FastifyRequest & {
  [MEMORY]: BodyMemory
  [RESPONSE]: ServerResponse | null
  [HELD]: HeldBody | null
}

/** Has the requests of an app count what they hold of their bodies. */
export function countBodies(app: FastifyInstance, memory: BodyMemory): void {
  app.decorateRequest(MEMORY, { getter: () => memory })
  app.decorateRequest(RESPONSE, null)
  app.decorateRequest(HELD, null)
  app.addHook('onRequest', (request, reply, done) => {
    ;(request as Holding)[RESPONSE] = reply.raw
    done()
  })
}

/** Tells how much is held, and how much may be. */
export function bodyMetrics(memory: BodyMemory, metrics: Registry): void {
  const registers = [metrics]
  new Gauge({
    name: 'gantry_request_body_bytes',
    help: 'Bytes of request bodies in memory, of requests that are unfinished or running',
    registers,
    collect() {
      this.set(memory.held)
    },
  })
  new Gauge({
    name: 'gantry_request_body_limit_bytes',
    help: 'BODY_MEMORY: bytes of request bodies beyond which requests are answered 503',
    registers,
  }).set(memory.limit)
}

/** What a request holds of its body; given back when its response is closed. Undefined while it holds nothing. */
export const heldBody = (request: FastifyRequest): HeldBody | undefined =>
  (request as Holding)[HELD] ?? undefined

/** The same, counted from now on. @throws Refusal malformed-request when the client is gone */
export function holdBody(request: FastifyRequest): HeldBody {
  const holding = request as Holding
  if (holding[HELD]) return holding[HELD]
  const response = holding[RESPONSE]
  if (!response || response.closed || response.destroyed)
    throw new Refusal('malformed-request', { detail: 'the request was broken off' })
  const held = holding[MEMORY].hold(request.routeOptions.config.vouched ? undefined : accountOf(request))
  holding[HELD] = held
  let open = true
  const close = () => {
    if (open) held.leave()
    open = false
  }
  response.once('finish', close).once('close', close)
  return held
}

/** The work that a request leads to; what it holds of its body counts until the work ends, also when the client is gone. */
export function keepingBody<Result>(request: FastifyRequest, work: Promise<Result>): Promise<Result> {
  const held = heldBody(request)
  if (!held) return work
  held.use()
  return work.finally(() => held.leave())
}

/** Users by who they are, with all of their credentials; all others by where they come from. */
function accountOf(request: FastifyRequest): string {
  const caller = callerOf(request)
  return caller && caller !== ANONYMOUS ? `user ${caller.userId}` : `address ${request.ip}`
}

/**
 * Reads a body as a whole, up to the limit of its route.
 * @param done is told a Refusal: body-too-large, body-memory-full, malformed-request
 */
export function readBody(
  request: FastifyRequest,
  payload: IncomingMessage,
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const limit = request.routeOptions.bodyLimit
  const announced = Number(request.headers['content-length'] ?? Number.NaN)
  let gathered: Gathered
  try {
    if (announced > limit) throw tooLarge(limit)
    gathered = new Gathered(holdBody(request))
  } catch (error) {
    done(error as Error)
    return
  }
  const end = (error: Error | null) => {
    payload.off('data', add).off('end', complete).off('error', fail)
    // What is left is read and dropped: a client that is still sending would not read the answer.
    if (error) payload.resume()
    done(error, error ? undefined : gathered.bytes())
  }
  const add = (chunk: Buffer) => {
    try {
      if (gathered.length + chunk.length > limit) throw tooLarge(limit)
      gathered.add(chunk)
    } catch (error) {
      end(error as Error)
    }
  }
  const complete = () => end(null)
  const fail = () => end(new Refusal('malformed-request', { detail: 'the request was broken off' }))
  payload.on('data', add).on('end', complete).on('error', fail)
}

const tooLarge = (limit: number) =>
  new Refusal('body-too-large', { detail: `the body may have at most ${limit} bytes` })
