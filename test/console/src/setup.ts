import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gantryClient } from '@gantry/client'
import { buildConsole } from '@gantry/console/build'
import { readPublicApis } from '@gantry/demo'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import type { TestProject } from 'vitest/node'
import { canInstall, findChromium, HOW_TO_HAVE_CHROMIUM } from './chromium.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Address of the service, without the path of the console. */
    url: string
    password: string
    /** Value of the Authorization header of the administrator. */
    authorization: string
    /** Path of the browser; empty without Chromium. */
    chromium: string
  }
}

/** Every eighth of the demo APIs: enough for several pages of each list. */
const SOME_APIS = readPublicApis().filter((_, index) => index % 8 === 7)

/**
 * One service in one process with demo APIs, for all test files. Tests create the records that they change. It has a base
 * path, so that every address that a page uses is tested with one.
 */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const chromium = findChromium()
  provide('chromium', chromium ?? '')
  if (!chromium) {
    if (process.env.CI && canInstall()) throw new Error(HOW_TO_HAVE_CHROMIUM)
    return async () => {}
  }
  const folder = await mkdtemp(join(tmpdir(), 'gantry-console-'))
  await buildConsole()
  const service = await startServiceProcess(folder, {
    BASE_PATH: '/manage',
    RATE_LIMIT_PER_MINUTE: '0',
    LOGIN_LIMIT_PER_MINUTE: '0',
  })
  await createApis(service)
  provide('url', service.url)
  provide('password', service.password)
  provide('authorization', service.authorization)
  return async () => {
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Creates the demo APIs with a version each. */
async function createApis({ url, authorization }: ServiceProcess): Promise<void> {
  const gantry = gantryClient({ baseUrl: url, token: authorization })
  const waiting = SOME_APIS.values()
  const create = async () => {
    for (const { version, ...api } of waiting) {
      const { body } = await gantry.createApi({ body: api })
      await gantry.createVersion({ api_id: body.id, body: { name: version, status: 'ACTIVE' } })
    }
  }
  await Promise.all(Array.from({ length: 8 }, create))
}
