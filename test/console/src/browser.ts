import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Frame, type Locator, type Page, type Route } from 'playwright-core'
import { expect, inject, test as vitest } from 'vitest'
import { CHROMIUM_ARGUMENTS, HOW_TO_HAVE_CHROMIUM } from './chromium.ts'
import { request, url } from './service.ts'
import { signInAt } from './sign-in.ts'

export const ADMINISTRATOR: string = inject('authorization')
export const consoleUrl = `${url}/console`
/** Pictures of pages whose test failed, which git ignores. */
const PICTURES = join(import.meta.dirname, '../.cache/pictures')
const VIEWPORT = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 800 }
const AXE = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** A page at the origin of the service, in a new context. */
async function newPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(`${url}/health/live`)
  return page
}

/** Undoes what tests do with a page, so that it is like that of a new context. */
async function reset(page: Page): Promise<void> {
  // A handler that waits for the service would fail after the end of the test.
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  for (const event of ['pageerror', 'request', 'response']) page.removeAllListeners(event)
  await page.context().setOffline(false)
  // Any response of the service will do: its origin has the storage. The console would style its elements anew below.
  await page.goto(`${url}/health/live`)
  await page.setViewportSize(VIEWPORT)
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.evaluate('sessionStorage.clear(), localStorage.clear()')
}

/** Tests with a page. They are skipped without Chromium. */
export const test = vitest
  .extend('program', { scope: 'worker' }, inject('chromium'))
  .extend('browser', { scope: 'worker' }, async ({ program }, { onCleanup }) => {
    const browser = await chromium.launch({ executablePath: program, args: CHROMIUM_ARGUMENTS })
    onCleanup(() => browser.close())
    return browser
  })
  .extend('kept', { scope: 'worker' }, async ({ browser }) => newPage(browser))
  /** The page of this worker, without a session. A message of the browser about an error fails the test. */
  .extend('page', async ({ kept, task }, { onCleanup }) => {
    const errors = errorsOf(kept)
    onCleanup(async () => {
      if (task.result?.errors) await keepFailure(kept, task.name)
      await reset(kept)
      expect(errors).toEqual([])
    })
    return kept
  })
  /** A page in a context of its own, whose time the test advances. */
  .extend('clocked', async ({ browser, task }, { onCleanup }) => {
    const page = await newPage(browser)
    await page.clock.install()
    const errors = errorsOf(page)
    onCleanup(async () => {
      if (task.result?.errors) await keepFailure(page, task.name)
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.context().close()
      expect(errors).toEqual([])
    })
    return page
  })

test.beforeEach(({ skip }) => skip(inject('chromium') === '', HOW_TO_HAVE_CHROMIUM))

function errorsOf(page: Page): string[] {
  const errors: string[] = []
  page.on('pageerror', error => errors.push(error.message))
  return errors
}

/** Prints the address of a page whose test failed, and keeps a picture of it unless the page hangs. */
async function keepFailure(page: Page, name: string): Promise<void> {
  const path = join(PICTURES, `${name.replaceAll(/[^\w -]/g, '').slice(0, 100)}.png`)
  const picture = page.screenshot({ path, timeout: 5_000 })
  const found = await picture.then(
    () => `see ${path}`,
    () => 'no picture could be taken',
  )
  console.error(`"${name}" failed at ${page.url()}: ${found}`)
}

const sessions = new Map<string, Promise<string>>()

/** The session that the console keeps after a login, as JSON. */
async function readSession(authorization: string): Promise<string> {
  const { user, scopes, credential, expiresAt } = await request('GET', '/session', undefined, authorization)
  const token = authorization.replace('Bearer ', '')
  return JSON.stringify({ token, user, scopes, credential, expiresAt: Date.parse(expiresAt) })
}

/** Opens a page of the console with a session, without the form. @param path e.g. /webhooks */
export async function open(page: Page, path: string, authorization = ADMINISTRATOR): Promise<void> {
  const session = sessions.get(authorization) ?? readSession(authorization)
  sessions.set(authorization, session)
  await page.evaluate(value => sessionStorage.setItem('gantry.session', value), await session)
  await page.goto(`${consoleUrl}${path}`)
  await page.getByRole('banner').waitFor()
}

/** Signs in with the form. */
export const signInByForm = (
  page: Page,
  path = '/apis',
  username = 'admin',
  password: string = inject('password'),
) => signInAt(page, `${consoleUrl}${path}`, username, password)

/** Whether an address is that of an operation of the REST interface. @param path e.g. /apis */
export const isAt =
  (path: string) =>
  ({ pathname }: URL) =>
    pathname === new URL(`${url}${path}`).pathname

/** Makes the page read a list in smaller pages than it asks for, so that a few records have several. */
export const readInPagesOf = (page: Page, size: number, path: string) =>
  page.route(isAt(path), route => {
    const smaller = new URL(route.request().url())
    smaller.searchParams.set('size', String(size))
    return route.continue({ url: smaller.href })
  })

/** Lets the service answer requests, and drops the responses, until `page.unrouteAll()`. */
export const loseResponses = (page: Page, method: string, path: string) =>
  page.route(isAt(path), async route => {
    if (route.request().method() !== method) return route.fallback()
    await route.fetch()
    await route.abort()
  })

/** Holds requests of a method until the returned promise of `asked`, and then until `release` is called. */
export async function hold(page: Page, method: string, path: string, then?: (route: Route) => Promise<void>) {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route(isAt(path), async route => {
    if (route.request().method() !== method) return route.fallback()
    ask()
    await released
    await (then?.(route) ?? route.continue()).catch(() => {})
  })
  return { asked, release }
}

/** Reads again what is older than some seconds, as a tab does when it is shown again. */
export const showAgain = (page: Page) =>
  page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")

/** A file to drop: its content, or the content padded in the page, so that a large file is not sent to the browser. */
type Dropped = string | { content: string; padWith: string; size: number }

/** Drops files on a region of the page. */
export async function dropFiles(page: Page, region: string, files: Record<string, Dropped>): Promise<void> {
  const transfer = await page.evaluateHandle(files => {
    const { DataTransfer } = globalThis as unknown as {
      DataTransfer: new () => { items: { add(file: File): void } }
    }
    const transfer = new DataTransfer()
    for (const [name, file] of Object.entries(files)) {
      const content = typeof file === 'string' ? file : file.content.padEnd(file.size, file.padWith)
      transfer.items.add(new File([content], name))
    }
    return transfer
  }, files)
  const place = page.getByRole('region', { name: region })
  await place.dispatchEvent('dragover', { dataTransfer: transfer })
  await place.dispatchEvent('drop', { dataTransfer: transfer })
}

export const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

export const heading = (page: Page, name: string) =>
  page.getByRole('heading', { name, level: 1, exact: true })

export const isFocused = async (locator: Locator) =>
  (await locator.and(locator.page().locator(':focus')).count()) === 1

/** Checks the page with axe-core (WCAG 2.2 A and AA), and the contrasts that it leaves out, in both themes. */
export const checkPage = (page: Page): Promise<void> => checkFrame(page, page)

/** Checks a frame of a page in the same way. The theme in which it is comes first: each change styles all elements anew. */
export async function checkFrame(page: Page, checked: Page | Frame): Promise<void> {
  const isDark = await page.evaluate<boolean>("matchMedia('(prefers-color-scheme: dark)').matches")
  const [theme, other] = isDark ? (['dark', 'light'] as const) : (['light', 'dark'] as const)
  await checkTheme(checked, theme, WCAG)
  await page.emulateMedia({ colorScheme: other })
  // The colours change in the next frame.
  await page.evaluate('new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  // The themes differ in their colours alone.
  await checkTheme(checked, other, ['color-contrast'])
}

/** @param rules tags or ids of rules of axe-core */
async function checkTheme(checked: Page | Frame, theme: string, rules: string[]): Promise<void> {
  // An element that the page replaces meanwhile, e.g. a countdown, has no colours: the page is checked again.
  await expect.poll(() => violations(checked, rules), { message: `${theme} theme` }).toEqual([])
  await expect.poll(() => faintParts(checked), { message: `${theme} theme` }).toEqual([])
}

/** Checks that nothing on the page is wider than the screen of a phone. */
export async function fitsPhone(page: Page): Promise<void> {
  await page.setViewportSize(PHONE)
  await expect
    .poll(() => page.evaluate('document.documentElement.scrollWidth'))
    .toBeLessThanOrEqual(PHONE.width)
  await page.setViewportSize(VIEWPORT)
}

/** @param runOnly tags or ids of rules of axe-core */
async function violations(page: Page | Frame, runOnly: string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE)
  return page.evaluate(async runOnly => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
    const { violations } = await axe.run({
      runOnly,
      resultTypes: ['violations'],
      preload: false,
      iframes: false,
    })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(node => `${id}: ${node.html} ${node.failureSummary}`),
    )
  }, runOnly)
}

/** What axe-core does not measure: placeholders, disabled elements with their labels, and the dots of badges. */
const UNMEASURED =
  'input:placeholder-shown, textarea:placeholder-shown, :disabled, [data-disabled], label:has(~ * :disabled), [data-variant=dot]'

/** Placeholders and disabled text with less contrast than 4.5:1, and dots with less than 3:1. Axe-core is on the page. */
const faintParts = (page: Page | Frame): Promise<string[]> =>
  page.locator(UNMEASURED).evaluateAll(elements => {
    const { axe, getComputedStyle } = globalThis as unknown as {
      axe: { commons: { color: unknown } }
      getComputedStyle: (element: unknown, pseudo?: string) => Record<string, string>
    }
    type Color = { alpha: number; parseString(text: string): Color }
    const { Color, flattenColors, getContrast } = axe.commons.color as {
      Color: new () => Color
      flattenColors(front: Color, back: Color): Color
      getContrast(back: Color, front: Color): number
    }
    const parsed = (text = '') => {
      const color = new Color()
      color.parseString(text)
      return color
    }
    const parentsOf = (element: (typeof elements)[number]): (typeof elements)[number][] =>
      element ? [element, ...parentsOf(element.parentElement)] : []
    const ratio = (element: (typeof elements)[number], text: string) => {
      const chain = parentsOf(element).map(each => getComputedStyle(each))
      const layers = chain.map(({ backgroundColor }) => parsed(backgroundColor))
      const opaque = layers.findIndex(({ alpha }) => alpha === 1)
      const back = layers.slice(0, opaque + 1).reduceRight((below, layer) => flattenColors(layer, below))
      const front = parsed(text)
      for (const { opacity } of chain) front.alpha *= Number(opacity)
      return getContrast(back, flattenColors(front, back))
    }
    const found: string[] = []
    const check = (element: (typeof elements)[number], color: string | undefined, least: number) => {
      const measured = color ? ratio(element, color) : least
      if (measured < least) found.push(`${measured.toFixed(2)}:1 ${element.outerHTML.slice(0, 300)}`)
    }
    for (const element of elements) {
      if (!element.checkVisibility() || element.closest('[data-loading]')) continue
      if (element.matches(':placeholder-shown[placeholder]:not([placeholder=""])'))
        check(element, getComputedStyle(element, '::placeholder').color, 4.5)
      else if (element.matches('[data-variant=dot]'))
        check(element, getComputedStyle(element, '::before').backgroundColor, 3)
      else if (element.textContent?.trim() || element.value)
        check(element, getComputedStyle(element).color, 4.5)
    }
    return found
  })
