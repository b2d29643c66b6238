// Writes the pictures of the README and of docs/ from a service with the demo APIs.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gantryClient } from '@gantry/client'
import { buildConsole } from '@gantry/console/build'
import { fill, readPublicApis } from '@gantry/demo'
import { ADMINISTRATOR, startServiceProcess } from '@gantry/standalone/testing'
import type { Page } from 'playwright-core'
import { openBrowser } from './chromium.ts'
import { grid } from './measure.ts'
import { signInAt } from './sign-in.ts'

const PICTURES = join(import.meta.dirname, '../../../docs/pictures')
const VIEWPORT = { width: 1280, height: 800 }

/** Each picture with the page that it shows. The page is complete when the function resolves. */
const PICTURES_OF: Record<string, (page: Page, address: string) => Promise<unknown>> = {
  async catalogue(page, address) {
    await page.goto(`${address}/apis`)
    await grid(page).getByRole('row').nth(8).waitFor()
    await page.waitForLoadState('networkidle')
  },
}

await buildConsole()
const folder = await mkdtemp(join(tmpdir(), 'gantry-screenshots-'))
const service = await startServiceProcess(folder, { RATE_LIMIT_PER_MINUTE: '0' })
const browser = await openBrowser()
try {
  console.log('adding the demo APIs')
  const gantry = gantryClient({ baseUrl: service.url, token: service.authorization })
  await fill(gantry, readPublicApis(), () => {})
  await mkdir(PICTURES, { recursive: true })
  const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light', reducedMotion: 'reduce' })
  const address = `${service.url}/console`
  await signInAt(page, `${address}/apis`, ADMINISTRATOR.username, service.password)
  for (const [name, open] of Object.entries(PICTURES_OF)) {
    await open(page, address)
    const path = join(PICTURES, `${name}.png`)
    await page.screenshot({ path })
    console.log(`wrote docs/pictures/${name}.png`)
  }
} finally {
  await browser.close()
  await service.stop()
  await rm(folder, { recursive: true, force: true })
}
