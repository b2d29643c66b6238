import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const PASSWORD = 'a password for the bench'
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export interface Running {
  url: string
  /** Milliseconds from the start of the process to its first answer. */
  startedInMs: number
  stop(): Promise<void>
}

export interface Service extends Running {
  authorization: string
}

/** A folder that is removed at the end. */
export async function inFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-bench-'))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Starts the whole service on a data folder, as npm start does, and logs in. */
export async function startService(folder: string, settings: NodeJS.ProcessEnv = {}): Promise<Service> {
  const port = await freePort()
  const startedAt = performance.now()
  const child = launch(file('../../../services/standalone/src/main.ts'), {
    PORT: String(port),
    HOST: '127.0.0.1',
    DATA_DIR: folder,
    GANTRY_ADMIN_PASSWORD: PASSWORD,
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    ...settings,
  })
  const url = `http://127.0.0.1:${port}`
  await answering(child, `${url}/health/ready`)
  const startedInMs = performance.now() - startedAt
  const response = await fetch(`${url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: PASSWORD }),
  })
  const authorization = response.headers.get('authorization') ?? ''
  return { url, startedInMs, authorization, stop: () => stop(child) }
}

/** Starts a program of this folder that listens on PORT and answers at /. */
export async function startProgram(name: string, environment: NodeJS.ProcessEnv): Promise<Running> {
  const port = await freePort()
  const startedAt = performance.now()
  const child = launch(file(`./${name}.ts`), { PORT: String(port), ...environment })
  const url = `http://127.0.0.1:${port}`
  await answering(child, `${url}/`)
  return { url, startedInMs: performance.now() - startedAt, stop: () => stop(child) }
}

const launch = (program: string, environment: NodeJS.ProcessEnv) =>
  spawn(process.execPath, [program], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  })

async function answering(child: ChildProcess, url: string): Promise<void> {
  for (;;) {
    if (child.exitCode !== null)
      throw new Error(`the process ended with ${child.exitCode} before it answered`)
    const ready = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (ready) return
    await setTimeout(5)
  }
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  if (child.exitCode === null) await once(child, 'exit')
}

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net')
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}
