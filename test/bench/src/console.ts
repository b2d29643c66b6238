import { buildConsole } from '@gantry/console/build'
import { grid, openBrowser, scrollThrough, signInAt, untilInteractive } from '@gantry/console-tests'
import { ADMINISTRATOR, startServiceProcess } from '@gantry/standalone/testing'
import { inFolder } from './processes.ts'
import { type Figure, progress } from './report.ts'
import { seed } from './sample-apis.ts'
import { quantile } from './statistics.ts'

const APIS = 100_000
const ROUNDS = 10
const FRAMES = 600
/** Pixels of ten rows. */
const STEP = 600
const INTERACTIVE_MS = 1_000
const FRAME_MS = 16

/** (n) How soon the catalogue of the web console is interactive, and how smoothly it scrolls, with 100,000 APIs. */
export function webConsole(): Promise<Figure[]> {
  return inFolder(async folder => {
    progress(`(n) files of ${APIS} APIs`)
    await seed(folder, APIS)
    await buildConsole()
    const service = await startServiceProcess(folder, { RATE_LIMIT_PER_MINUTE: '0' })
    const browser = await openBrowser()
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
      const address = `${service.url}/console`
      await signInAt(page, `${address}/apis`, ADMINISTRATOR.username, service.password)
      progress('(n) the first page')
      const opened: number[] = []
      for (let round = 0; round < ROUNDS; round++) opened.push(await untilInteractive(page, address))
      await page.goto(`${address}/apis`)
      await grid(page).getByRole('row').nth(5).waitFor()
      progress('(n) scrolling')
      const { frames } = await scrollThrough(page, STEP, FRAMES)
      return [
        figure('until the first page is interactive', quantile(opened, 0.95), INTERACTIVE_MS),
        figure('between two frames while it scrolls', quantile(frames, 0.95), FRAME_MS),
      ]
    } finally {
      await browser.close()
      await service.stop()
    }
  })
}

const figure = (what: string, p95: number, target: number): Figure => ({
  name: `(n) milliseconds ${what}, p95`,
  reached: p95.toFixed(1),
  target: `at most ${target}`,
  // A frame of a screen with 60 frames a second takes 16.7 ms.
  met: Math.floor(p95) <= target,
})
