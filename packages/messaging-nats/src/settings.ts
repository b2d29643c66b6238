import { type ConnectionOptions, credsAuthenticator, nkeyAuthenticator } from 'nats'

export interface NatsOptions {
  /**
   * The servers of one cluster, separated by commas: nats://host:4222, or tls://host:4222 to require encryption. The first
   * can contain user:password@ or token@.
   */
  url: string
  /** Name of the connection in the lists of the server, e.g. catalog-1. */
  name?: string
  credentials?: NatsCredentials
  /** Certificates and key as PEM. If any is given, encryption is required. */
  tls?: { ca?: string; cert?: string; key?: string }
  /**
   * Prefix of the subjects of answers to this connection, e.g. _INBOX.catalog, for a user with a restricted right to
   * subscribe.
   */
  inbox?: string
  stream?: StreamOptions
  /** Called with a log line when the server is reached, cannot be used, or reports an error. */
  report?(line: string): void
}

/** They take precedence over those of the URL. */
interface NatsCredentials {
  user?: string | undefined
  password?: string | undefined
  /** Content of a .creds file, or the seed of an nkey, SU…. */
  file?: string | undefined
}

export interface StreamOptions {
  /** Whether to create a missing stream, and to add what an existing one lacks. Without a stream, `last` finds nothing. Default: true. */
  create?: boolean
  /** Default: GANTRY. */
  name?: string
  /** Subjects to store, in addition to those that the stream stores already. They must not match broadcasts and requests. */
  subjects?: readonly string[]
  /** Number of servers that keep the messages, 1 to 5. Default: 1 for a new stream; an existing stream is not changed. */
  replicas?: number | undefined
  /**
   * How long messages are kept, in milliseconds. Default: without limit for a new stream; an existing stream is not changed.
   */
  retentionMs?: number | undefined
  /** A setting that requires a minimum retention: a stream with a shorter one is refused. */
  needed?: { setting: string; ms: number }
}

/** The URL is invalid, or the server cannot be used. The message names the setting. */
export class NatsRefused extends Error {
  override readonly name = 'NatsRefused'
}

interface Servers {
  /** host:port of each. */
  addresses: string[]
  encrypted: boolean
  user?: string
  password?: string
  token?: string
  /** The URL without secrets. */
  shown: string
}

const SETTING = 'MESSAGING_URL'

/**
 * @param setting name of the setting or option that contains the URL; used in messages
 * @throws NatsRefused
 */
export function parseServers(url: string, setting: string = SETTING): Servers {
  const refuse = (reason: string): never => {
    throw new NatsRefused(`${setting} ${reason}: it must look like nats://host:4222 or tls://host:4222`)
  }
  const urls = url.split(',').map(part => parseServer(part.trim(), refuse))
  const first = urls.find(({ username }) => username !== '')
  const user = decoded(first?.username ?? '', refuse)
  const password = decoded(first?.password ?? '', refuse)
  return {
    addresses: urls.map(({ hostname, port }) => `${hostname}:${port || 4222}`),
    encrypted: urls.some(({ protocol }) => protocol === 'tls:'),
    ...(user && (password ? { user, password } : { token: user })),
    shown: urls.map(({ protocol, hostname, port }) => `${protocol}//${hostname}:${port || 4222}`).join(','),
  }
}

type Refuse = (reason: string) => never

function decoded(text: string, refuse: Refuse): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return refuse('has a user or password with a % that is not %25')
  }
}

function parseServer(part: string, refuse: Refuse): URL {
  const url = URL.parse(part)
  if (!url) return refuse('is not a URL')
  if (!['nats:', 'tls:'].includes(url.protocol)) return refuse(`has the scheme ${url.protocol}//`)
  if (!url.hostname) return refuse('names no host')
  if (!['', '/'].includes(url.pathname) || url.search || url.hash)
    return refuse('has a part after host and port')
  return url
}

/** The options for the client. It connects once: reconnecting is implemented here. @throws NatsRefused */
export function connectionOptions(options: NatsOptions, setting: string = SETTING): ConnectionOptions {
  const servers = parseServers(options.url, setting)
  const { credentials = {}, tls } = options
  const { user = servers.user, password = servers.password } = credentials
  const { token } = servers
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
    ...authenticator(credentials),
  }
}

function authenticator({ file }: NatsCredentials): Pick<ConnectionOptions, 'authenticator'> {
  if (file === undefined) return {}
  const bytes = (text: string) => new TextEncoder().encode(text)
  const [seed] = /^SU[A-Z2-7]{56}$/.exec(file.trim()) ?? []
  return { authenticator: seed ? nkeyAuthenticator(bytes(seed)) : credsAuthenticator(bytes(file)) }
}
