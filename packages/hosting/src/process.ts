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
import type { Engine } from './engine.ts'
import { watchEngines } from './engine.ts'
import { type ProcessMetrics, processMetrics } from './metrics.ts'
import { type Port, processServers } from './servers.ts'
import type { processSettings } from './settings.ts'

/** What a process is given to begin with. */
export interface Surroundings<Settings> {
  settings: Settings
  log: Logger
  metrics: Registry
  now(): Date
}

/** What a process consists of beside its server. */
export interface Parts {
  engines: readonly Engine[]
  /** The time by the clock that all processes of the installation refer to. */
  referenceTime(): Promise<Date>
  /** What tells the reference time, in words. */
  timekeeper: string
  /** Adds its routes, under the base path. */
  routes(app: FastifyInstance): Promise<void>
  /** The same for the server at INTERNAL_PORT, afterwards. */
  inside?(app: FastifyInstance): Promise<void>
  /** Called once, when all engines can be used. */
  start(): Promise<void>
  /** What it still waits for after its start; undefined when it is ready. */
  waitingFor(): string | undefined
  /** Called when nobody is being answered any more. */
  stop(): Promise<void>
}

export interface ProcessOptions<Schema extends z.ZodObject<(typeof processSettings)['shape']>> {
  name: string
  schema: Schema
  environment: NodeJS.ProcessEnv
  /** Which proxies in front are believed, and how many connections it takes. */
  server?(settings: z.infer<Schema>): Pick<ServerOptions, 'trustProxy' | 'connections'>
  /** Where a second server answers /metrics and what is inside; /metrics is at PORT without one. */
  second?(settings: z.infer<Schema>): Omit<Port, 'host'> | undefined
  open(surroundings: Surroundings<z.infer<Schema>>): Parts
}

/** A request or a worker that takes longer to end does not keep the process. */
export const STOP_MS = 25_000
const LOOK_MS = 25

/**
 * Runs a process from its settings to its end: it listens at once, is ready when what it needs is there, and at
 * SIGTERM or SIGINT first says that it is not ready, then answers what it has begun, and ends with 0. What cannot be
 * used is said in a line on stderr: with 1 where nothing but another setting helps, and again and again where waiting
 * may help.
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

  // Files of embedded stores are for this user alone, whatever the shell has set.
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
  let stage: string | undefined = 'its routes'
  let started = false
  let stopping = false
  const waitingFor = () => stage ?? parts.waitingFor() ?? (started ? undefined : 'its start')
  const endAnnouncing = announceWaits(
    // What is wrong with an engine is in the log already.
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
      waitingFor: () => (stopping ? 'its end' : (engines.trouble() ?? waitingFor())),
    },
    { setting: 'PORT', port: settings.PORT, host },
    own && { ...own, host },
  )

  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1)
    stopping = true
    endAnnouncing()
    log.info({ signal }, 'stops')
    setTimeout(STOP_MS, undefined, { ref: false }).then(() => fail(`did not end in ${STOP_MS / 1000} s`))
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
  stage = `the time, which ${parts.timekeeper} tells`
  await engines.usable
  // Before anything is compared with a time that another process noted.
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

/** The log of the process, which counts what it is told. */
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

/** What is wrong, in words for who runs it. */
function reasonOf(error: unknown): string {
  if (error instanceof SettingsRefused) return `wrong settings\n  ${error.message.replaceAll('\n', '\n  ')}`
  return (error as Error).message
}
