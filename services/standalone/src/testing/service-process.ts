import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { freePort, PROGRAM_ENVIRONMENT } from '@gantry/service-runtime/testing'
import { endsWithParent } from '../../../../bin/orphans.mjs'

/** The folder of this release. */
const ROOT = resolve(import.meta.dirname, '../../../..')

export const ADMINISTRATOR = { username: 'admin', password: 'a password for tests' }

export interface ServiceProcess {
  url: string
  /** Value of the Authorization header of the first administrator. */
  authorization: string
  /** Password of the first administrator: from the settings, or as generated and printed. */
  password: string
  /** Milliseconds from the start of the process until it was ready. */
  readyInMs: number
  pid: number
  /** The output so far, stdout and stderr. */
  output(): string
  /** Sends SIGTERM. @returns the exit code */
  stop(): Promise<number | null>
  /** Sends SIGKILL. */
  kill(): Promise<void>
}

/**
 * Starts the service on a data folder in a separate process, as npm start does, and logs in.
 */
export async function startServiceProcess(
  dataFolder: string,
  settings: NodeJS.ProcessEnv = {},
): Promise<ServiceProcess> {
  const port = Number(settings.PORT ?? (await freePort()))
  const startedAt = performance.now()
  const { child, output } = launch({ DATA_DIR: dataFolder, PORT: String(port), ...settings })
  const url = `http://127.0.0.1:${port}${settings.BASE_PATH ?? ''}`
  await ready(child, output)
  const readyInMs = performance.now() - startedAt
  const password =
    settings.GANTRY_ADMIN_PASSWORD || (/password {2}(\S{20,})/.exec(output())?.[1] ?? ADMINISTRATOR.password)
  return {
    url,
    password,
    authorization: await logIn(url, password),
    readyInMs,
    pid: child.pid ?? 0,
    output,
    stop: () => end(child, 'SIGTERM'),
    kill: async () => void (await end(child, 'SIGKILL')),
  }
}

/** Runs the service until it exits by itself. @returns exit code and output */
export async function runServiceProcess(
  settings: NodeJS.ProcessEnv,
): Promise<{ code: number | null; output: string }> {
  const { child, output } = launch(settings)
  const [code] = await once(child, 'close')
  return { code, output: output() }
}

/**
 * Runs a command of operators until it ends, e.g. `npm run rebuild`.
 * @param args its name and arguments
 * @param settings its environment, apart from PATH
 * @returns exit code and output
 */
export async function runCommand(
  args: readonly string[],
  settings: NodeJS.ProcessEnv,
): Promise<{ code: number | null; output: string }> {
  const program = resolve(ROOT, 'services/operations/src/main.ts')
  const env = { ...PROGRAM_ENVIRONMENT, ...settings }
  const child = endsWithParent(spawn(process.execPath, [program, ...args], { env }))
  const output = outputOf(child)
  const [code] = await once(child, 'close')
  return { code, output: output() }
}

/** What a process has printed so far. */
function outputOf({ stdout, stderr }: Pick<ChildProcess, 'stdout' | 'stderr'>): () => string {
  let written = ''
  for (const stream of [stdout, stderr]) stream?.on('data', chunk => (written += chunk))
  return () => written
}

function launch(settings: NodeJS.ProcessEnv) {
  const child = endsWithParent(
    spawn(process.execPath, ['--max-semi-space-size=32', resolve(ROOT, 'services/standalone/src/main.ts')], {
      env: {
        ...PROGRAM_ENVIRONMENT,
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        GANTRY_ADMIN_USERNAME: ADMINISTRATOR.username,
        GANTRY_ADMIN_PASSWORD: ADMINISTRATOR.password,
        WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  return { child, output: outputOf(child) }
}

/** Waits until the process says that it is ready. Requests for /health/ready meanwhile would take processor time. */
async function ready(child: ChildProcess, output: () => string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const said = () => /^Gantry runs at /m.test(output()) && resolve()
  child.stdout?.on('data', said)
  child.once('close', code => reject(new Error(`the service ended with ${code}: ${output()}`)))
  await promise
  // The output grows as long as the service runs.
  child.stdout?.off('data', said)
}

async function logIn(url: string, password: string): Promise<string> {
  const response = await fetch(`${url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: ADMINISTRATOR.username, password }),
  })
  const authorization = response.headers.get('authorization')
  if (!authorization) throw new Error(`login answered ${response.status}: ${await response.text()}`)
  return authorization
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode
  const closed = once(child, 'close')
  child.kill(signal)
  const [code] = await closed
  return code
}
