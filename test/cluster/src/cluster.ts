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
const ROOT = join(import.meta.dirname, '../../..')

export interface Cluster {
  /** Where the first gateway answers. */
  url: string
  engines: Engines
  processes: readonly Replica[]
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
}

/** Starts the engines, the replicas of every service, and the gateways in front of them. Resolves when all are ready. */
export async function startCluster({
  settings,
  replicas,
  gateways = 1,
  environment,
  ownEnvironment = () => ({}),
  say,
}: ClusterOptions): Promise<Cluster> {
  const engines = await startEngines(settings)
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
  for (const service of SERVICES)
    ports.set(service, await Promise.all(Array.from({ length: replicas }, freePort)))
  const urls = Object.fromEntries(
    [...ports].map(([service, those]) => [
      `${service.toUpperCase()}_URL`,
      those.map(port => `http://127.0.0.1:${port}`).join(','),
    ]),
  )
  const start = (name: string, service: string, port: number, host: string) =>
    startReplica({
      name,
      program: join(ROOT, 'services', service, 'src/main.ts'),
      port,
      environment: { ...every, ...urls, PORT: String(port), HOST: host, ...ownEnvironment(name) },
      healthUrl: `http://${host}:${port}${settings.basePath}/health/ready`,
      logFolder: settings.logFolder,
      say,
    })

  const processes = [...ports].flatMap(([service, those]) =>
    those.map((port, index) => start(`${service}-${index + 1}`, service, port, '127.0.0.1')),
  )
  const edges: Replica[] = []
  for (let index = 0; index < gateways; index++) {
    const name = gateways === 1 ? 'gateway' : `gateway-${index + 1}`
    const port = index === 0 ? settings.port : await freePort()
    edges.push(start(name, 'gateway', port, settings.host))
  }
  const log = pino({ level: 'silent' })
  const onBus = readSettings(busSettings, { ...every, ...ownEnvironment('deployment-agent') })
  const bus: Bus = openBus(onBus, { name: 'deployment-agent', log }).store
  const agent = startDeploymentAgent(bus, log)

  const stop = async () => {
    await Promise.all(edges.map(replica => replica.stop()))
    await Promise.all(processes.map(replica => replica.stop()))
    await agent.stop()
    await bus.close()
    await engines.stop()
  }
  const all = [...edges, ...processes]
  process.once('exit', () => {
    for (const replica of all) replica.abandon()
  })
  try {
    await Promise.all(all.map(({ ready }) => ready))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: `http://${settings.host}:${settings.port}${settings.basePath}`,
    engines,
    processes: all,
    stop,
  }
}
