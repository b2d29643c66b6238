import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import { type Cidr, refusedAddress } from './address.ts'
import { boundAnswers } from './bounded-answers.ts'
import { AttemptFailure } from './failure.ts'

export interface Address {
  address: string
  family: number
}

/** Finds the addresses of a host name. */
export type Resolve = (hostname: string) => Promise<Address[]>

export const systemResolve: Resolve = hostname => lookup(hostname, { all: true, order: 'verbatim' })

export interface ConnectOptions {
  resolve: Resolve
  allowed: readonly Cidr[]
  timeoutMs: number
  /** Certificates to trust beside the public ones, as PEM. */
  ca?: string
}

/**
 * Opens connections to addresses that webhooks may reach and to no other. A name is resolved once for a connection,
 * every address it has is vetted, and the connection is made to these very addresses: between the vetting and the
 * connecting there is no second lookup that could say something else. Addresses written as such are vetted as well;
 * `URL` has brought them into one notation (WHATWG URL §3.5).
 */
export function vettedConnector({
  resolve,
  allowed,
  timeoutMs,
  ca,
}: ConnectOptions): buildConnector.connector {
  const vet = (addresses: Address[]) => {
    for (const { address } of addresses) {
      const refused = refusedAddress(address, allowed)
      if (refused) throw new AttemptFailure('address-refused', refused)
    }
    return addresses
  }

  /** One question for all connections that need the answer: the system asks few at a time, however long each takes. */
  const asked = new Map<string, Promise<Address[]>>()
  const ask = (hostname: string) => {
    const known = asked.get(hostname)
    if (known) return known
    const answer = resolve(hostname).finally(() => asked.delete(hostname))
    asked.set(hostname, answer)
    return answer
  }

  const addressesOf = async (hostname: string) => {
    try {
      const found = await ask(hostname)
      if (found.length > 0) return vet(found)
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? 'unknown'
      if (!(error instanceof AttemptFailure) && !NO_SUCH_NAME.has(reason)) {
        throw new AttemptFailure('resolver-failed', `no answer to where ${hostname} is: ${reason}`, error)
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
    // The connector gives back the socket that it connects, which its type does not say.
    const socket = connect(options, (error, connected) => {
      if (error) return callback(failureOf(error, reached), null)
      boundAnswers(connected as Socket)
      callback(null, connected as Socket)
    }) as unknown as Socket
    socket.once('connect', () => {
      reached = true
    })
  }
}

/**
 * The same for a name that does not exist and for one whose addresses are refused, so that a webhook does not tell which
 * internal names there are. The cause is for the log.
 */
const noAddress = (hostname: string, cause?: unknown) =>
  new AttemptFailure('address-refused', `${hostname} has no address that webhooks may reach`, cause)

/** Answers of a name service that works. */
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA', 'EAI_NODATA', 'EAI_NONAME'])
/** This machine's own trouble with a connection. */
const OUR_TROUBLE = new Set([
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
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new AttemptFailure('timeout', 'no connection in time', error)
  const reason = reasonOf(error)
  if (!reached && ownTrouble(error))
    return new AttemptFailure('network-failed', `no connection: ${reason}`, error)
  return reached
    ? new AttemptFailure('tls-failed', `no secure connection: ${reason}`, error)
    : new AttemptFailure('connect-failed', `no connection: ${reason}`, error)
}

/** Where several addresses were tried, all of them. */
const ownTrouble = (error: Error): boolean =>
  error instanceof AggregateError
    ? error.errors.every(ownTrouble)
    : OUR_TROUBLE.has(String((error as NodeJS.ErrnoException).code))

/** What is wrong, also where several addresses were tried, without the addresses, which are in the messages. */
function reasonOf(error: Error): string {
  const errors = error instanceof AggregateError ? error.errors : [error]
  return [...new Set(errors.map(each => String(each.code ?? 'unknown')))].join(', ')
}
