import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildConsole } from '@gantry/console/build'
import { client, fill, readPublicApis } from '@gantry/demo'
import { startServiceProcess } from '@gantry/standalone/testing'
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { CHROMIUM_ARGUMENTS, canInstall, findChromium, HOW_TO_HAVE_CHROMIUM } from './chromium.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Address of the service, without the path of the console. */
    url: string
    password: string
    /** Value of the Authorization header of the administrator. */
    authorization: string
    /** Address of the running browser; empty without Chromium. */
    browser: string
  }
}

/**
 * One service in one process with the demo APIs, and one browser, for all test files. Tests create the records that they
 * change.
 */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const executablePath = findChromium()
  provide('browser', '')
  if (!executablePath) {
    if (process.env.CI && canInstall()) throw new Error(HOW_TO_HAVE_CHROMIUM)
    return async () => {}
  }
  await buildConsole()
  const folder = await mkdtemp(join(tmpdir(), 'gantry-console-'))
  const service = await startServiceProcess(folder, {
    RATE_LIMIT_PER_MINUTE: '0',
    LOGIN_LIMIT_PER_MINUTE: '0',
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  })
  const browser = await chromium.launchServer({ executablePath, args: CHROMIUM_ARGUMENTS })
  await fill(client(service.url, service.authorization), readPublicApis(), () => {})
  provide('url', service.url)
  provide('password', service.password)
  provide('authorization', service.authorization)
  provide('browser', browser.wsEndpoint())
  return async () => {
    await browser.close()
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
