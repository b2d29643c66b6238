import { hostname } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { ProcessState } from '@gantry/contracts'
import {
  BodyMemory,
  processLog,
  RELEASE,
  ResponseMemory,
  readSettings,
  type ServerOptions,
  SettingsRefused,
} from '@gantry/service-runtime'
import { withTracer } from '@gantry/tracing'
import type { OtlpTracer } from '@gantry/tracing/otlp'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import type { z } from 'zod'
import { processClock } from './clock.ts'
import { type ProcessMetrics, processMetrics } from './metrics.ts'
import { type Port, processServers, type Servers } from './servers.ts'
import type { ProcessSettings, ServerSettings, serverSettings } from './settings.ts'
import { type BackingStore, type BackingStoreWatch, watchBackingStores } from './stores/backing-stores.ts'
import { openTracer } from './tracing.ts'

/** What `runProcess` gives to the parts of a process. */
export interface ProcessContext<Settings> {
  settings: Settings
  log: Logger
  metrics: Registry
  now(): Date
  /** What the process says about itself; to be called after `open` has returned. */
  state(): ProcessState
}

/** The parts of a process other than its server. */
export interface ProcessParts {
  backingStores: readonly BackingStore[]
  /** The clock that all processes of the installation share. Without one, the process uses that of its machine. */
  referenceClock?: { name: string; time(): Promise<Date> }
  /** Adds the routes of the process, under the base path. */
  routes(app: FastifyInstance): Promise<void>
  /** Adds the routes of the server at INTERNAL_PORT; called after `routes`. */
  inside?(app: FastifyInstance): Promise<void>
  /** Called once, when all backing stores have been usable and the reference time is known. */
  start(): Promise<void>
  /** What the process still waits for after `start`; undefined when it is ready. */
  waitingFor(): string | undefined
  /** Stops the work that requests do not need. Called while the servers complete the requests in progress. */
  release?(): Promise<void>
  /** Called after the servers have closed. */
  stop(): Promise<void>
  /** Told about the progress of the process, in addition to its log. */
  terminal?: Terminal
}

/** A person who runs the process in a terminal. */
export interface Terminal {
  waitsFor(waiting: string): void
  /** @param port that the process listens on */
  ready(port: number): void
  stops(signal: NodeJS.Signals): void
}

/** The settings that `runProcess` uses itself. */
type OwnSettings = ServerSettings & Partial<Pick<ProcessSettings, 'SHUTDOWN_DELAY'>>

type OwnSchema = z.ZodObject<(typeof serverSettings)['shape']>

export interface ProcessOptions<Schema extends OwnSchema> {
  name: string
  schema: Schema
  environment: NodeJS.ProcessEnv
  /** Trusted proxies and connection limits of the server. */
  server?(settings: z.infer<Schema>): Pick<ServerOptions, 'clients'>
  /** Port of a second server for /metrics and internal requests. Without one /metrics is at PORT. */
  second?(settings: z.infer<Schema>): Omit<Port, 'host'> | undefined
  open(context: ProcessContext<z.infer<Schema>>): ProcessParts
  /** The line on stderr for an error that prevents the start; undefined for an internal error, which is thrown. */
  startFailure?(error: unknown): string | undefined
}

/** Maximum time to export the last spans, within SHUTDOWN_TIMEOUT. */
const LAST_SPANS_MS = 3_000
/** Time for the end of the workers after SHUTDOWN_TIMEOUT. The process then exits even if they have not ended. */
const LAST_MS = 2_000
const POLL_MS = 25
/** Time after the start in which the process has made what it needs at first, e.g. connections. */
const SETTLED_MS = 5_000

/**
 * Runs a process. It listens at once and becomes ready when its backing stores are usable and its parts have started. On
 * SIGTERM or SIGINT it fails readiness, continues to answer for SHUTDOWN_DELAY, completes the requests in progress within
 * SHUTDOWN_TIMEOUT, stops its parts and exits with 0. `release` stops reactors and workers meanwhile. A second signal exits
 * with 1 at once. If the settings are wrong, it writes a line to stderr and exits with 1. If a backing store is
 * unavailable, it logs that and waits.
 */
export async function runProcess<Schema extends OwnSchema>(options: ProcessOptions<Schema>): Promise<void> {
  const { name, schema, environment } = options
  const orExit = orExitOf(options)
  // Only this user may read the files of embedded stores.
  process.umask(0o077)
  const settings = await orExit(async () => readSettings(schema, environment))
  const metrics = new Registry()
  const measured = processMetrics(name, metrics)
  const log = logOf(name, settings.LOG_LEVEL, measured)
  const tracer = await orExit(() => openTracer(name, settings, log))
  await withTracer(tracer?.tracer, () => runParts(options, { settings, log, metrics, measured, tracer }))
}

interface Prepared<Settings> extends Omit<ProcessContext<Settings>, 'now' | 'state'> {
  measured: ProcessMetrics
  tracer: OtlpTracer | undefined
}

/** Runs the parts of a process to its end. */
async function runParts<Schema extends OwnSchema>(
  options: ProcessOptions<Schema>,
  { settings, log, metrics, measured, tracer }: Prepared<z.infer<Schema>>,
): Promise<void> {
  const { name, open } = options
  const orExit = orExitOf(options)
  const clock = processClock({ log })
  const { now } = clock
  const state = (): ProcessState => stateOf(backingStores, notReadyReason())
  const parts = await orExit(async () => open({ settings, log, metrics, now, state }))
  const { referenceClock, terminal } = parts
  const backingStores = watchBackingStores(parts.backingStores, log)
  measured.watches(backingStores)
  let stage: string | undefined = 'the registration of its routes'
  let started = false
  let stopping = false
  const waitingFor = () => stage ?? parts.waitingFor() ?? (started ? undefined : 'its start')
  const endAnnouncing = announceWaits(
    // Trouble with a backing store is logged by watchBackingStores.
    () => (backingStores.trouble() === undefined ? waitingFor() : undefined),
    waiting => {
      log.info({}, `waits for ${waiting}`)
      terminal?.waitsFor(waiting)
    },
  )
  const notReadyReason = () => {
    if (stopping) return 'shutting down'
    const waiting = backingStores.trouble() ?? waitingFor()
    return waiting && `waits for ${waiting}`
  }
  const servers = serversOf(options, settings, { log, metrics, now, notReadyReason })
  stopAtSignal(async signal => {
    stopping = true
    endAnnouncing()
    log.info({ signal }, 'shutting down')
    terminal?.stops(signal)
    servers.drain()
    const { SHUTDOWN_DELAY = 0, SHUTDOWN_TIMEOUT }: OwnSettings = settings
    if (started) await setTimeout(SHUTDOWN_DELAY)
    const closingAt = performance.now()
    exitLate(name, SHUTDOWN_TIMEOUT + LAST_MS)
    backingStores.stop()
    clock.stop()
    await Promise.all([servers.close(SHUTDOWN_TIMEOUT), parts.release?.()])
    await parts.stop()
    await tracer?.close(Math.min(LAST_SPANS_MS, closingAt + SHUTDOWN_TIMEOUT - performance.now()))
    log.info({}, 'stopped')
  })

  const port = await orExit(() => servers.listen(parts))
  if (referenceClock) stage = `the reference time from ${referenceClock.name}`
  await backingStores.usable
  // Before the parts start, because they compare times with those that other processes have recorded.
  if (referenceClock) await clock.synchronize(() => referenceClock.time())
  if (stopping) return
  stage = undefined
  await parts.start().catch(error => {
    // The shutdown has closed the stores.
    if (stopping) return
    if (error instanceof SettingsRefused || options.startFailure) return orExit(() => Promise.reject(error))
    throw error
  })
  started = true
  while (!stopping && parts.waitingFor() !== undefined) await setTimeout(POLL_MS)
  endAnnouncing()
  if (stopping) return
  log.info({ port }, 'ready')
  terminal?.ready(port)
  await setTimeout(SETTLED_MS, undefined, { ref: false })
  if (!stopping) collectGarbage()
}

/**
 * Collects the garbage of the start. V8 would keep it in an idle process, because nothing allocates: a quarter of its
 * memory. It takes about 0.1 s.
 */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')({ type: 'major', flavor: 'last-resort' })
}

const STARTED_AT = new Date(Date.now() - process.uptime() * 1_000).toISOString()

const stateOf = (backingStores: BackingStoreWatch, waitsFor: string | undefined): ProcessState => ({
  host: hostname(),
  version: RELEASE,
  node: process.versions.node,
  startedAt: STARTED_AT,
  waitsFor: waitsFor?.replace(/^waits for /, '') ?? null,
  backingStores: backingStores.states(),
})

const orExitOf = <Schema extends OwnSchema>({ name, startFailure }: ProcessOptions<Schema>) =>
  exitOnFailure(startFailure ?? (error => `gantry ${name}: ${failureLineOf(error)}`))

/** @returns a function that does work; if it fails with an error that has a line, writes the line and exits with 1 */
const exitOnFailure =
  (lineOf: (error: unknown) => string | undefined) =>
  async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      const line = lineOf(error)
      if (line === undefined) throw error
      process.stderr.write(`${line}\n`)
      process.exit(1)
    }
  }

/** Runs `stop` at the first SIGTERM or SIGINT, then exits with 0; exits with 1 at once at a second signal. */
function stopAtSignal(stop: (signal: NodeJS.Signals) => Promise<void>): void {
  let stopping = false
  const end = async (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1)
    stopping = true
    await stop(signal)
    process.exit(0)
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
}

/** Exits with 1 if the process still runs after this time. */
function exitLate(name: string, ms: number): void {
  setTimeout(ms, undefined, { ref: false }).then(() => {
    process.stderr.write(`gantry ${name}: did not stop within ${ms / 1000} s\n`)
    process.exit(1)
  })
}

/**
 * The maximum time from SIGTERM to the exit of a process with these settings, in milliseconds. What runs the process has to
 * allow more, e.g. with terminationGracePeriodSeconds.
 */
export const shutdownMs = ({
  SHUTDOWN_DELAY = 0,
  SHUTDOWN_TIMEOUT,
}: Pick<OwnSettings, 'SHUTDOWN_DELAY' | 'SHUTDOWN_TIMEOUT'>): number =>
  SHUTDOWN_DELAY + SHUTDOWN_TIMEOUT + LAST_MS

function serversOf<Schema extends OwnSchema>(
  { server, second }: ProcessOptions<Schema>,
  settings: z.infer<Schema>,
  about: Pick<ServerOptions, 'log' | 'metrics' | 'now' | 'notReadyReason'>,
): Servers {
  const { HOST: host, PORT: port, BASE_PATH: basePath } = settings
  const ofServer = server?.(settings)
  // Services have no limits of connections: their client is the gateway.
  const hasSlowClients = ofServer?.clients?.connections !== undefined
  const memory = {
    bodies: new BodyMemory(settings.BODY_MEMORY),
    responses: new ResponseMemory(settings.RESPONSE_MEMORY, hasSlowClients),
  }
  const own = second?.(settings)
  return processServers(
    { basePath, memory, ...ofServer, ...about },
    { setting: 'PORT', port, host },
    own && { ...own, host },
  )
}

/** The log of the process, which also counts errors for the metrics. */
const logOf = (name: string, level: string, measured: ProcessMetrics): Logger =>
  processLog({
    level,
    base: { service: name, pid: process.pid },
    hooks: {
      logMethod(given, method, level) {
        measured.logged(level, given[0])
        method.apply(this, given)
      },
    },
  })

/** The message of an error, for the operator. */
function failureLineOf(error: unknown): string {
  if (error instanceof SettingsRefused) return `wrong settings\n  ${error.message.replaceAll('\n', '\n  ')}`
  return (error as Error).message
}

/** Interval of the checks of what a starting process waits for, in milliseconds. Shorter waits may not be reported. */
const WAIT_POLL_MS = 1_000

/**
 * Reports what a starting process waits for: after a second, and whenever it changes.
 * @param waitingFor returns undefined while the process waits for nothing, or the wait is reported elsewhere
 * @param announce called with what the process waits for
 * @returns a function that ends the reports
 */
function announceWaits(
  waitingFor: () => string | undefined,
  announce: (waiting: string) => void,
): () => void {
  let announced: string | undefined
  const timer = setInterval(() => {
    const waiting = waitingFor()
    if (waiting === undefined || waiting === announced) return
    announced = waiting
    announce(waiting)
  }, WAIT_POLL_MS)
  return () => clearInterval(timer)
}
