import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { BlockList, isIPv6, type Socket } from 'node:net'
import { PROBLEMS, type Problem, type ProblemCode } from '@gantry/contracts'
import type { Log } from '@gantry/event-sourcing'

/** How long a client may take, in milliseconds; who takes longer is answered 408 and loses the connection. */
export interface Patience {
  /** Until all headers have come, from the opening of the connection or the first byte of a later request. */
  headersMs: number
  /** Until the whole request has come. */
  requestMs: number
  /** Until the next request on a connection that is kept open. */
  idleMs: number
  /** Without a byte in either direction: somebody who does not read his answer. */
  silentMs: number
}

/** An open connection that idles has to outlive the pool of a load balancer in front, which is 60 s with many. */
export const PATIENCE: Patience = {
  headersMs: 10_000,
  requestMs: 60_000,
  idleMs: 72_000,
  silentMs: 120_000,
}

/** How many connections there may be at once; 0 for any number. */
export interface ConnectionLimits {
  total: number
  perAddress: number
  /** Addresses and networks that stand for many clients, so that they do not count as one. */
  proxies: readonly string[]
}

/** One line of log for all that were turned away in so many milliseconds. */
const TOLD_EVERY_MS = 10_000
/** How long a refused client may take to read why. */
const LINGER_MS = 1_000

/** Turns connections away beyond the limits, before anything of them is read. */
export function limitConnections(server: Server, limits: ConnectionLimits, log: Log): void {
  const { total, perAddress, proxies } = limits
  const open = new Map<string, number>()
  const exempt = networks(proxies)
  let turnedAway = 0

  const turnAway = (address: string | undefined) => {
    turnedAway += 1
    if (turnedAway > 1) return
    setTimeout(() => {
      log.warn({ address, connections: turnedAway }, 'connections were turned away: there are too many')
      turnedAway = 0
    }, TOLD_EVERY_MS).unref()
  }

  if (total > 0) {
    server.maxConnections = total
    server.on('drop', dropped => turnAway(dropped?.remoteAddress))
  }
  if (perAddress === 0) return
  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress: address } = socket
    if (address === undefined || exempt(address)) return
    const count = (open.get(address) ?? 0) + 1
    if (count > perAddress) {
      turnAway(address)
      socket.destroy()
      return
    }
    open.set(address, count)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}

/** Whether an address is of one of these networks. */
function networks(of: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of of) {
    const [address = '', prefix] = network.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return address => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

const REASONS: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
}

/** What Node cannot read as HTTP, or not in time, is answered on the bare socket, as a problem like any other. */
export const refusingUnreadable =
  (log: Log) =>
  (error: Error & { code?: string }, socket: Socket): void => {
    // Node's own way to know that an answer has begun, which nothing may be written into.
    const { _httpMessage: answer } = socket as Socket & { _httpMessage?: ServerResponse<IncomingMessage> }
    if (!socket.writable || error.code === 'ECONNRESET' || answer?.headersSent) {
      socket.destroy()
      return
    }
    const code = REASONS[error.code ?? ''] ?? 'malformed-request'
    const { status, title } = PROBLEMS[code]
    const requestId = randomUUID()
    log.info({ requestId, status, address: socket.remoteAddress, reason: error.code }, 'refused')
    const problem: Problem = {
      type: `urn:gantry:problem:${code}`,
      title,
      status,
      detail: title,
      instance: '',
      code,
      requestId,
      timestamp: new Date().toISOString(),
    }
    const body = JSON.stringify(problem)
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/problem+json; charset=utf-8\r\nX-Request-Id: ${requestId}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    )
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }
