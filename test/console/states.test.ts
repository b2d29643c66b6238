import type { Page, Route } from 'playwright-core'
import { expect } from 'vitest'
import { checkPage, request, signIn, test } from './src/browser.ts'

type Answer = NonNullable<Parameters<Route['fulfill']>[0]>

/** Answers the requests of a path of the interface instead of the service, until `page.unrouteAll()`. */
const answering = (page: Page, path: string, answer: Answer) =>
  page.route(
    ({ pathname }) => pathname === path,
    route => route.fulfill(answer),
  )

/** A response of the service with a problem. */
const problem = (
  status: number,
  code: string,
  title: string,
  headers: Record<string, string> = {},
): Answer => ({
  status,
  contentType: 'application/problem+json',
  headers: { 'x-request-id': 'request-of-a-test', ...headers },
  body: JSON.stringify({ status, code, title, detail: 'A detail.', requestId: 'request-of-a-test' }),
})
const html = (status: number): Answer => ({
  status,
  contentType: 'text/html',
  body: '<!doctype html><title>Proxy</title><h1>Sign in to the network</h1>',
})

/** Responses that are failures, with the title and the advice that the page shows. */
const FAILURES: readonly (readonly [string, Answer, string, string])[] = [
  [
    '400',
    problem(400, 'invalid-request', 'The request has invalid values'),
    'The request has invalid values',
    'A detail.',
  ],
  ['403', problem(403, 'scope-missing', 'A scope is missing'), 'A scope is missing', 'Ask an administrator'],
  ['404', problem(404, 'not-found', 'There is none'), 'There is none', 'It may have been deleted.'],
  [
    '409',
    problem(409, 'write-conflict', 'Too many changes'),
    'Too many changes',
    'Look at the current state',
  ],
  ['412', problem(412, 'precondition-failed', 'It has changed'), 'It has changed', 'Compare your changes'],
  ['429', problem(429, 'too-many-requests', 'Too many requests'), 'Too many requests', 'Wait a moment'],
  ['500', problem(500, 'internal-error', 'An internal error'), 'An internal error', 'give the request id'],
  ['503', problem(503, 'unavailable', 'A part is unavailable'), 'A part is unavailable', 'in some seconds'],
  ['502 and HTML', html(502), 'The service is unavailable', 'The service may be restarting.'],
  ['200 and HTML', html(200), 'The response cannot be read', 'A proxy between this page and the service'],
  [
    '200 and invalid JSON',
    { status: 200, contentType: 'application/json', body: '{"content": [' },
    'The response cannot be read',
    'A proxy between this page and the service',
  ],
]

const search = (page: Page) => page.getByRole('main').getByRole('searchbox')
const panel = (page: Page, title: string) => page.getByRole('main').getByRole('alert', { name: title })

test.for(FAILURES)(
  'a read answered with %s says what failed, why and what to do, and keeps the input',
  async ([name, answer, title, advice], { signedIn: page }) => {
    await answering(page, '/apis', answer)
    await search(page).fill('google')
    const shown = panel(page, `The APIs cannot be listed: ${title}`)
    await shown.getByText(advice).first().waitFor()
    await expect.poll(() => shown.getByText(/^Request id /).textContent()).toMatch(/^Request id \S{10,}$/)
    await expect.poll(() => search(page).inputValue()).toBe('google')
    await checkPage(page, `failed-${name.replaceAll(' ', '-')}`)
    await page.unrouteAll()
    await shown.getByRole('button', { name: 'Try again' }).click()
    await shown.waitFor({ state: 'detached' })
    await expect.poll(() => search(page).inputValue()).toBe('google')
  },
)

test.for(FAILURES.filter(([name]) => name !== '412'))(
  'a change answered with %s says so and keeps the input, which can then be saved',
  async ([, answer, title, advice], { signedIn: page }) => {
    const { id, form } = await openForm(page)
    await answering(page, `/webhooks/${id}`, answer)
    await form.getByLabel('Display name').fill('Another name')
    await form.getByRole('button', { name: 'Save' }).click()
    const shown = panel(page, title)
    await shown.getByText(advice).first().waitFor()
    await shown.getByText(/^Request id /).waitFor()
    await expect.poll(() => form.getByLabel('Display name').inputValue()).toBe('Another name')
    await page.unrouteAll()
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    expect((await request('GET', `/webhooks/${id}`)).displayName).toBe('Another name')
  },
)

/** Opens the form of a webhook that exists. */
async function openForm(page: Page) {
  const { id } = await request('POST', '/webhooks', {
    displayName: 'A webhook of a test',
    url: 'http://127.0.0.1:9/',
    active: false,
    eventTypes: ['API_CREATED'],
  })
  await page.goto(new URL(`/console/webhooks/${id}/edit`, page.url()).href)
  const form = page.getByRole('form', { name: 'Edit the webhook' })
  await form.waitFor()
  return { id, form }
}

test('Retry-After is shown, and the read can be repeated only then', async ({ page }) => {
  await page.clock.install()
  await signIn(page)
  await answering(
    page,
    '/apis',
    problem(429, 'too-many-requests', 'Too many requests', { 'retry-after': '20' }),
  )
  await search(page).fill('google')
  const shown = panel(page, 'Too many requests')
  await shown.getByText('The service accepts the next request in 20 seconds.').waitFor()
  const again = shown.getByRole('button', { name: 'Try again' })
  await expect.poll(() => again.isDisabled()).toBe(true)
  await checkPage(page, 'retry-after')
  await page.unrouteAll()
  await page.clock.fastForward(21_000)
  await shown.getByText('You can try again now.').waitFor()
  await again.click()
  await shown.waitFor({ state: 'detached' })
})

test('an aborted request shows its problem and keeps the input', async ({ signedIn: page }) => {
  await page.route(
    ({ pathname }) => pathname === '/apis',
    route => route.abort('connectionreset'),
  )
  await search(page).fill('google')
  const shown = panel(page, 'The service cannot be reached')
  await shown.getByText('Check the network connection, then try again.').waitFor()
  await shown.getByText(/^Request id /).waitFor()
  await expect.poll(() => search(page).inputValue()).toBe('google')
  await checkPage(page, 'unreachable')
})

/** Holds the requests of a path until the returned function is called. */
async function holding(page: Page, path: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(
    ({ pathname }) => pathname === path,
    async route => {
      await promise
      await route.continue().catch(() => {})
    },
  )
  return resolve
}

test('after 4 s the page says that the service is slow, and after 10 s it shows the answer', async ({
  page,
}) => {
  await page.clock.install()
  await signIn(page)
  const release = await holding(page, '/webhooks')
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByText('Reading the webhooks').waitFor()
  await page.clock.fastForward(4_500)
  await page.getByText('Still reading the webhooks: the service is slow').waitFor()
  const startedAt = performance.now()
  await checkPage(page, 'slow')
  // The check takes real time, and after 30 s the read would be given up.
  await page.clock.fastForward(Math.max(0, 5_500 - (performance.now() - startedAt)))
  release()
  await page.getByText('Still reading').waitFor({ state: 'detached' })
  expect(await page.getByRole('alert').count()).toBe(0)
})

test('after 30 s a read is given up and can be repeated', async ({ page }) => {
  await page.clock.install()
  await signIn(page)
  const release = await holding(page, '/webhooks')
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByText('Reading the webhooks').waitFor()
  await page.clock.fastForward(30_500)
  const shown = panel(page, 'The service does not answer')
  await shown.getByText('There was no answer within 30 seconds.').waitFor()
  await shown.getByText(/^Request id /).waitFor()
  await checkPage(page, 'no-answer')
  release()
  await shown.getByRole('button', { name: 'Try again' }).click()
  await shown.waitFor({ state: 'detached' })
})

test('a slow change says that it still waits, and keeps the input when it is given up', async ({ page }) => {
  await page.clock.install()
  await signIn(page)
  const { id, form } = await openForm(page)
  await holding(page, `/webhooks/${id}`)
  await form.getByLabel('Display name').fill('Another name')
  await form.getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => form.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await page.clock.fastForward(4_500)
  await page.getByText('Still waiting for the response: the service is slow.').waitFor()
  await page.clock.fastForward(26_000)
  await panel(page, 'The service does not answer').waitFor()
  await expect.poll(() => form.getByLabel('Display name').inputValue()).toBe('Another name')
})

test('offline the page says so and keeps the input, and reads again when the connection is back', async ({
  signedIn: page,
}) => {
  await page.context().setOffline(true)
  await page.getByText('You are offline').waitFor()
  await search(page).fill('google home')
  await checkPage(page, 'offline')
  const read = page.waitForResponse(response => new URL(response.url()).pathname === '/apis')
  await page.context().setOffline(false)
  await page.getByText('You are offline').waitFor({ state: 'detached' })
  expect((await read).status()).toBe(200)
  await expect.poll(() => search(page).inputValue()).toBe('google home')
})

test('a page whose files a new build has removed offers to reload, at its address', async ({
  signedIn: page,
}) => {
  await page.route(/\/console\/assets\/.*\.js$/, route => route.fulfill({ status: 404 }))
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByRole('heading', { name: 'This page must be loaded again' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/console/webhooks')
  await checkPage(page, 'outdated')
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
})

test('a command palette whose files are gone leaves the page as it is', async ({ signedIn: page }) => {
  await search(page).fill('google')
  await page.route(/\/console\/assets\/.*\.js$/, route => route.fulfill({ status: 404 }))
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog', { name: 'The command palette could not be read' }).waitFor()
  await checkPage(page, 'palette-unreadable')
  await page.keyboard.press('Escape')
  await expect.poll(() => search(page).inputValue()).toBe('google')
})
