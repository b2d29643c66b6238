import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { Refusal } from '@gantry/contracts'
import { atMostEvery } from '@gantry/pacing'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { Accounts, accountOf, RETRY_AFTER, userOf } from './accounts.ts'
import { bytesOf } from './client-network.ts'

/** Share of the limit that all anonymous callers may have together. */
const ANONYMOUS_SHARE = 1 / 2
/** Share of the rest of that part that one anonymous caller may have, so that some is left for the next address. */
const SHARE_OF_LEFT = 1 / 4
/** Minimum time between two measurements in milliseconds, because each reads all connections of the machine. */
const PAUSE_MS = 100
const CHECK_MS = 5_000
/** What a longer stream counts at its beginning: more than most sockets take before the client receives anything. */
const STREAM_BYTES = 1_024 * 1_024
/** How long the size of a refused response is remembered. */
const REFUSED_MS = 60_000
/** In this time a client must receive `LEAST_BYTES`, or everything that waited at the beginning of the time. */
const SLOW_MS = 30_000
const LEAST_BYTES = 30 * 1_024

/** Node's counters of a socket: all bytes handed to it, and those that the kernel has not taken yet. */
type ServerSocket = Socket & { _handle?: { bytesWritten: number; writeQueueSize: number } | null }

/** A connection with bytes that the client may not have received. The kernel can still send them after it was closed. */
interface Connection {
  /** Its name in the result of `unacknowledged`. */
  readonly name: string
  socket: ServerSocket | undefined
  account: string
  isAnonymous: boolean
  response: ServerResponse | undefined
  /** `socket.bytesWritten` after the bytes of the latest response that counted when it began. */
  end: number
  /** Bytes that the kernel has taken, when the last measurement began. */
  sent: number
  /** Bytes that the client has received. */
  received: number
  /** Bytes that count for the account. */
  counted: number
  /** When the client began to have bytes to receive, how many it had received, and how many were written. */
  slow: { since: number; received: number; written: number } | undefined
}

type Refused = Promise<Refusal | undefined> | undefined

const MEMORY = Symbol('response memory')
const CONNECTION = Symbol('connection')
type Counted = Socket & { [CONNECTION]?: Connection }

/**
 * Counts the bytes of responses that clients have not received, in the process and in the kernel. Responses count completely
 * when they begin, but streams at most `STREAM_BYTES`, because the rest stays at its source until a client reads. A measurement
 * subtracts what was received since, and adds what streams have written. A limit is reached only after a measurement.
 */
export class ResponseMemory {
  readonly #accounts: Accounts
  #anonymous = 0
  readonly #connections = new Set<Connection>()
  /** By account: the size of the last refused response. The next read is expected to be as large. */
  readonly #refused = new LRUCache<string, number>({ max: 1_000, ttl: REFUSED_MS, ttlAutopurge: true })
  /** Measures after the call. */
  readonly #measure = atMostEvery(PAUSE_MS, () => this.#measureAll())
  #checks: NodeJS.Timeout | undefined

  readonly #closesSlow: boolean

  /**
   * @param limit in bytes
   * @param closesSlow whether slow connections are reset. False behind the gateway, which reads in large parts at long intervals
   *   for a client that is just fast enough
   */
  constructor(limit: number, closesSlow = false) {
    this.#accounts = new Accounts(limit)
    this.#closesSlow = closesSlow
  }

  /** Bytes that count now: those that the latest measurement found, and those of the responses that began since. */
  get bytes(): number {
    return this.#accounts.bytes
  }

  /** False while no caller can be at a limit. */
  get mayRefuse(): boolean {
    if (this.#accounts.mayExceed || (this.#refused.size > 0 && this.bytes > 0)) return true
    return this.#anonymous > this.#leftForAnonymous * SHARE_OF_LEFT
  }

  get #leftForAnonymous(): number {
    return this.#accounts.limit * ANONYMOUS_SHARE - this.#anonymous
  }

  /**
   * Counts a response; a second call for the same response changes nothing.
   * @returns why the response must not be sent; undefined if it may be
   */
  begin(request: FastifyRequest, response: ServerResponse, bytes: number): Refused {
    const { socket } = request.raw
    if (!(socket instanceof Socket) || socket.destroyed) return undefined
    const connection = this.#connectionOf(socket)
    if (connection.response === response) return undefined
    const account = accountOf(request)
    if (account !== connection.account) {
      // Unread bytes pass to the next caller only within its share. Callers could otherwise pass them on without end.
      const stays = connection.counted > 0 && this.#exceedsShare(request, connection.counted)
      if (stays && isRefusable(request, response, bytes))
        return this.#measure().then(() =>
          connection.counted > 0 ? tooManyRequests() : this.begin(request, response, bytes),
        )
      if (!stays) this.#assign(connection, account, userOf(request) === undefined)
    }
    connection.response = response
    connection.end = Math.max(connection.end, socket.bytesWritten) + bytes
    this.#count(connection, connection.counted + bytes)
    if (!this.mayRefuse || !isRefusable(request, response, bytes)) return undefined
    return this.refusal(request, bytes).then(refusal => {
      if (!refusal) return undefined
      connection.end -= bytes
      this.#count(connection, Math.max(0, connection.counted - bytes))
      return refusal
    })
  }

  /** @param own bytes of the response that is to be sent, which count already; 0 before its size is known */
  async refusal(request: FastifyRequest, own = 0): Promise<Refusal | undefined> {
    if (!this.#exceeded(request, own)) return undefined
    await this.#measure()
    const exceeded = this.#exceeded(request, own)
    if (exceeded && own > 0) this.#refused.set(accountOf(request), own)
    if (exceeded === 'account') return tooManyRequests()
    return exceeded && new Refusal('response-memory-full')
  }

  #exceeded(request: FastifyRequest, own: number): 'account' | 'process' | undefined {
    const account = accountOf(request)
    const expected = own > 0 || !isRead(request) ? 0 : (this.#refused.get(account) ?? 0)
    // A caller that has received all earlier responses gets the next one, even if it is larger than a limit.
    if (this.#accounts.of(account) > own && this.#exceedsShare(request, expected)) return 'account'
    if (this.bytes > own && this.#accounts.exceedsLimit(expected)) return 'process'
    if (this.#anonymous <= own || userOf(request) !== undefined) return undefined
    return expected > this.#leftForAnonymous ? 'process' : undefined
  }

  #exceedsShare(request: FastifyRequest, bytes: number): boolean {
    const account = accountOf(request)
    if (userOf(request) !== undefined) return this.#accounts.exceedsShare(account, bytes)
    return this.#accounts.of(account) + bytes > this.#leftForAnonymous * SHARE_OF_LEFT
  }

  /**
   * Measures, and resets the connections whose clients have received less than 1 KiB/s over 30 s in which bytes waited.
   * @param now in milliseconds, as `performance.now` returns
   */
  async closeSlow(now: number): Promise<void> {
    await this.#measure()
    if (!this.#closesSlow) return
    for (const connection of this.#connections) {
      const { socket, slow } = watchProgress(connection, now)
      if (slow && now - slow.since >= SLOW_MS) socket?.resetAndDestroy()
    }
  }

  #connectionOf(socket: Counted): Connection {
    const counted = socket[CONNECTION] ?? newConnection(socket)
    socket[CONNECTION] = counted
    this.#connections.add(counted)
    this.#checks ??= setInterval(() => this.closeSlow(performance.now()), CHECK_MS).unref()
    return counted
  }

  #count(connection: Connection, bytes: number): void {
    const added = bytes - connection.counted
    connection.counted = bytes
    if (connection.isAnonymous) this.#anonymous += added
    this.#accounts.add(connection.account, added)
  }

  /** Assigns the bytes to another account: a proxy sends requests of several callers over one connection. */
  #assign(connection: Connection, account: string, isAnonymous: boolean): void {
    const { counted } = connection
    this.#count(connection, 0)
    Object.assign(connection, { account, isAnonymous })
    this.#count(connection, counted)
  }

  async #measureAll(): Promise<void> {
    const measured = [...this.#connections]
    // Before the kernel is asked: what it takes meanwhile must not count as received.
    for (const connection of measured) connection.sent = sentOn(connection)
    const waiting = await unacknowledged()
    for (const connection of measured) {
      const { socket, response, name, sent } = connection
      const queued = waiting.get(name) ?? 0
      connection.received = Math.max(connection.received, sent - queued)
      if (!response || response.writableFinished || response.destroyed) connection.response = undefined
      const end = connection.response ? connection.end : 0
      this.#count(connection, socket ? Math.max(end, socket.bytesWritten) - connection.received : queued)
      if (connection.counted === 0 && !connection.response) this.#connections.delete(connection)
    }
    if (this.#connections.size > 0) return
    clearInterval(this.#checks)
    this.#checks = undefined
  }
}

const tooManyRequests = () =>
  new Refusal('too-many-requests', {
    detail: 'the caller has not received earlier responses',
    headers: { 'retry-after': RETRY_AFTER },
  })

/** Whether a response may still be refused when its size is known: only that of a read, since a change has been made. */
const isRefusable = (request: FastifyRequest, { statusCode }: ServerResponse, bytes: number) =>
  bytes > 0 && statusCode < 400 && isRead(request) && !isVouched(request)

function newConnection(socket: Counted): Connection {
  const connection: Connection = {
    name: nameOf(socket),
    socket,
    account: '',
    isAnonymous: false,
    response: undefined,
    end: 0,
    sent: 0,
    received: 0,
    counted: 0,
    slow: undefined,
  }
  socket.once('close', () => {
    connection.socket = undefined
    connection.response = undefined
  })
  return connection
}

function sentOn({ socket, sent }: Connection): number {
  const handle = socket?._handle
  return handle ? handle.bytesWritten - handle.writeQueueSize : sent
}

function watchProgress(connection: Connection, now: number): Connection {
  const { socket, slow, received } = connection
  const written = socket?.bytesWritten ?? 0
  if (received >= written) connection.slow = undefined
  else if (!slow || received >= slow.written || received - slow.received >= LEAST_BYTES)
    connection.slow = { since: now, received, written }
  return connection
}

/** A socket of /proc/net/tcp that has unacknowledged bytes: local port, remote address and port, and the bytes. */
const WAITING = /: \w+:(\w{4}) (?:0{16}FFFF0000)?(\w+:\w{4}) \w\w (?!0{8})(\w{8}):/g

/** By connection: bytes in the kernel, not sent or not acknowledged by the client. Empty without /proc. */
async function unacknowledged(): Promise<ReadonlyMap<string, number>> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map(path => readFile(path, 'latin1').catch(() => '')),
  )
  const found = tables.flatMap(table => [...table.matchAll(WAITING)])
  return new Map(
    found.map(([, port, remote, bytes = '']) => [`${port} ${remote}`, Number.parseInt(bytes, 16)]),
  )
}

/** The name of a connection in the tables of the kernel, which have each word of an address in the order of the machine. */
function nameOf({ localPort = 0, remotePort = 0, remoteAddress = '' }: Socket): string {
  const hex = (port: number) => port.toString(16).padStart(4, '0').toUpperCase()
  const address = Buffer.from(bytesOf(remoteAddress)).swap32().toString('hex').toUpperCase()
  return `${hex(localPort)} ${address}:${hex(remotePort)}`
}

/** Headers that describe the response that a refusal replaces. */
const DESCRIBING = ['etag', 'last-modified', 'cache-control', 'content-disposition', 'content-encoding']

/** Refuses callers at a limit before their handlers run, and reads also when the size of the response is known. */
export function countResponses(app: FastifyInstance, memory: ResponseMemory): void {
  app.decorateRequest(MEMORY, { getter: () => memory })
  app.addHook('preHandler', (request, _reply, done) => {
    if (!memory.mayRefuse || isVouched(request) || !(isRead(request) || userOf(request))) return done()
    memory.refusal(request).then(refusal => {
      // Responses to other callers must not prevent a change.
      done(isRead(request) || refusal?.code === 'too-many-requests' ? refusal : undefined)
    })
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    const refused = memory.begin(request, reply.raw, sizeOf(request, reply, payload))
    if (!refused) return done(null, payload)
    refused.then(refusal => {
      if (!refusal) return done(null, payload)
      if (payload instanceof Readable) payload.destroy()
      for (const name of DESCRIBING) reply.removeHeader(name)
      done(refusal)
    })
  })
}

/** Counts a response before its body is loaded. @throws Refusal too-many-requests, response-memory-full */
export async function countResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: number,
): Promise<void> {
  const { [MEMORY]: memory } = request as FastifyRequest & { [MEMORY]?: ResponseMemory }
  const refusal = await memory?.begin(request, reply.raw, bytes)
  if (refusal) throw refusal
}

const isRead = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD'

const isVouched = ({ routeOptions: { config } }: FastifyRequest) => config?.probe || config?.vouched

/** Bytes of a body, as far as they count when it begins; 0 for a stream of unknown length, which is measured only. */
function sizeOf({ method }: FastifyRequest, reply: FastifyReply, payload: unknown): number {
  if (method === 'HEAD' || payload === null || payload === undefined) return 0
  if (typeof payload === 'string') return Buffer.byteLength(payload)
  if (payload instanceof Uint8Array) return payload.byteLength
  return Math.min(Number(reply.getHeader('content-length') ?? 0), STREAM_BYTES)
}
