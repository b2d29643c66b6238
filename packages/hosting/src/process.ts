import { setTimeout } from 'node:timers/promises'
import {
  announceWaits,
  BodyMemory,
  processLog,
  readSettings,
  type ServerOptions,
  SettingsRefused,
} from '@gantry/service-kit'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import type { z } from 'zod'
import { processClock } from './clock.ts'
import { type Engine, watchEngines } from './engine.ts'
import { type ProcessMetrics, processMetrics } from './metrics.ts'
import { type Port, processServers } from './servers.ts'
import type { processSettings } from './settings.ts'

/** What `runProcess` gives to the parts of a process. */
export interface Surroundings<Settings> {
  settings: Settings
  log: Logger
  metrics: Registry
  now(): Date
}

/** The parts of a process other than its server. */
export interface Parts {
  engines: readonly Engine[]
  /** The time of the reference clock that all processes of the installation share. */
  referenceTime(): Promise<Date>
  /** Name of the reference clock, for the log. */
  timekeeper: string
  /** Adds the routes of the process, under the base path. */
  routes(app: FastifyInstance): Promise<void>
  /** Adds the routes of the server at INTERNAL_PORT; called after `routes`. */
  inside?(app: FastifyInstance): Promise<void>
  /** Called once, when all engines have been usable and the reference time is known. */
  start(): Promise<void>
  /** What the process still waits for after `start`; undefined when it is ready. */
  waitingFor(): string | undefined
  /** Called after the servers have closed. */
  stop(): Promise<void>
}

export interface ProcessOptions<Schema extends z.ZodObject<(typeof processSettings)['shape']>> {
  name: string
  schema: Schema
  environment: NodeJS.ProcessEnv
  /** Trusted proxies and connection limits of the server. */
  server?(settings: z.infer<Schema>): Pick<ServerOptions, 'trustProxy' | 'connections'>
  /** Port of a second server for /metrics and internal requests. Without one /metrics is at PORT. */
  second?(settings: z.infer<Schema>): Omit<Port, 'host'> | undefined
  open(surroundings: Surroundings<z.infer<Schema>>): Parts
}

/** Timeout of the shutdown: the process then exits even if requests or workers have not ended. */
export const STOP_MS = 25_000
const LOOK_MS = 25

/**
 * Runs a process. It listens at once and becomes ready when its engines are usable and its parts have started. On SIGTERM
 * or SIGINT it fails readiness, completes the requests in progress, stops its parts and exits with 0. A second signal exits
 * with 1 at once. If the settings are wrong, it writes a line to stderr and exits with 1. If an engine is unavailable, it
 * logs that and waits.
 */
export async function runProcess<Schema extends z.ZodObject<(typeof processSettings)['shape']>>(
  options: ProcessOptions<Schema>,
): Promise<void> {
  const { name, schema, environment, server, second, open } = options
  const fail = (line: string): never => {
    process.stderr.write(`gantry ${name}: ${line}\n`)
    process.exit(1)
  }
  const orFail = <Result>(work: () => Result): Result => {
    try {
      return work()
    } catch (error) {
      return fail(reasonOf(error))
    }
  }

  // Only this user may read the files of embedded stores.
  process.umask(0o077)
  const settings = orFail(() => readSettings(schema, environment))
  const metrics = new Registry()
  const told = processMetrics(name, metrics)
  const log = logOf(name, settings.LOG_LEVEL, told)
  const clock = processClock({ log })
  const { now } = clock
  const parts = orFail(() => open({ settings, log, metrics, now }))
  const engines = watchEngines(parts.engines, log)
  told.watches(engines)
  let stage: string | undefined = 'the registration of its routes'
  let started = false
  let stopping = false
  const waitingFor = () => stage ?? parts.waitingFor() ?? (started ? undefined : 'its start')
  const endAnnouncing = announceWaits(
    // Trouble with an engine is logged by watchEngines.
    () => (engines.trouble() === undefined ? waitingFor() : undefined),
    waiting => log.info({}, `waits for ${waiting}`),
  )

  const host = settings.HOST
  const own = second?.(settings)
  const servers = processServers(
    {
      basePath: settings.BASE_PATH,
      bodyMemory: new BodyMemory(settings.BODY_MEMORY),
      ...server?.(settings),
      log,
      metrics,
      now,
      waitingFor: () => (stopping ? 'the end of its shutdown' : (engines.trouble() ?? waitingFor())),
    },
    { setting: 'PORT', port: settings.PORT, host },
    own && { ...own, host },
  )

  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1)
    stopping = true
    endAnnouncing()
    log.info({ signal }, 'shutting down')
    setTimeout(STOP_MS, undefined, { ref: false }).then(() => fail(`did not stop within ${STOP_MS / 1000} s`))
    if (started) await setTimeout(settings.SHUTDOWN_DELAY)
    engines.stop()
    clock.stop()
    await servers.close()
    await parts.stop()
    log.info({}, 'stopped')
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)

  try {
    await servers.listen(parts)
  } catch (error) {
    fail(reasonOf(error))
  }
  stage = `the reference time from ${parts.timekeeper}`
  await engines.usable
  // Before the parts start, because they compare times with those that other processes have recorded.
  await clock.follow(() => parts.referenceTime())
  if (stopping) return
  stage = undefined
  await parts.start().catch(error => {
    if (error instanceof SettingsRefused) fail(reasonOf(error))
    throw error
  })
  started = true
  while (!stopping && parts.waitingFor() !== undefined) await setTimeout(LOOK_MS)
  endAnnouncing()
  log.info({ port: settings.PORT }, 'ready')
}

/** The log of the process, which also counts errors for the metrics. */
const logOf = (name: string, level: string, told: ProcessMetrics): Logger =>
  processLog({
    level,
    base: { service: name, pid: process.pid },
    hooks: {
      logMethod(given, method, level) {
        told.logged(level, given[0])
        method.apply(this, given)
      },
    },
  })

/** The message of an error, for the operator. */
function reasonOf(error: unknown): string {
  if (error instanceof SettingsRefused) return `wrong settings\n  ${error.message.replaceAll('\n', '\n  ')}`
  return (error as Error).message
}
