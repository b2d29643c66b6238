import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { clientOf, type Service } from './client.ts'
import { contractOf } from './contract.ts'
import { RUN_SETTINGS } from './run-settings.ts'
import { secretsIn } from './secrets.ts'
import { startStandalone } from './standalone.ts'

export const ADMIN = { username: 'settings', password: 'a password of the settings' }

/** A folder that is removed when the story ends. */
export const dataFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-settings-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Settings of a service whose clock is ahead by this number of milliseconds. */
export const later = (ms: number) => ({
  NODE_OPTIONS: `--import=${new URL('./later.mjs', import.meta.url)}`,
  LATER_MS: String(ms),
})

/** Starts a service for one story. It stops with the story, which fails if the exit code is not 0. */
export const start = async (folder: string, settings: Record<string, string> = {}) => {
  const standalone = await startStandalone(
    {
      ...RUN_SETTINGS,
      DATA_DIR: folder,
      GANTRY_ADMIN_USERNAME: ADMIN.username,
      GANTRY_ADMIN_PASSWORD: ADMIN.password,
      ...settings,
    },
    inject('logs'),
  )
  let running = true
  const stop = async () => {
    if (!running) return
    running = false
    const code = await standalone.stop()
    if (code !== 0) throw new Error(`SIGTERM ended it with ${code}:\n${standalone.printed().slice(-4000)}`)
  }
  onTestFinished(stop)
  const service: Service = {
    baseUrl: standalone.baseUrl,
    contract: contractOf(inject('document')),
    exercised: () => {},
    seen: secretsIn(inject('secrets')),
  }
  const anonymous = clientOf(service)
  const logIn = async (credentials = ADMIN) =>
    clientOf(
      service,
      (await anonymous.post('/login', credentials)).is(200).headers.get('authorization') ?? '',
    )
  return { service, anonymous, logIn, stop }
}
