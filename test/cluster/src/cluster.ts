import { join } from 'node:path'
import { busSettings, openBus } from '@gantry/hosting'
import type { Bus } from '@gantry/messaging'
import { readSettings } from '@gantry/service-kit'
import { freePort } from '@gantry/service-kit/testing'
import { startDeploymentAgent } from '@gantry/standalone/deployment-agent'
import { pino } from 'pino'
import { type Engines, startEngines } from './engines.ts'
import { type Replica, startReplica } from './replica.ts'
import type { ClusterSettings } from './settings.ts'

export const SERVICES = ['catalog', 'identity', 'media', 'notifier'] as const
/** When what is not ready is shown, and how often it is looked at again. */
const SHOW_MS = 5_000
const ROOT = join(import.meta.dirname, '../../..')

export interface Cluster {
  /** Where the first gateway answers. */
  url: string
  engines: Engines
  processes: readonly Replica[]
  /** What every service gets; commands of operators run with the same. */
  environment: NodeJS.ProcessEnv
  /**
   * Stops a process and starts it again at its port, from the sources in another folder if one is given. Resolves when
   * it is ready. @throws Error with what it said when it ended before
   */
  replace(name: string, root?: string): Promise<void>
  /** The gateways first, so that nobody is refused; then the services, then what was started for them. */
  stop(): Promise<void>
}

export interface ClusterOptions {
  settings: ClusterSettings
  /** Processes of each service. */
  replicas: number
  /** The first listens on the port of the settings, others on free ones. */
  gateways?: number
  /** What every process gets beside what the cluster decides. */
  environment: NodeJS.ProcessEnv
  /** What one process gets beside that, by its name, such as catalog-2 or deployment-agent. */
  ownEnvironment?(name: string): NodeJS.ProcessEnv
  say(line: string): void
  /** Ends the start: what was started is stopped, and startCluster throws. */
  signal?: AbortSignal
}

/** Starts the engines, the replicas of every service, and the gateways in front of them. Resolves when all are ready. */
export async function startCluster({
  settings,
  replicas,
  gateways = 1,
  environment,
  ownEnvironment = () => ({}),
  say,
  signal = new AbortController().signal,
}: ClusterOptions): Promise<Cluster> {
  const engines = await unlessAborted(signal, startEngines(settings))
  for (const [engine, description] of engines.descriptions) say(`  ${engine.padEnd(13)}${description}`)
  const every: NodeJS.ProcessEnv = {
    SHUTDOWN_DELAY: '1s',
    NODE_ENV: 'production',
    ...environment,
    ...engines.urls,
    BASE_PATH: settings.basePath,
    LOG_LEVEL: settings.logLevel,
    ENCRYPTION_KEY: settings.encryptionKey,
    GANTRY_ADMIN_USERNAME: settings.administrator.username,
    GANTRY_ADMIN_PASSWORD: settings.administrator.password,
  }
  const ports = new Map<string, number[]>()
  for (const service of SERVICES) {
    const own = await Promise.all(Array.from({ length: replicas }, freePort))
    ports.set(service, own)
    every[`${service.toUpperCase()}_URL`] = own.map(port => `http://127.0.0.1:${port}`).join(',')
  }
  const start: Start = (name, port, root = ROOT) => {
    const [service = ''] = name.split('-')
    const host = service === 'gateway' ? settings.host : '127.0.0.1'
    return startReplica({
      name,
      program: join(root, 'services', service, 'src/main.ts'),
      port,
      environment: { ...every, PORT: String(port), HOST: host, ...ownEnvironment(name) },
      healthUrl: `http://${host}:${port}${settings.basePath}/health/ready`,
      logFolder: settings.logFolder,
      say,
    })
  }

  const all: Replica[] = []
  for (let index = 0; index < gateways; index++) {
    const name = gateways === 1 ? 'gateway' : `gateway-${index + 1}`
    all.push(start(name, index === 0 ? settings.port : await freePort()))
  }
  for (const [service, those] of ports)
    all.push(...those.map((port, index) => start(`${service}-${index + 1}`, port)))
  const log = pino({ level: 'silent' })
  const onBus = readSettings(busSettings, { ...every, ...ownEnvironment('deployment-agent') })
  const bus: Bus = openBus(onBus, { name: 'deployment-agent', log }).store
  const agent = startDeploymentAgent(bus, log)

  const stop = async () => {
    const [edges, services] = [all.slice(0, gateways), all.slice(gateways)]
    await Promise.all(edges.map(replica => replica.stop()))
    await Promise.all(services.map(replica => replica.stop()))
    await agent.stop()
    await bus.close()
    await engines.stop()
  }
  const showing = setInterval(waiting(all, say), SHOW_MS)
  try {
    await unlessAborted(signal, Promise.all(all.map(({ ready }) => ready)))
  } catch (error) {
    await stop()
    throw error
  } finally {
    clearInterval(showing)
  }
  return {
    url: `http://${settings.host}:${settings.port}${settings.basePath}`,
    engines,
    processes: all,
    environment: every,
    replace: replacing(all, start),
    stop,
  }
}

/** @throws what the signal was aborted with, at once, whatever becomes of the work */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Shows what each process waits for, where that has changed since it was last shown. */
function waiting(all: readonly Replica[], say: (line: string) => void): () => void {
  const shown = new Map<string, string>()
  return () => {
    for (const { name, state, waitsFor } of all) {
      if (state() === 'ready' || shown.get(name) === waitsFor()) continue
      shown.set(name, waitsFor())
      say(`  ${name.padEnd(13)}not ready: ${waitsFor()}`)
    }
  }
}

type Start = (name: string, port: number, root?: string) => Replica

const replacing =
  (all: Replica[], start: Start): Cluster['replace'] =>
  async (name, root) => {
    const index = all.findIndex(replica => replica.name === name)
    const old = all[index]
    if (!old) throw new Error(`there is no process ${name}`)
    await old.stop()
    const next = start(name, old.port, root)
    all[index] = next
    await next.ready
  }
