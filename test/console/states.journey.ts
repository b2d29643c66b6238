import type { Page, Route } from 'playwright-core'
import { expect } from 'vitest'
import { checkPage, heading, hold, isAt, open, test } from './src/browser.ts'
import { createWebhook, request } from './src/service.ts'

/** A response of the service with a problem. */
const problem = (status: number, code: string, title: string, headers: Record<string, string> = {}) => ({
  status,
  contentType: 'application/problem+json',
  headers: { 'x-request-id': 'request-of-a-test', ...headers },
  body: JSON.stringify({ status, code, title, detail: 'A detail.', requestId: 'request-of-a-test' }),
})

/** Answers the requests of a path of the interface instead of the service, until `page.unrouteAll()`. */
const answering = (page: Page, path: string, answer: NonNullable<Parameters<Route['fulfill']>[0]>) =>
  page.route(isAt(path), route => route.fulfill(answer))

const search = (page: Page) => page.getByRole('main').getByRole('combobox', { name: 'Search APIs' })
const panel = (page: Page, title: string) => page.getByRole('main').getByRole('alert', { name: title })

test('a failed read says what failed, why and what to do, keeps the input, and is repeated on demand', async ({
  page,
}) => {
  await open(page, '/apis')
  await answering(page, '/apis', problem(500, 'internal-error', 'An internal error'))
  await search(page).fill('google')
  const shown = panel(page, 'The APIs cannot be listed: An internal error')
  await shown.getByText('give the request id').first().waitFor()
  await shown.getByText('Request id request-of-a-test').waitFor()
  await checkPage(page)
  await page.unrouteAll()
  await shown.getByRole('button', { name: 'Try again' }).click()
  await shown.waitFor({ state: 'detached' })
  await expect.poll(() => search(page).inputValue()).toBe('google')
})

test.for([
  ['/webhooks', '/webhooks', 'The webhooks cannot be listed', 'Webhooks'],
  ['/users', '/users', 'Away', 'Users'],
  ['/deliveries', '/webhooks/requests', 'The deliveries cannot be listed', 'Deliveries'],
  ['/tokens', '/accessTokens', 'Away', 'Access tokens'],
  ['/audit', '/auditLog', 'Away', 'Audit log'],
] as const)(
  '%s says that its list cannot be read, and reads it again',
  async ([path, list, title, name], { page }) => {
    await answering(page, list, problem(500, 'internal-error', 'Away'))
    await open(page, path)
    const shown = page.getByRole('alert', { name: title })
    await shown.getByText('request-of-a-test').waitFor()
    await page.unrouteAll()
    await shown.getByRole('button', { name: 'Try again' }).click()
    await shown.waitFor({ state: 'detached' })
    await heading(page, name).waitFor()
  },
)

test('a failed change says so and keeps the input, which can then be saved', async ({ page }) => {
  const { id, displayName } = await createWebhook({ active: false })
  await open(page, `/webhooks/${id}/edit`)
  await answering(page, `/webhooks/${id}`, problem(503, 'unavailable', 'A part is unavailable'))
  await page.getByLabel('Display name').fill(`New ${displayName}`)
  await page.getByRole('button', { name: 'Save' }).click()
  const shown = panel(page, 'A part is unavailable')
  await shown.getByText('in some seconds').first().waitFor()
  await shown.getByText(/^Request id /).waitFor()
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe(`New ${displayName}`)
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The webhook is saved').waitFor()
  expect((await request('GET', `/webhooks/${id}`)).displayName).toBe(`New ${displayName}`)
})

test('Retry-After is shown, and the read can be repeated only then', async ({ clocked: page }) => {
  await open(page, '/apis')
  const tooMany = problem(429, 'too-many-requests', 'Too many requests', { 'retry-after': '20' })
  await answering(page, '/apis', tooMany)
  await search(page).fill('google')
  const shown = panel(page, 'Too many requests')
  await shown.getByText('The service accepts the next request in 20 seconds.').waitFor()
  const again = shown.getByRole('button', { name: 'Try again' })
  await expect.poll(() => again.isDisabled()).toBe(true)
  await page.unrouteAll()
  await page.clock.fastForward(21_000)
  await shown.getByText('You can try again now.').waitFor()
  await again.click()
  await shown.waitFor({ state: 'detached' })
})

test('after 4 s a page says that the service is slow, and after 30 s it gives up and keeps the input', async ({
  clocked: page,
}) => {
  const { id } = await createWebhook({ active: false })
  await open(page, '/apis')
  const read = await hold(page, 'GET', '/webhooks')
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByText('Reading the webhooks').waitFor()
  await page.clock.fastForward(4_500)
  await page.getByText('Still reading the webhooks: the service is slow').waitFor()
  await page.clock.fastForward(26_000)
  const shown = panel(page, 'The service does not answer')
  await shown.getByText('There was no answer within 30 seconds.').waitFor()
  await shown.getByText(/^Request id /).waitFor()
  read.release()
  await shown.getByRole('button', { name: 'Try again' }).click()
  await shown.waitFor({ state: 'detached' })

  await open(page, `/webhooks/${id}/edit`)
  await page.getByLabel('Display name').fill('Another name')
  await hold(page, 'PUT', `/webhooks/${id}`)
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await page.clock.fastForward(4_500)
  await page.getByText('Still waiting for the response: the service is slow.').waitFor()
  await page.clock.fastForward(26_000)
  await panel(page, 'The service does not answer').waitFor()
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe('Another name')
})

test('offline the page says so and keeps the input, and reads again when the connection is back', async ({
  page,
}) => {
  await open(page, '/apis')
  await page.context().setOffline(true)
  await page.getByText('You are offline').waitFor()
  await search(page).fill('google home')
  const read = page.waitForResponse(response => isAt('/apis')(new URL(response.url())))
  await page.context().setOffline(false)
  await page.getByText('You are offline').waitFor({ state: 'detached' })
  expect((await read).status()).toBe(200)
  await expect.poll(() => search(page).inputValue()).toBe('google home')
})

test('a page whose files a new build has removed stays as it is, and offers to reload when it needs them', async ({
  clocked: page,
}) => {
  await open(page, '/apis')
  await search(page).fill('google')
  await page.route(/\/console\/assets\/.*\.js$/, route => route.fulfill({ status: 404 }))
  await page.keyboard.press('Control+k')
  const dialog = page.getByRole('dialog', { name: 'The command palette could not be read' })
  // Escape in a search field would clear it.
  await expect.poll(() => dialog.evaluate(node => node.contains(node.ownerDocument.activeElement))).toBe(true)
  await page.keyboard.press('Escape')
  await expect.poll(() => search(page).inputValue()).toBe('google')
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await heading(page, 'This page must be loaded again').waitFor()
  expect(new URL(page.url()).pathname).toMatch(/\/console\/webhooks$/)
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Reload' }).click()
  await heading(page, 'Webhooks').waitFor()
})
