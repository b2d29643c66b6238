import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { BlockList, isIPv6, type Socket } from 'node:net'
import { PROBLEMS, type Problem, type ProblemCode } from '@gantry/contracts'
import type { Log } from '@gantry/event-sourcing'
import { networkOf } from './client-network.ts'

/** Timeouts of client connections, in milliseconds. A late request is answered with 408, and the connection is closed. */
export interface ConnectionTimeouts {
  /** For all headers, from the opening of the connection or the first byte of a later request. */
  headersMs: number
  /** For the whole request. */
  requestMs: number
  /** Between two requests on a connection. */
  idleMs: number
  /** Without a byte in either direction. */
  silentMs: number
}

/** `idleMs` has to be longer than a load balancer in front keeps idle connections, usually 60 s. */
export const CONNECTION_TIMEOUTS: ConnectionTimeouts = {
  headersMs: 10_000,
  requestMs: 60_000,
  idleMs: 72_000,
  silentMs: 120_000,
}

/** Maximum numbers of simultaneous connections; 0 for no limit. */
export interface ConnectionLimits {
  total: number
  /** Of one IPv4 address, or of one /64 network of IPv6. */
  perAddress: number
  /** Addresses and networks of proxies, to which `perAddress` does not apply because they serve many clients. */
  proxies: readonly string[]
}

/** Refused connections are logged in one line per this period, in milliseconds. */
const TOLD_EVERY_MS = 10_000
/** Time for a client to read the response before its connection is destroyed, in milliseconds. */
const LINGER_MS = 1_000

/** Closes connections beyond the limits before it reads anything from them. */
export function limitConnections(server: Server, limits: ConnectionLimits, log: Log): void {
  const { total, perAddress, proxies } = limits
  const open = new Map<string, number>()
  const exempt = networks(proxies)
  let refused = 0

  const refuse = (address: string | undefined) => {
    refused += 1
    if (refused > 1) return
    setTimeout(() => {
      log.warn({ address, connections: refused }, 'refused connections beyond the limit')
      refused = 0
    }, TOLD_EVERY_MS).unref()
  }

  if (total > 0) {
    server.maxConnections = total
    server.on('drop', dropped => refuse(dropped?.remoteAddress))
  }
  if (perAddress === 0) return
  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress: address } = socket
    if (address === undefined || exempt(address)) return
    const network = networkOf(address)
    const count = (open.get(network) ?? 0) + 1
    if (count > perAddress) {
      refuse(address)
      socket.destroy()
      return
    }
    open.set(network, count)
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    })
  })
}

/** @returns a function that tells whether an address is in one of these networks */
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

/** Answers requests that Node cannot parse, or that are late, with problem details on the bare socket. */
export const refusingUnreadable =
  (log: Log) =>
  (error: Error & { code?: string }, socket: Socket): void => {
    // Node sets this while a response is being written: no other response may be mixed into it.
    const { _httpMessage: response } = socket as Socket & { _httpMessage?: ServerResponse<IncomingMessage> }
    if (!socket.writable || error.code === 'ECONNRESET' || response?.headersSent) {
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
