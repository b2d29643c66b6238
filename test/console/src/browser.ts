import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, inject, test as vitest } from 'vitest'
import { scaledTimeout } from '../../../bin/timeouts.mjs'
import { HOW_TO_HAVE_CHROMIUM } from './chromium.ts'
import { signInAt } from './sign-in.ts'

/** Pictures of the pages, which git ignores. */
const PICTURES = join(import.meta.dirname, '../.cache/pictures')

/** Address of the service under test. */
export const url: string = inject('url')

/** Limit of a step that takes a fraction of a second, while other tests use all processors. */
const MOST_MS = scaledTimeout(30_000)
const AXE = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

interface Fixtures {
  /** A page in a new context, without a session. A message of the browser about an error fails the test. */
  page: Page
  /** The same, signed in as the administrator and at `/apis`. */
  signedIn: Page
}

let connected: Promise<Browser> | undefined

/** A page in a new context. */
async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  connected ??= chromium.connect(inject('browser'))
  const context = await (await connected).newContext({ viewport: { width: 1280, height: 800 }, ...options })
  return context.newPage()
}

/** Tests with a page. They are skipped without Chromium. */
export const test = vitest.extend<Fixtures>({
  page: async ({ task }, use) => {
    const page = await newPage()
    const errors: string[] = []
    page.on('pageerror', error => errors.push(error.message))
    await use(page)
    if (task.result?.errors) await keepFailure(page, task.name)
    // A handler that waits for the service would fail after the end of the page.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.context().close()
    expect(errors).toEqual([])
  },
  signedIn: async ({ page }, use) => {
    await signIn(page)
    await use(page)
  },
})

test.beforeEach(({ skip }) => skip(inject('browser') === '', HOW_TO_HAVE_CHROMIUM))

/**
 * Opens a page of the console with a session of its own, without the form.
 * @param path page of the console, e.g. /webhooks, or its whole URL
 */
export async function signIn(page: Page, path = '/apis', username = 'admin', password = inject('password')) {
  const address = addressOf(path)
  const service = address.slice(0, address.indexOf('/console'))
  const session = await sessionAt(service, username, password)
  // Any response of the service will do: its origin has the storage.
  await page.goto(`${service}/health/ready`)
  await page.evaluate(value => sessionStorage.setItem('gantry.session', value), JSON.stringify(session))
  await page.goto(address)
  await page.getByRole('banner').waitFor()
}

/** The same with the form. */
export const signInByForm = (page: Page, path = '/apis', username = 'admin', password = inject('password')) =>
  signInAt(page, addressOf(path), username, password)

const addressOf = (path: string) => (path.startsWith('/') ? `${url}/console${path}` : path)

/** The session that the console would keep after a login. */
async function sessionAt(service: string, username: string, password: string) {
  const token = await tokenAt(service, username, password)
  const response = await fetch(`${service}/session`, { headers: { authorization: `Bearer ${token}` } })
  const { user, scopes, credential, expiresAt } = (await response.json()) as Record<string, unknown>
  return { token, user, scopes, credential, expiresAt: Date.parse(String(expiresAt)) }
}

async function tokenAt(service: string, username: string, password: string): Promise<string> {
  const { status, headers } = await fetch(`${service}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })
  if (status !== 200) throw new Error(`the login of ${username} is answered ${status}`)
  return (headers.get('authorization') ?? '').replace('Bearer ', '')
}

/** Makes the page read a list in smaller pages than it asks for, so that a few records have several. @param path of the list */
export const readInPagesOf = (page: Page, size: number, path: string) =>
  page.route(
    ({ pathname }) => pathname === path,
    route => {
      const smaller = new URL(route.request().url())
      smaller.searchParams.set('size', String(size))
      return route.continue({ url: smaller.href })
    },
  )

/** Sends a request of the administrator to the REST interface. @returns the JSON body of its success */
export async function request(method: string, path: string, body?: unknown) {
  const headers = { authorization: inject('authorization'), 'content-type': 'application/json' }
  const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

/** Prints the address of a page whose test failed, and keeps a picture of it unless the page hangs. */
async function keepFailure(page: Page, name: string): Promise<void> {
  const path = join(PICTURES, `failed ${name.replaceAll(/[^\w -]/g, '')}.png`)
  const picture = page.screenshot({ path, timeout: 5_000 })
  const found = await picture.then(
    () => `see ${path}`,
    () => 'no picture could be taken',
  )
  console.error(`"${name}" failed at ${page.url()}: ${found}`)
}

/** Checks the page with axe-core (WCAG 2.2 A and AA) and keeps a picture of it, in the light and in the dark theme. */
export async function checkPage(page: Page, name: string): Promise<void> {
  await mkdir(PICTURES, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.screenshot({ path: join(PICTURES, `${name}-${colorScheme}.png`), timeout: MOST_MS })
    // The themes differ in their colours alone.
    const rules = colorScheme === 'light' ? WCAG : ['color-contrast']
    // An element that the page replaces meanwhile, e.g. a countdown, has no colours: the page is checked again.
    const options = { message: `${name} in the ${colorScheme} theme`, timeout: MOST_MS }
    await expect.poll(() => violations(page, rules), options).toEqual([])
  }
}

/** @param runOnly tags or ids of rules of axe-core */
async function violations(page: Page, runOnly: string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE)
  return page.evaluate(async runOnly => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
    const { violations } = await axe.run({ runOnly, resultTypes: ['violations'] })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(node => `${id}: ${node.html} ${node.failureSummary}`),
    )
  }, runOnly)
}
