import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, inject, test as vitest } from 'vitest'
import { HOW_TO_HAVE_CHROMIUM } from './chromium.ts'
import { signInAt } from './sign-in.ts'

/** Pictures of the pages, which git ignores. */
const PICTURES = join(import.meta.dirname, '../.cache/pictures')

/** Address of the service under test. */
export const url: string = inject('url')

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
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of fixtures from the pattern
  page: async ({}, use) => {
    const page = await newPage()
    const errors: string[] = []
    page.on('pageerror', error => errors.push(error.message))
    await use(page)
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
 * Signs in with the form.
 * @param path page of the console that opens then, e.g. /webhooks, or its whole URL
 */
export async function signIn(page: Page, path = '/apis', username = 'admin', password = inject('password')) {
  await signInAt(page, path.startsWith('/') ? `${url}/console${path}` : path, username, password)
}

/** Sends a request of the administrator to the REST interface. @returns the JSON body of its success */
export async function request(method: string, path: string, body?: unknown) {
  const headers = { authorization: inject('authorization'), 'content-type': 'application/json' }
  const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

/** Checks the page with axe-core (WCAG 2.2 A and AA) and keeps a picture of it, in the light and in the dark theme. */
export async function checkPage(page: Page, name: string): Promise<void> {
  await mkdir(PICTURES, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.screenshot({ path: join(PICTURES, `${name}-${colorScheme}.png`) })
    expect(await violations(page), `${name} in the ${colorScheme} theme`).toEqual([])
  }
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
    const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
    const { violations } = await axe.run({ runOnly })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(node => `${id}: ${node.html} ${node.failureSummary}`),
    )
  })
}
