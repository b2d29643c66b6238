import { isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import { type Cidr, refusedAddress } from './address.ts'
import { AttemptFailure } from './failure.ts'
import { type Address, isNoSuchName, type Resolve } from './host-resolver.ts'

export interface ConnectOptions {
  resolve: Resolve
  allowed: readonly Cidr[]
  timeoutMs: number
  /** Maximum number of received bytes of a response. Default: what an attempt of a webhook reads. */
  responseBytes?: number
  /** Certificates to trust in addition to the public ones, as PEM. */
  ca?: string
}

/**
 * Opens connections only to addresses that webhooks may reach. A host name is resolved once per connection, all its
 * addresses are checked, and the connection uses these addresses: there is no second lookup that could give another
 * result (DNS rebinding). IP addresses in URLs are checked as well; `URL` has normalized them (WHATWG URL §3.5).
 */
export function vettedConnector({
  resolve,
  allowed,
  timeoutMs,
  responseBytes = RESPONSE_LIMIT,
  ca,
}: ConnectOptions): buildConnector.connector {
  const vet = (addresses: Address[]) => {
    for (const { address } of addresses) {
      const refused = refusedAddress(address, allowed)
      if (refused) throw new AttemptFailure('address-refused', refused)
    }
    return addresses
  }

  /** Concurrent lookups of a name share one query. */
  const running = new Map<string, Promise<Address[]>>()
  const lookUp = (hostname: string) => {
    const shared = running.get(hostname)
    if (shared) return shared
    const addresses = resolve(hostname).finally(() => running.delete(hostname))
    running.set(hostname, addresses)
    return addresses
  }

  const addressesOf = async (hostname: string) => {
    try {
      const found = await lookUp(hostname)
      if (found.length > 0) return vet(found)
    } catch (error) {
      if (!(error instanceof AttemptFailure) && !isNoSuchName(error)) {
        const reason = (error as NodeJS.ErrnoException).code ?? 'unknown'
        throw new AttemptFailure('resolver-failed', `cannot resolve ${hostname}: ${reason}`, error)
      }
      throw noAddress(hostname, error)
    }
    throw noAddress(hostname)
  }

  const vettedLookup: LookupFunction = (hostname, { all }, callback) => {
    addressesOf(hostname).then(
      addresses => {
        const [first] = addresses
        if (all) callback(null, addresses)
        else callback(null, first?.address ?? '', first?.family)
      },
      error => callback(error, ''),
    )
  }

  const connect = buildConnector({ allowH2: false, timeout: timeoutMs, lookup: vettedLookup, ca })

  return (options, callback) => {
    const { hostname } = options
    try {
      if (isIP(hostname)) vet([{ address: hostname, family: isIP(hostname) }])
    } catch (error) {
      return callback(error as Error, null)
    }
    let reached = false
    // The connector returns the socket that it connects, which its type does not declare.
    const socket = connect(options, (error, connected) => {
      if (error) return callback(failureOf(error, reached), null)
      limitResponses(connected as Socket, responseBytes)
      callback(null, connected as Socket)
    }) as unknown as Socket
    socket.once('connect', () => {
      reached = true
    })
  }
}

/**
 * The same failure for a name that does not exist and for one whose addresses are refused, so that failure messages do
 * not reveal which internal names exist. The cause is only logged.
 */
const noAddress = (hostname: string, cause?: unknown) =>
  new AttemptFailure('address-refused', `${hostname} has no address that webhooks may reach`, cause)

/** Connection errors that are caused by this machine. */
const LOCAL_ERRORS = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRNOTAVAIL',
  'ENETUNREACH',
  'ENETDOWN',
])

function failureOf(error: Error, reached: boolean): AttemptFailure {
  if (error instanceof AttemptFailure) return error
  const code = 'code' in error ? String(error.code) : undefined
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new AttemptFailure('timeout', 'connecting timed out', error)
  const reason = errorCodes(error)
  if (!reached && isLocal(error))
    return new AttemptFailure('network-failed', `cannot connect: ${reason}`, error)
  return reached
    ? new AttemptFailure('tls-failed', `the TLS handshake failed: ${reason}`, error)
    : new AttemptFailure('connect-failed', `cannot connect: ${reason}`, error)
}

/** Whether this machine caused the error; with several addresses, every error. */
const isLocal = (error: Error): boolean =>
  error instanceof AggregateError
    ? error.errors.every(isLocal)
    : LOCAL_ERRORS.has(String((error as NodeJS.ErrnoException).code))

/** The error codes, of all addresses if there are several. The messages are left out because they contain addresses. */
function errorCodes(error: Error): string {
  const errors = error instanceof AggregateError ? error.errors : [error]
  return [...new Set(errors.map(each => String(each.code ?? 'unknown')))].join(', ')
}

/**
 * Maximum number of received bytes per request: more than the largest headers plus the part of a body that is read, with
 * chunk framing.
 */
const RESPONSE_LIMIT = 262_144

/**
 * Closes a connection when the response to one request exceeds the limit. The HTTP parser accepts interim responses and
 * chunk extensions without limit and does not report them.
 * @param socket decrypted; its client writes a request only after the previous response is complete
 */
function limitResponses(socket: Socket, most: number): void {
  const { read, write } = socket
  let received = 0
  socket.write = (...args: unknown[]) => {
    received = 0
    return Reflect.apply(write, socket, args)
  }
  socket.read = size => {
    const chunk = read.call(socket, size)
    received += chunk?.length ?? 0
    if (received <= most) return chunk
    socket.destroy(new AttemptFailure('bad-answer', `the response is longer than ${most} bytes`))
    return null
  }
}
