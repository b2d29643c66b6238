import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, PROGRAM_ENVIRONMENT } from '@gantry/service-kit/testing'
import { endsWithParent } from '../../../bin/orphans.mjs'
import { scaledTimeout } from '../../../bin/timeouts.mjs'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const START_MS = scaledTimeout(60_000)
const STOP_MS = 10_000

const exitOf = async (service: ChildProcess) => {
  if (service.exitCode === null && service.signalCode === null) await once(service, 'exit')
  return service.exitCode
}

export interface Standalone {
  baseUrl: string
  /** The output so far. */
  printed: () => string
  /** Sends SIGTERM. Resolves to the exit code; null when the process had to be killed. */
  stop: () => Promise<number | null>
}

/**
 * Starts the service of this repository with only these settings in its environment, and waits until it is ready. Its
 * output is also written to a file in `logs`.
 */
export const startStandalone = async (
  settings: Record<string, string>,
  logs?: string,
): Promise<Standalone> => {
  const port = await freePort()
  const service = endsWithParent(
    spawn(process.execPath, ['services/standalone/src/main.ts'], {
      cwd: ROOT,
      env: { ...PROGRAM_ENVIRONMENT, PORT: String(port), ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  let printed = ''
  for (const output of [service.stdout, service.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      if (logs) appendFileSync(join(logs, `${service.pid}.log`), text)
    })
  }
  const baseUrl = `http://127.0.0.1:${port}${settings.BASE_PATH ?? ''}`

  const stop = async () => {
    service.kill('SIGTERM')
    const killing = setTimeout(() => service.kill('SIGKILL'), STOP_MS)
    const code = await exitOf(service)
    clearTimeout(killing)
    return code
  }

  const deadline = Date.now() + START_MS
  for (;;) {
    const ready = await fetch(`${baseUrl}/health/ready`).catch(() => undefined)
    await ready?.arrayBuffer()
    if (ready?.ok) return { baseUrl, printed: () => printed, stop }
    if (service.exitCode !== null || Date.now() > deadline) {
      await stop()
      throw new Error(
        `The service did not become ready (exit code ${service.exitCode}):\n${printed.slice(-4000)}`,
      )
    }
    await delay(50)
  }
}
