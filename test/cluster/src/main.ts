import { parseArgs } from 'node:util'
import { SettingsRefused } from '@gantry/service-kit'
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
    // Said below.
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

const { replicas, gateways } = asked()
const settings = settingsOrFail()
let starting: Promise<Cluster> | undefined
let stopping = false

/** All that was started ends with it, also what is still starting. */
async function stop(): Promise<void> {
  if (stopping) return
  stopping = true
  say('Stops: the gateway, the services, the engines')
  const cluster = await starting?.catch(() => undefined)
  await cluster?.stop()
  say('All processes have ended')
  process.exit(0)
}
process.on('SIGTERM', stop)
process.on('SIGINT', stop)

const edges = gateways === 1 ? 'the gateway' : `${gateways} gateways`
say(`Gantry as a cluster on this machine: ${replicas} of each service, and ${edges}`)
const startedAt = performance.now()
starting = startCluster({ settings, replicas, gateways, environment: process.env, say })
try {
  const { url, processes } = await starting
  say('')
  for (const line of table(processes)) say(`  ${line}`)
  const { username, password } = settings.administrator
  say('')
  say(`The gateway answers at ${url} (after ${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
  say(`  username       ${username}`)
  say(`  password       ${password}`)
  say(`  documentation  ${url}/docs`)
  say(`  data and logs  ${settings.dataFolder}`)
  say('')
  say('Kill any process: it is started again. Ctrl-C stops all of them; nothing is lost.')
} catch (error) {
  if (!stopping) fail((error as Error).message)
}
