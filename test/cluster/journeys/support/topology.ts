import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@gantry/service-runtime/testing'
import { type Cluster, type Release, startCluster } from '../../src/cluster.ts'
import { readClusterSettings } from '../../src/settings.ts'

/** Two gateways and two replicas of each service, on the stores that are available, without data. */
export interface Topology extends Cluster {
  /** URLs of all gateways. */
  urls: readonly string[]
  administrator: { username: string; password: string }
  /** Contains one log file per process. */
  logFolder: string
  /** Lines that the cluster has printed so far. */
  said: readonly string[]
  /** `Authorization` header of the administrator. */
  authorization: string
  /** Sends a request through the gateways in turn, except one that is being replaced, by default as the administrator. */
  send(path: string, init?: RequestInit): Promise<Response>
  pid(name: string): number
  /** Log lines of all processes with this message. */
  logged(message: string): Promise<string[]>
  /** Log lines of internal errors, which callers saw as 500. */
  faults(): Promise<string[]>
}

export interface TopologyOptions {
  environment?: NodeJS.ProcessEnv
  /** Settings of the cluster itself, e.g. which stores it uses. @param folder of the topology, removed when it stops */
  settings?(folder: string): NodeJS.ProcessEnv
  logLevel?: string
  /** Services of which there is only one process. */
  single?: readonly string[]
  /** What each process runs, by its name. Default: these sources. */
  releaseOf?(name: string): Release
  ownEnvironment?(name: string): NodeJS.ProcessEnv
}

/** No rate limits during faults. Retry intervals are short, so that deliveries resume soon after faults. */
const SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '0',
  LOGIN_LIMIT_PER_MINUTE: '0',
  WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  WEBHOOK_RETRY_SCHEDULE: '200ms,400ms',
}

/** Starts the topology in a new folder, which is removed when it stops. */
export async function startTopology({
  environment = {},
  settings: own = () => ({}),
  logLevel = 'info',
  single = [],
  releaseOf,
  ownEnvironment,
}: TopologyOptions = {}): Promise<Topology> {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-journey-'))
  const settings = readClusterSettings({
    ...process.env,
    ...own(folder),
    DATA_DIR: folder,
    PORT: String(await freePort()),
    HOST: '127.0.0.1',
    LOG_LEVEL: logLevel,
  })
  const said: string[] = []
  const cluster = await startCluster({
    settings,
    replicas: 2,
    single,
    gateways: 2,
    ...(releaseOf && { releaseOf }),
    environment: { ...process.env, ...SETTINGS, ...environment },
    ownEnvironment,
    say: line => said.push(line),
  })
  process.stderr.write(`${said.join('\n')}\n`)
  const urls = cluster.processes
    .filter(({ name }) => name.startsWith('gateway'))
    .map(({ port }) => `http://127.0.0.1:${port}`)
  const { administrator, logFolder } = settings
  const authorization = await logIn(urls[0] ?? '', administrator)
  const logged = async (message: string) => {
    const logs = (await readdir(settings.logFolder)).map(name => join(settings.logFolder, name))
    const lines = (await Promise.all(logs.map(log => readFile(log, 'utf8')))).flatMap(log => log.split('\n'))
    return lines.filter(line => line.includes(`"msg":"${message}"`))
  }
  let turn = 0
  let replaced: string | undefined
  const open = () => urls.filter(url => url !== replaced)
  return {
    ...cluster,
    async replace(name, next) {
      const { port } = cluster.processes.find(process => process.name === name) ?? {}
      if (name.startsWith('gateway')) replaced = `http://127.0.0.1:${port}`
      await cluster.replace(name, next)
      if (name.startsWith('gateway')) replaced = undefined
    },
    urls,
    administrator,
    logFolder,
    authorization,
    said,
    send: (path, init = {}) =>
      fetch(`${open()[turn++ % open().length]}${path}`, {
        ...init,
        headers: {
          authorization,
          ...(typeof init.body === 'string' && { 'content-type': 'application/json' }),
          ...init.headers,
        },
      }),
    pid(name) {
      const pid = cluster.processes.find(replica => replica.name === name)?.pid()
      if (pid === undefined) throw new Error(`${name} does not run`)
      return pid
    },
    logged,
    faults: () => logged('failed'),
    async stop() {
      await cluster.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function logIn(url: string, credentials: Topology['administrator']): Promise<string> {
  const answer = await fetch(`${url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(credentials),
  })
  const authorization = answer.headers.get('authorization')
  if (!authorization) throw new Error(`no login: ${answer.status} ${await answer.text()}`)
  return authorization
}
