import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@gantry/service-kit/testing'
import { type Cluster, startCluster } from '../../src/cluster.ts'
import { readClusterSettings } from '../../src/settings.ts'

/** Two of everything on the engines that can be had here, with nothing in them. */
export interface Topology extends Cluster {
  /** Of every gateway. */
  urls: readonly string[]
  administrator: { username: string; password: string }
  /** Of the processes, a file each. */
  logFolder: string
  /** What the cluster said so far, a line each. */
  said: readonly string[]
  /** The administrator's, for requests. */
  authorization: string
  /** A request through one of the gateways in turn, as the administrator if nothing else is said. */
  send(path: string, init?: RequestInit): Promise<Response>
  pid(name: string): number
  /** What processes have logged with this message. */
  logged(message: string): Promise<string[]>
  /** What they have logged as faults of their own, which callers saw as 500. */
  faults(): Promise<string[]>
}

export interface TopologyOptions {
  environment?: NodeJS.ProcessEnv
  /** Settings of the cluster itself, e.g. which engines it uses. @param folder of the topology, which ends with it */
  settings?(folder: string): NodeJS.ProcessEnv
  logLevel?: string
  ownEnvironment?(name: string): NodeJS.ProcessEnv
}

/** Faults take longer than a request may, and a delivery is tried again soon after them. */
const SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '0',
  LOGIN_LIMIT_PER_MINUTE: '0',
  WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  WEBHOOK_RETRY_SCHEDULE: '200ms,400ms',
}

/** Starts the topology in a folder of its own, which ends with it. */
export async function startTopology({
  environment = {},
  settings: own = () => ({}),
  logLevel = 'info',
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
    gateways: 2,
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
  return {
    ...cluster,
    urls,
    administrator,
    logFolder,
    authorization,
    said,
    send: (path, init = {}) =>
      fetch(`${urls[turn++ % urls.length]}${path}`, {
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
