import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { buildConsole } from '@gantry/console/build'
import { SettingsRefused } from '@gantry/service-runtime'
import { type Cluster, startCluster } from './cluster.ts'
import { type ClusterSettings, readClusterSettings } from './settings.ts'
import { table } from './table.ts'

const say = (line: string) => process.stdout.write(`${line}\n`)
const fail = (line: string): never => {
  process.stderr.write(`gantry cluster: ${line}\n`)
  process.exit(1)
}

function asked(): { replicas: number; gateways: number } {
  try {
    const { values } = parseArgs({
      options: {
        replicas: { type: 'string', default: '2' },
        gateways: { type: 'string', default: '1' },
      },
    })
    const [replicas, gateways] = [Number(values.replicas), Number(values.gateways)]
    if ([replicas, gateways].every(count => Number.isInteger(count) && count >= 1 && count <= 9))
      return { replicas, gateways }
  } catch {
    // Reported below.
  }
  return fail('takes --replicas and --gateways, from 1 to 9: npm run cluster -- --replicas 2 --gateways 1')
}

function settingsOrFail(): ClusterSettings {
  try {
    return readClusterSettings(process.env)
  } catch (error) {
    if (error instanceof SettingsRefused)
      return fail(`wrong settings\n  ${error.message.replaceAll('\n', '\n  ')}`)
    throw error
  }
}

// Only this user may read the files of the stores and the logs.
process.umask(0o077)
const { replicas, gateways } = asked()
const settings = settingsOrFail()
const stopping = new AbortController()

/** Stops all processes, also those that are starting. A second signal exits immediately. */
function stop(): void {
  if (stopping.signal.aborted) process.exit(1)
  say('Stopping the gateways, the services and the stores (again to exit immediately)')
  stopping.abort()
}
process.on('SIGTERM', stop)
process.on('SIGINT', stop)

function show({ url, processes }: Cluster, seconds: number): void {
  const { username, password } = settings.administrator
  say('')
  for (const line of table(processes)) say(`  ${line}`)
  say('')
  say(`The gateway answers at ${url}/console (after ${seconds.toFixed(1)} s)`)
  say(`  REST interface ${url}`)
  say(`  username       ${username}`)
  say(`  password       ${password}`)
  say(`  documentation  ${url}/docs`)
  say(`  data and logs  ${settings.dataFolder}`)
  say('')
  say('A killed process is restarted. Ctrl-C stops all processes without loss of data.')
}

const edges = gateways === 1 ? 'the gateway' : `${gateways} gateways`
say(`Gantry as a cluster on this machine: ${replicas} of each service, and ${edges}`)
const startedAt = performance.now()
const { signal } = stopping
try {
  const cluster = await startCluster({ settings, replicas, gateways, environment: process.env, say, signal })
  show(cluster, (performance.now() - startedAt) / 1_000)
  // Until then the gateway says that the console is being built.
  buildConsole().catch(error => say(`cannot build the web console: ${error.message}`))
  if (!signal.aborted) await once(signal, 'abort')
  await cluster.stop()
} catch (error) {
  if (!signal.aborted) fail((error as Error).message)
}
say('All processes have ended')
// Also ends an installation that is under way.
process.exit(0)
