import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { clientOf, type Service } from './client.ts'
import { service as underTest } from './gantry.ts'
import { RUN_SETTINGS, startStandalone } from './standalone.ts'

const ADMIN = { username: 'settings', password: 'a password of the settings' }

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
  const administrator = { GANTRY_ADMIN_USERNAME: ADMIN.username, GANTRY_ADMIN_PASSWORD: ADMIN.password }
  const { baseUrl, stop } = await startStandalone(
    { ...RUN_SETTINGS, DATA_DIR: folder, ...administrator, ...settings },
    inject('logs'),
  )
  onTestFinished(stop)
  const service: Service = { ...underTest, baseUrl, exercised: () => {} }
  const anonymous = clientOf(service)
  const logIn = async (credentials = ADMIN) => {
    const login = (await anonymous.post('/login', credentials)).is(200)
    return clientOf(service, login.headers.get('authorization') ?? '')
  }
  return { service, anonymous, logIn, stop }
}
