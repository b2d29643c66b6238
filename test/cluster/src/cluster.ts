import { join } from 'node:path'
import { busSettings, hostInUrl, storeSettings } from '@gantry/hosting'
import { openBus } from '@gantry/hosting/bus'
import { openStores } from '@gantry/hosting/stores'
import type { Bus } from '@gantry/messaging'
import { derivedPrincipalKey, readSettings } from '@gantry/service-runtime'
import { freePort } from '@gantry/service-runtime/testing'
import { startDeploymentAgent } from '@gantry/standalone/deployment-agent'
import { pino } from 'pino'
import { type Engines, startEngines } from './engines.ts'
import { type Replica, startReplica } from './replica.ts'
import type { ClusterSettings } from './settings.ts'

const SERVICES = ['catalog', 'identity', 'media', 'notifier'] as const
/** Interval at which processes that are not ready are shown. */
const SHOW_MS = 5_000
const ROOT = join(import.meta.dirname, '../../..')

/** A release that processes run. */
export interface Release {
  /** Folder with the layout of this project, in which the processes run. */
  root: string
  /** Arguments of Node for the process of a service. */
  argumentsOf(service: string): readonly string[]
}

/** The release in a folder of sources. */
const sources = (root: string): Release => ({
  root,
  argumentsOf: service => ['--max-semi-space-size=32', `services/${service}/src/main.ts`],
})

export interface Cluster {
  /** URL of the first gateway. */
  url: string
  engines: Engines
  processes: readonly Replica[]
  /** Environment of every service. Operator commands run with the same. */
  environment: NodeJS.ProcessEnv
  /**
   * Stops a process and starts it again on its port, by default from these sources. Resolves when it is ready.
   * @throws Error with its output when it exits before it is ready
   */
  replace(name: string, release?: Release): Promise<void>
  /** Stops the gateways first, so that no client is refused, then the services, then the stores that were started. */
  stop(): Promise<void>
}

export interface ClusterOptions {
  settings: ClusterSettings
  /** Number of processes of each service. */
  replicas: number
  /** Services of which there is only one process. */
  single?: readonly string[]
  /** What each process runs, by its name. Default: these sources. */
  releaseOf?(name: string): Release
  /** Number of gateways. The first listens on the port of the settings, others on free ports. Default: 1. */
  gateways?: number
  /** Environment of every process, in addition to what the cluster sets. */
  environment: NodeJS.ProcessEnv
  /** Additional environment of one process by its name, e.g. catalog-2 or deployment-agent. */
  ownEnvironment?(name: string): NodeJS.ProcessEnv
  say(line: string): void
  /** Aborts the start: the processes are stopped, and startCluster throws. */
  signal?: AbortSignal
}

/** Starts the stores, the replicas of every service and the gateways. Resolves when all are ready. */
export async function startCluster({
  settings,
  replicas,
  single = [],
  releaseOf = () => sources(ROOT),
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
    PRINCIPAL_KEY: derivedPrincipalKey(Buffer.from(settings.encryptionKey, 'base64')).toString('base64'),
    GANTRY_ADMIN_USERNAME: settings.administrator.username,
    GANTRY_ADMIN_PASSWORD: settings.administrator.password,
  }
  const ports = new Map<string, number[]>()
  /** Ports of each process, which differ because all processes run on one machine. */
  const internalPorts = new Map<string, number>()
  for (const service of SERVICES) {
    const own = await Promise.all(Array.from({ length: single.includes(service) ? 1 : replicas }, freePort))
    ports.set(service, own)
    for (const index of own.keys()) internalPorts.set(`${service}-${index + 1}`, await freePort())
    every[`${service.toUpperCase()}_URL`] = own.map(port => `http://127.0.0.1:${port}`).join(',')
  }
  const edges = await edgePorts(gateways, settings.port, every.METRICS_PORT)
  every.PUBLIC_URL ??= `http://localhost:${settings.port}${settings.basePath}`
  const start: Start = (name, port, { root, argumentsOf } = sources(ROOT)) => {
    const [service = ''] = name.split('-')
    const second =
      service === 'gateway'
        ? { METRICS_PORT: edges.get(name)?.metrics }
        : { INTERNAL_PORT: String(internalPorts.get(name)) }
    const host = service === 'gateway' ? settings.host : '127.0.0.1'
    const { ENCRYPTION_KEY: _, ...withoutKey } = every
    const shared = service === 'gateway' ? withoutKey : every
    return startReplica({
      name,
      program: { args: argumentsOf(service), cwd: root },
      port,
      environment: { ...shared, PORT: String(port), ...second, HOST: host, ...ownEnvironment(name) },
      healthUrl: `http://${hostInUrl(host)}:${port}${settings.basePath}/health/ready`,
      logFolder: settings.logFolder,
      say,
    })
  }

  const startFirst = (name: string, port: number) => start(name, port, releaseOf(name))
  const all: Replica[] = []
  for (const [name, { port }] of edges) all.push(startFirst(name, port))
  for (const [service, those] of ports)
    all.push(...those.map((port, index) => startFirst(`${service}-${index + 1}`, port)))
  const log = pino({ level: 'silent' })
  const onBus = readSettings(busSettings, { ...every, ...ownEnvironment('deployment-agent') })
  const bus: Bus = openBus(onBus, { name: 'deployment-agent', log }).store
  const stores = openStores(readSettings(storeSettings, every))
  const agent = startDeploymentAgent({ ...stores, bus, holder: 'deployment-agent', log })

  const stop = async () => {
    const [edges, services] = [all.slice(0, gateways), all.slice(gateways)]
    await Promise.all(edges.map(replica => replica.stop()))
    await Promise.all(services.map(replica => replica.stop()))
    await agent.stop()
    await Promise.all([bus.close(), stores.close()])
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
    url: `http://${hostInUrl(settings.host)}:${settings.port}${settings.basePath}`,
    engines,
    processes: all,
    environment: every,
    replace: replacing(all, start),
    stop,
  }
}

/** Ports of the gateways by name. The first gateway has those of the settings, the others have free ports. */
async function edgePorts(count: number, port: number, metrics: string | undefined) {
  const ports = new Map<string, { port: number; metrics: string | undefined }>()
  for (let number = 1; number <= count; number++) {
    const name = count === 1 ? 'gateway' : `gateway-${number}`
    const own = metrics && String(await freePort())
    ports.set(name, number === 1 ? { port, metrics } : { port: await freePort(), metrics: own })
  }
  return ports
}

/** @throws the reason of the signal as soon as it is aborted; the work continues */
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

/** Prints what each process waits for, if that changed since it was last printed. */
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

type Start = (name: string, port: number, release?: Release) => Replica

const replacing =
  (all: Replica[], start: Start): Cluster['replace'] =>
  async (name, release) => {
    const index = all.findIndex(replica => replica.name === name)
    const old = all[index]
    if (!old) throw new Error(`there is no process ${name}`)
    await old.stop()
    const next = start(name, old.port, release)
    all[index] = next
    await next.ready
  }
