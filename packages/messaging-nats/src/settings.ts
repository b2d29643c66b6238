import { type ConnectionOptions, credsAuthenticator, nkeyAuthenticator } from 'nats'

export interface NatsOptions {
  /**
   * The servers of one cluster, separated by commas: nats://host:4222, or tls://host:4222 where the connection must be
   * encrypted. The first may carry user:password@ or token@.
   */
  url: string
  /** What the server calls the connection in its lists, e.g. catalog-1. */
  name?: string
  user?: string
  password?: string
  token?: string
  /** What a .creds file holds. */
  credentials?: string
  /** Seed of an nkey, SU…. */
  nkeySeed?: string
  /** As PEM. Giving any demands encryption. */
  tls?: { ca?: string; cert?: string; key?: string }
  /** What answers to this connection come under, e.g. _INBOX.catalog: a user who may hear no other needs his own. */
  inbox?: string
  /** Name of the stream. */
  stream?: string
  /** What the stream stores, beside what it stores already. Broadcasts and requests must not fall under it. */
  subjects?: readonly string[]
  /** Copies of the stream in a cluster; one when it is made, and afterwards what the operator chose. */
  replicas?: number
  /** How long messages are kept; for ever when it is made, and afterwards what the operator chose. */
  retentionMs?: number
  /** A setting that needs messages to be kept for so long: a stream that keeps them shorter is refused. */
  needed?: { setting: string; ms: number }
  /** How long a consumer that died keeps a message from the others; at least three seconds for a busy process. */
  holdMs?: number
  /** Told in a line when the server is reached, cannot be used, or complains. */
  report?(line: string): void
}

/** What a wrong MESSAGING_URL, or a server that cannot be used, is answered with; the message names the setting. */
export class NatsRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NatsRefused'
  }
}

interface Servers {
  /** host:port of each. */
  addresses: string[]
  encrypted: boolean
  user?: string
  password?: string
  token?: string
  /** The URL without its secrets. */
  shown: string
}

/** Takes MESSAGING_URL apart. @throws NatsRefused */
export function parseServers(url: string): Servers {
  const urls = url.split(',').map(part => parseServer(part.trim()))
  const first = urls.find(({ username }) => username !== '')
  const user = decoded(first?.username ?? '')
  const password = decoded(first?.password ?? '')
  return {
    addresses: urls.map(({ hostname, port }) => `${hostname}:${port || 4222}`),
    encrypted: urls.some(({ protocol }) => protocol === 'tls:'),
    ...(user && (password ? { user, password } : { token: user })),
    shown: urls.map(({ protocol, hostname, port }) => `${protocol}//${hostname}:${port || 4222}`).join(','),
  }
}

const wrong = (reason: string) =>
  new NatsRefused(`MESSAGING_URL ${reason}: it reads like nats://host:4222 or tls://host:4222`)

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw wrong('has a user or password with a % that is not %25')
  }
}

function parseServer(part: string): URL {
  const url = URL.parse(part)
  if (!url) throw wrong('is not a URL')
  if (!['nats:', 'tls:'].includes(url.protocol)) throw wrong(`has the scheme ${url.protocol}//`)
  if (!url.hostname) throw wrong('names no host')
  if (!['', '/'].includes(url.pathname) || url.search || url.hash) throw wrong('goes on after host and port')
  return url
}

/** How to connect, for the client: once, since reconnecting is done here. @throws NatsRefused */
export function connectionOptions(options: NatsOptions): ConnectionOptions {
  const servers = parseServers(options.url)
  const { user = servers.user, password = servers.password, token = servers.token, tls } = options
  return {
    servers: servers.addresses,
    name: options.name ?? 'gantry',
    reconnect: false,
    timeout: 5_000,
    pingInterval: 5_000,
    maxPingOut: 2,
    noAsyncTraces: true,
    ...(options.inbox && { inboxPrefix: options.inbox }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { pass: password }),
    ...(token !== undefined && { token }),
    ...((tls || servers.encrypted) && { tls: { ...tls } }),
    ...authenticator(options),
  }
}

function authenticator({ credentials, nkeySeed }: NatsOptions): Pick<ConnectionOptions, 'authenticator'> {
  const bytes = (text: string) => new TextEncoder().encode(text)
  if (credentials !== undefined) return { authenticator: credsAuthenticator(bytes(credentials)) }
  if (nkeySeed !== undefined) return { authenticator: nkeyAuthenticator(bytes(nkeySeed)) }
  return {}
}
