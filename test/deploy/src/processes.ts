import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort, PROGRAM_ENVIRONMENT } from '@gantry/service-runtime/testing'
import { endsWithParent } from '../../../bin/orphans.mjs'
import { ROOT } from './files.ts'
import { PROCESSES } from './settings.ts'

export interface Processes {
  /** URL of each process, by name. */
  urls: Readonly<Record<string, string>>
  /** URL of metrics and internal requests of each process, by name. */
  internalUrls: Readonly<Record<string, string>>
  /** The environment that all processes share. */
  environment: NodeJS.ProcessEnv
  /** Value of the Authorization header of the first administrator. */
  authorization: string
  stop(): Promise<void>
}

const PASSWORD = 'a password for tests'

/** Starts one process of each service, on files in a shared folder. */
export async function startProcesses(folder: string): Promise<Processes> {
  const environment = {
    ...PROGRAM_ENVIRONMENT,
    HOST: '127.0.0.1',
    LOG_LEVEL: 'error',
    SHUTDOWN_DELAY: '0s',
    ENCRYPTION_KEY: '07'.repeat(32),
    GANTRY_ADMIN_PASSWORD: PASSWORD,
    EVENT_STORE_URL: `sqlite:${join(folder, 'events.db')}`,
    READ_MODEL_URL: `sqlite:${join(folder, 'read-models.db')}`,
    MESSAGING_URL: `sqlite:${join(folder, 'messages.db')}`,
    BLOB_URL: `file:${join(folder, 'images')}`,
  }
  const urls: Record<string, string> = {}
  const internalUrls: Record<string, string> = {}
  for (const name of PROCESSES) {
    urls[name] = `http://127.0.0.1:${await freePort()}`
    internalUrls[name] = `http://127.0.0.1:${await freePort()}`
  }
  const found = Object.fromEntries(
    Object.entries(urls).map(([name, url]) => [`${name.toUpperCase()}_URL`, url] as const),
  )
  const start = (name: string) =>
    endsWithParent(
      spawn(process.execPath, [join(ROOT, `services/${name}/src/main.ts`)], {
        env: {
          ...environment,
          ...found,
          PORT: new URL(urls[name] ?? '').port,
          [name === 'gateway' ? 'METRICS_PORT' : 'INTERNAL_PORT']: new URL(internalUrls[name] ?? '').port,
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    )
  const children = PROCESSES.map(name => ({ child: start(name), url: urls[name] }))
  for (const { child } of children) child.stderr.pipe(process.stderr, { end: false })
  const stop = async () => void (await Promise.all(children.map(({ child }) => end(child))))
  await Promise.all(children.map(({ child, url }) => ready(`${url}`, child)))
  const login = await fetch(`${urls.gateway}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: PASSWORD }),
  })
  const authorization = login.headers.get('authorization') ?? ''
  return { urls, internalUrls, environment, authorization, stop }
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${child.spawnargs[1]} ended with ${child.exitCode}`)
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined)
    await answer?.body?.cancel()
    if (answer?.ok) return
    await setTimeout(50)
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
