import { join } from 'node:path'
import { freePort } from '@gantry/engines'
import { openBus } from '@gantry/hosting'
import type { Bus } from '@gantry/messaging'
import { startDeploymentAgent } from '@gantry/standalone/deployment-agent'
import { pino } from 'pino'
import { type Engines, startEngines } from './engines.ts'
import { type Replica, startReplica } from './replica.ts'
import type { ClusterSettings } from './settings.ts'

export const SERVICES = ['catalog', 'identity', 'media', 'notifier'] as const
const ROOT = join(import.meta.dirname, '../../..')

export interface Cluster {
  /** Where the gateway answers. */
  url: string
  engines: Engines
  processes: readonly Replica[]
  /** The gateway first, so that nobody is refused; then the services, then what was started for them. */
  stop(): Promise<void>
}

export interface ClusterOptions {
  settings: ClusterSettings
  replicas: number
  /** What every process gets beside what the cluster decides. */
  environment: NodeJS.ProcessEnv
  say(line: string): void
}

/** Starts the engines, the replicas of every service, and the gateway in front of them. Resolves when all are ready. */
export async function startCluster({
  settings,
  replicas,
  environment,
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
  const start = (name: string, service: string, port: number, own: NodeJS.ProcessEnv) =>
    startReplica({
      name,
      program: join(ROOT, 'services', service, 'src/main.ts'),
      port,
      environment: { ...every, PORT: String(port), ...own },
      healthUrl: `http://${own.HOST}:${port}${settings.basePath}/health/ready`,
      logFolder: settings.logFolder,
      say,
    })

  const processes: Replica[] = []
  const urls: NodeJS.ProcessEnv = {}
  for (const service of SERVICES) {
    const ports = await Promise.all(Array.from({ length: replicas }, freePort))
    urls[`${service.toUpperCase()}_URL`] = ports.map(port => `http://127.0.0.1:${port}`).join(',')
    processes.push(
      ...ports.map((port, index) => start(`${service}-${index + 1}`, service, port, { HOST: '127.0.0.1' })),
    )
  }
  const gateway = start('gateway', 'gateway', settings.port, { HOST: settings.host, ...urls })
  const log = pino({ level: 'silent' })
  const bus: Bus = openBus(engines.urls.MESSAGING_URL, { name: 'deployment-agent', log }).store
  const agent = startDeploymentAgent(bus, log)

  const stop = async () => {
    await gateway.stop()
    await Promise.all(processes.map(replica => replica.stop()))
    await agent.stop()
    await bus.close()
    await engines.stop()
  }
  const all = [gateway, ...processes]
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
