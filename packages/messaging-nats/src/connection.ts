import { BusUnavailable } from '@gantry/messaging'
import { Backoff, inTime, sleep } from '@gantry/pacing'
import {
  connect,
  Events,
  type JetStreamClient,
  type JetStreamManager,
  type Msg,
  type NatsConnection,
  type SubscriptionOptions,
} from 'nats'
import { natsFailureOf } from './errors.ts'
import { connectionOptions, type NatsOptions, NatsRefused, parseServers } from './settings.ts'
import { type Configured, ensureStream, existingStream } from './stream.ts'

/** A connection, from the time its stream exists until it is lost. Requests in progress fail then. */
export interface Session extends Configured {
  nc: NatsConnection
  js: JetStreamClient
  jsm: JetStreamManager
  stream: string
  /** Prefix of the subjects of answers; undefined for the client's default. */
  inbox: string | undefined
  /** Subjects that the stream stores. */
  stored: readonly string[]
  /** Whether the stream has several replicas. */
  replicated: boolean
  /** Whether a consumer can have several filters: since nats-server 2.10. */
  severalFilters: boolean
  /** Aborted with BusUnavailable when the connection is lost or closed. */
  lost: AbortSignal
}

export interface Connection {
  /** The current session. Waits during the first attempt to connect. @throws BusUnavailable */
  session(): Promise<Session>
  /** Version of the server of the last session; undefined before the first one. */
  serverVersion(): string | undefined
  /** Subscribes, in this and all later sessions, until the returned function is called. */
  subscribe(subject: string, options: Subscribing): () => void
  /** Flushes what was sent, and closes the connection. */
  close(): Promise<void>
}

type Subscribing = SubscriptionOptions & { callback(error: Error | null, msg: Msg): void }

const OLDEST = [2, 9] as const
const SEVERAL_FILTERS = [2, 10] as const
const METADATA = [2, 10] as const
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
const GOODBYE_MS = 1_000

/**
 * Connects, checks the server, and creates or upgrades the stream unless the options exclude it. `configured`: see `ensureStream`.
 * @throws the reason of a failure
 */
async function openSession(options: NatsOptions, configured?: Configured): Promise<Session> {
  const nc = await connect(connectionOptions(options))
  try {
    if (!isAtLeast(nc, OLDEST))
      throw new Error(`nats-server ${nc.info?.version} is too old; 2.9 or newer is required`)
    const jsm = await nc.jetstreamManager()
    const server = { jsm, metadata: isAtLeast(nc, METADATA) }
    const { create = true, ...stream } = options.stream ?? {}
    const { config, created, changes } = create
      ? await ensureStream(server, stream, configured)
      : await existingStream(server, stream)
    const { subjects: stored, num_replicas } = config
    const lost = new AbortController()
    nc.closed().then(error =>
      lost.abort(new BusUnavailable(error ? natsFailureOf(error) : 'the connection was lost')),
    )
    if (options.report) complain(nc, options.report)
    return {
      nc,
      js: nc.jetstream(),
      jsm,
      stream: config.name,
      created,
      changes,
      inbox: options.inbox,
      stored,
      replicated: num_replicas > 1,
      severalFilters: isAtLeast(nc, SEVERAL_FILTERS),
      lost: lost.signal,
    }
  } catch (error) {
    await nc.close()
    throw error
  }
}

function isAtLeast({ info }: NatsConnection, [major, minor]: readonly [number, number]): boolean {
  const [ofServer = 0, itsMinor = 0] = (info?.version ?? '').split('.').map(Number)
  return ofServer > major || (ofServer === major && itsMinor >= minor)
}

/** Reports errors of the server, e.g. missing permissions of the user. */
async function complain(nc: NatsConnection, report: (line: string) => void): Promise<void> {
  for await (const { type, data, permissionContext } of nc.status()) {
    if (type !== Events.Error) continue
    const { operation, subject } = permissionContext ?? {}
    report(`the NATS server reports ${data}${subject ? `: ${operation} of ${subject}` : ''}`)
  }
}

/**
 * Keeps a connection until it is closed. After a loss it tries again, with pauses of up to five seconds. Each attempt makes
 * a new connection, so that no message of a lost one is sent late and out of order.
 * @throws NatsRefused when the URL cannot be used
 */
export function keepConnected(options: NatsOptions): Connection {
  const { report = () => {} } = options
  const server = `MESSAGING_URL ${parseServers(options.url).shown}`
  const closing = new AbortController()
  const subscriptions = new Subscriptions()
  const firstAttempt = Promise.withResolvers<void>()
  let current: Session | undefined
  let configured: Configured | undefined
  let version: string | undefined
  let reason = 'not connected yet'

  const away = (why: string) => {
    if (closing.signal.aborted) return
    current = undefined
    if (reason !== why) report(why)
    reason = why
    firstAttempt.resolve()
  }

  const run = async () => {
    const pauses = new Backoff({ firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS, jitter: 0.5 })
    while (!closing.signal.aborted) {
      try {
        const session = await openSession(options, configured)
        configured = { created: session.created, changes: session.changes }
        if (closing.signal.aborted) return await session.nc.close()
        current = session
        version = session.nc.info?.version
        subscriptions.attach(session)
        reason = ''
        pauses.reset()
        report(`${server}: connected to nats-server ${session.nc.info?.version}`)
        firstAttempt.resolve()
        const error = await session.nc.closed()
        away(`${server}: ${error ? natsFailureOf(error) : 'the connection was lost'}`)
      } catch (error) {
        away(`${server}: ${natsFailureOf(error)}`)
      }
      await sleep(pauses.next(), { signal: closing.signal })
    }
  }
  const running = run()

  const session = async () => {
    await firstAttempt.promise
    if (closing.signal.aborted) throw new BusUnavailable('it is closed')
    if (!current || current.lost.aborted)
      throw new BusUnavailable(reason || `${server}: the connection was lost`)
    return current
  }

  const close = async () => {
    closing.abort()
    firstAttempt.resolve()
    if (!current) return
    const { nc, lost } = current
    await inTime(orLost(nc.flush(), lost), GOODBYE_MS)
    await nc.close()
    await running
  }
  let closed: Promise<void> | undefined

  return {
    session,
    serverVersion: () => version,
    subscribe: (subject, options) => subscriptions.add(subject, options, current),
    close() {
      closed ??= close()
      return closed
    },
  }
}

/** Subscriptions that are made again in each session. */
class Subscriptions {
  readonly #attach = new Set<(session: Session) => void>()

  attach(session: Session): void {
    for (const attach of this.#attach) attach(session)
  }

  /** @returns a function that ends the subscription */
  add(subject: string, options: Subscribing, current: Session | undefined): () => void {
    let end = () => {}
    const attach = ({ nc, lost }: Session) => {
      const made = nc.subscribe(subject, options)
      end = () => {
        if (!lost.aborted) made.unsubscribe()
      }
    }
    this.#attach.add(attach)
    if (current && !current.lost.aborted) attach(current)
    return () => {
      this.#attach.delete(attach)
      end()
    }
  }
}

/** Resolves when the promise settles or the session is lost. */
export async function orLost(promise: Promise<unknown>, lost: AbortSignal): Promise<void> {
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  const stop = () => resolve()
  lost.addEventListener('abort', stop)
  try {
    await Promise.race([promise, gone])
  } catch {
    // The connection was lost meanwhile.
  } finally {
    lost.removeEventListener('abort', stop)
  }
}

/**
 * Checks that the server can be used: connects once, creates or upgrades the stream, and disconnects.
 * @throws NatsRefused, whose message names MESSAGING_URL and the reason
 */
export async function checkBus(options: NatsOptions): Promise<void> {
  const { shown } = parseServers(options.url)
  try {
    const { nc } = await openSession({ ...options, report: undefined })
    await nc.close()
  } catch (error) {
    throw new NatsRefused(`MESSAGING_URL ${shown}: ${natsFailureOf(error)}`, { cause: error })
  }
}
