import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, PROGRAM_ENVIRONMENT } from '@gantry/service-runtime/testing'
import { endsWithParent } from '../../../bin/orphans.mjs'

/**
 * The settings that the stories need: no rate limits, webhooks to this machine, retries that end within a story, and
 * complete logs, which are searched for secrets.
 */
export const RUN_SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '0',
  LOGIN_LIMIT_PER_MINUTE: '0',
  WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  WEBHOOK_RETRY_SCHEDULE: '200ms,400ms',
  LOG_LEVEL: 'trace',
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
// Only a service that hangs reaches these limits.
const START_MS = 60_000
const STOP_MS = 10_000

const exitOf = async (service: ChildProcess) => {
  if (service.exitCode === null && service.signalCode === null) await once(service, 'exit')
  return service.exitCode
}

export interface Standalone {
  baseUrl: string
  /** Sends SIGTERM. A second call does nothing. @throws Error unless the process exits with 0 within ten seconds */
  stop: () => Promise<void>
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
      printed = (printed + text).slice(-4000)
      if (logs) appendFileSync(join(logs, `${service.pid}.log`), text)
    })
  }
  const baseUrl = `http://127.0.0.1:${port}${settings.BASE_PATH ?? ''}`

  let stopped = false
  const stop = async () => {
    if (stopped) return
    stopped = true
    service.kill('SIGTERM')
    const killing = setTimeout(() => service.kill('SIGKILL'), STOP_MS)
    const code = await exitOf(service)
    clearTimeout(killing)
    if (code !== 0) throw new Error(`SIGTERM ended the service with ${code} instead of 0:\n${printed}`)
  }

  const deadline = Date.now() + START_MS
  for (;;) {
    const ready = await fetch(`${baseUrl}/health/ready`).catch(() => undefined)
    await ready?.arrayBuffer()
    if (ready?.ok) return { baseUrl, stop }
    if (service.exitCode !== null || Date.now() > deadline) {
      await stop().catch(() => {})
      throw new Error(`The service did not become ready (exit code ${service.exitCode}):\n${printed}`)
    }
    await delay(50)
  }
}
