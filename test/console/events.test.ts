import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { checkPage, readInPagesOf, request, signIn, test } from './src/browser.ts'
import { startProxy } from './src/proxy.ts'

const createApi = (displayName: string) =>
  request('POST', '/apis', {
    name: `events-${randomUUID()}`,
    displayName,
    url: 'https://example.com/events',
    status: 'ACTIVE',
    tags: [],
  })

/** The first event of an API. A page may have no event: the service ends it after a time, at any position. */
async function eventOf({ id, createdAt }: { id: string; createdAt: string }) {
  let start = `from=${createdAt}`
  for (;;) {
    const { content, position } = await request('GET', `/events?api=${id}&${start}`)
    if (content[0]) return content[0]
    start = `after=${encodeURIComponent(position)}`
  }
}

const isLive = (page: Page) => page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor()
const row = (page: Page, name: string) => page.getByRole('option').filter({ hasText: name })

/** Opens the feed from the present on, so that the events of other tests are few. */
async function openFeed(page: Page, query = '') {
  await signIn(page, `/events?from=${new Date().toISOString()}${query}`)
  await isLive(page)
}

test('an event appears without a reload and leads to its API, deliveries and trace', async ({ page }) => {
  const urls: string[] = []
  page.on('request', sent => urls.push(sent.url()))
  await openFeed(page)
  const api = await createApi('Tail of a comet')
  await row(page, 'Tail of a comet').click()
  const event = page.getByRole('region', { name: 'Selected event' })
  await event.getByRole('heading', { name: 'API_CREATED' }).waitFor()
  const { id, traceId } = await eventOf(api)
  const links = event.getByRole('navigation')
  const target = (name: string) => links.getByRole('link', { name, exact: true }).getAttribute('href')
  await expect.poll(() => target('API')).toBe(`/console/apis/${api.id}`)
  await expect.poll(() => target('Deliveries')).toBe(`/console/deliveries?eventId=${id}`)
  await expect.poll(() => event.getByText(traceId, { exact: true }).count()).toBe(1)
  await expect.poll(() => event.getByRole('region', { name: 'Payload' }).textContent()).toContain(api.name)
  const token = await page.evaluate(() => JSON.parse(sessionStorage.getItem('gantry.session') ?? '{}').token)
  expect(urls.filter(each => each.includes(token))).toEqual([])
  await checkPage(page, 'events')
})

test('a paused list counts the events that wait, and shows them when it is resumed', async ({ page }) => {
  await openFeed(page, '&type=API_CREATED')
  await createApi('Before the pause')
  await row(page, 'Before the pause').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await createApi('During the pause')
  await page.getByText(/^[1-9]\d* waiting$/).waitFor()
  expect(await row(page, 'During the pause').count()).toBe(0)
  await page.getByRole('button', { name: 'Resume' }).click()
  await row(page, 'During the pause').waitFor()
  await createApi('After the pause')
  await row(page, 'After the pause').waitFor()
})

test('a jump to a time shows the events from then on, and waits before it shows too many', async ({
  page,
}) => {
  const { content } = await request('GET', '/events?size=1&type=API_CREATED')
  // The input has no milliseconds.
  const time = new Date(Math.ceil(Date.parse(content[0].time) / 1_000) * 1_000)
  await openFeed(page)
  await page.getByLabel('Jump to a time').fill(localInput(time))
  await page.getByRole('button', { name: 'Jump' }).click()
  await page.getByText(/waiting$/).waitFor()
  expect(new URL(page.url()).searchParams.get('from')).toContain(time.toISOString())
  await page.getByRole('listbox', { name: 'Events' }).press('Home')
  const first = page.getByRole('option').first()
  await expect.poll(() => first.getAttribute('aria-setsize')).toBe('500')
  expect(Date.parse((await first.locator('span').first().textContent()) ?? '')).toBeGreaterThanOrEqual(
    time.getTime(),
  )
  await page.getByRole('button', { name: 'Show the next 500' }).click()
  await page.locator('[aria-setsize="1000"]').first().waitFor()
})

/** A time as a person types it, in the time zone of the browser, which is that of this process. */
function localInput(time: Date) {
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

test('a feed can follow the position of an event', async ({ page }) => {
  const { position } = await eventOf(await createApi('Before the position'))
  await openFeed(page)
  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByLabel('Follow after a position').fill(position)
  await page.getByRole('button', { name: 'Follow', exact: true }).click()
  await isLive(page)
  await createApi('After the position')
  await row(page, 'After the position').waitFor()
  expect(await row(page, 'Before the position').count()).toBe(0)
})

test('after a lost connection the feed continues after its last event', async ({ page, onTestFinished }) => {
  const proxy = await startProxy()
  onTestFinished(proxy.close)
  await signIn(page, `${proxy.url}/console/events?from=${new Date().toISOString()}&type=API_CREATED`)
  await isLive(page)
  await createApi('Before the cut')
  await row(page, 'Before the cut').waitFor()
  proxy.cut()
  await page.getByRole('alert', { name: 'No new events' }).waitFor()
  await createApi('During the cut')
  await checkPage(page, 'events-lost')
  const again = page.waitForRequest(sent => sent.url().includes('after='))
  // The next attempt of the page itself is seconds away.
  await page.getByText(/Next attempt in ([89]|10) s/).waitFor()
  proxy.mend()
  await page.getByRole('button', { name: 'Try now' }).click()
  expect((await again).headers().authorization).toMatch(/^Bearer /)
  await row(page, 'During the cut').waitFor()
  await expect.poll(() => row(page, 'Before the cut').count()).toBe(1)
  await isLive(page)
})

test('a past period is complete only after its last event, although its response ends before', async ({
  page,
}) => {
  const begin = new Date().toISOString()
  for (const name of ['First of a period', 'Second of a period']) await eventOf(await createApi(name))
  const end = new Date().toISOString()
  let responses = 0
  const isFeed = ({ pathname }: URL) => pathname === '/events'
  await page.route(isFeed, async route => {
    const response = await route.fetch()
    const lines = (await response.text()).split('\n')
    const body = responses++ === 0 ? lines.slice(0, 1) : lines
    await route.fulfill({ response, body: `${body.join('\n')}\n` })
  })
  await signIn(page, `/events?from=${begin}&to=${end}&type=API_CREATED`)
  await page.getByRole('status', { name: 'Connection' }).getByText('Complete').waitFor()
  await row(page, 'First of a period').waitFor()
  expect(await row(page, 'Second of a period').count()).toBe(1)
  expect(responses).toBeGreaterThan(2)
})

test('a feed whose token is revoked asks for the password and continues', async ({ page }) => {
  const password = 'a long enough passphrase'
  const username = `events-${randomUUID().slice(0, 8)}`
  await request('POST', '/users', {
    ...{ username, password, displayName: 'Reader', email: `${username}@example.com`, role: 'ADMIN' },
  })
  await signIn(page, `/events?from=${new Date().toISOString()}&type=API_CREATED`, username, password)
  await isLive(page)
  await page.evaluate(async () => {
    const { token } = JSON.parse(sessionStorage.getItem('gantry.session') ?? '{}')
    await fetch('/logout', { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  })
  await createApi('While nobody is signed in')
  await page.getByLabel(`Password of ${username}`).fill(password)
  await page.getByRole('button', { name: 'Continue' }).click()
  await row(page, 'While nobody is signed in').waitFor()
})

test('a feed from the oldest event keeps a limited number of rows', async ({ page }) => {
  await signIn(page, '/events?since=all')
  await page.getByText(/earlier events were removed/).waitFor()
  await page.locator('[aria-setsize="5000"]').first().waitFor()
  await expect.poll(() => page.getByRole('option').count()).toBeLessThan(60)
})

test('the filters of the feed and its selected event survive a reload', async ({ page }) => {
  const name = `Survivor ${randomUUID()}`
  const api = await createApi(name)
  await openFeed(page)
  await page.getByRole('combobox', { name: 'Event types' }).fill('API_CREATED')
  const types = page.getByRole('listbox', { name: 'Event types', exact: true })
  await types.getByRole('option', { name: 'API_CREATED' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('combobox', { name: 'API', exact: true }).fill(api.name)
  await page.getByRole('option', { name: api.name }).click()
  await page.getByRole('combobox', { name: 'Begin with' }).click()
  await page.getByRole('option', { name: 'The oldest event' }).click()
  await row(page, name).click()
  await page.getByRole('region', { name: 'Selected event' }).waitFor()
  await page.reload()
  await page
    .getByRole('region', { name: 'Selected event' })
    .getByText(api.id, { exact: true })
    .first()
    .waitFor()
  await expect.poll(() => page.getByRole('option').count()).toBe(1)
  const query = new URL(page.url()).searchParams
  expect([query.get('api'), query.get('type'), query.get('since')]).toEqual([
    api.id,
    '["API_CREATED"]',
    'all',
  ])
  await expect
    .poll(() => page.getByRole('combobox', { name: 'API', exact: true }).inputValue())
    .toContain(name)
})

test('the filter of webhooks finds all of them by name', async ({ page }) => {
  const fields = { url: 'http://127.0.0.1:9/', active: false, eventTypes: ['API_CREATED'] }
  const displayName = `zz filter ${randomUUID()}`
  await request('POST', '/webhooks', { ...fields, displayName: `aa filter ${randomUUID()}` })
  const { id } = await request('POST', '/webhooks', { ...fields, displayName })
  const { totalElements } = await request('GET', '/webhooks')
  await readInPagesOf(page, Math.ceil(totalElements / 2), '/webhooks')
  await signIn(page, '/events')
  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByRole('combobox', { name: 'Webhook', exact: true }).fill(displayName)
  const found = page.getByRole('listbox', { name: 'Webhook', exact: true })
  await found.getByRole('option', { name: displayName }).click()
  await expect.poll(() => new URL(page.url()).searchParams.get('webhook')).toBe(id)
})

test('a feed whose events were removed offers to begin with the oldest one', async ({ page }) => {
  const { position: oldestPosition } = await request('GET', '/events?size=1')
  const problem = {
    code: 'position-gone',
    title: 'Events after this position have been removed',
    oldestPosition,
  }
  await page.route(
    target => target.pathname === '/events' && target.searchParams.get('after') === 'gone',
    route => route.fulfill({ status: 410, json: { ...problem, detail: 'because of their age' } }),
  )
  await signIn(page, '/events?after=gone')
  await page.getByRole('button', { name: 'Continue with the oldest event' }).click()
  await page.getByRole('option').first().waitFor()
})

test('an unknown event type in the URL is named', async ({ page }) => {
  await signIn(page, '/events?type=NO_SUCH_TYPE')
  const alert = page.getByRole('alert', { name: /The events cannot be read/ })
  await alert.getByText(/NO_SUCH_TYPE/).waitFor()
})

test('values of a URL that the feed cannot use are left out', async ({ page }) => {
  await signIn(page, '/events?since=yesterday&from=soon&type=5')
  await isLive(page)
  await expect
    .poll(() => page.getByRole('combobox', { name: 'Begin with' }).inputValue())
    .toBe('The last hour')
})
