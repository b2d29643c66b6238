import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { checkPage, consoleUrl, isAt, open, readInPagesOf, searchOf, test } from './src/browser.ts'
import { createApi, createUser, createWebhook, logIn, request, unique } from './src/service.ts'

const named = (displayName: string) => createApi({ displayName })

/** The first event of an API. A page may have no event: the service ends it after a time, at any position. */
async function eventOf({ id, createdAt }: { id: string; createdAt: string }) {
  let start = `from=${createdAt}`
  for (;;) {
    const { content, position } = await request('GET', `/events?api=${id}&${start}`)
    if (content[0]) return content[0]
    start = `after=${encodeURIComponent(position)}`
  }
}

const connection = (page: Page, state: string) =>
  page.getByRole('status', { name: 'Connection' }).getByText(state).waitFor()
const row = (page: Page, name: string) => page.getByRole('option').filter({ hasText: name })

/** Opens the feed from the present on, so that the events of other tests are few. */
async function openFeed(page: Page, query = '', authorization?: string) {
  await open(page, `/events?from=${new Date().toISOString()}${query}`, authorization)
  await connection(page, 'Live')
}

test('an event appears without a reload and leads to its API, deliveries and trace; a paused list counts the events that wait', async ({
  page,
}) => {
  const urls: string[] = []
  page.on('request', sent => urls.push(sent.url()))
  await openFeed(page, '&type=API_CREATED')
  const api = await named('Tail of a comet')
  await row(page, 'Tail of a comet').click()
  const event = page.getByRole('region', { name: 'Selected event' })
  await event.getByRole('heading', { name: 'API_CREATED' }).waitFor()
  const { id, traceId } = await eventOf(api)
  const target = (name: string) =>
    event.getByRole('navigation').getByRole('link', { name, exact: true }).getAttribute('href')
  const { pathname } = new URL(consoleUrl)
  await expect.poll(() => target('API')).toBe(`${pathname}/apis/${api.id}`)
  await expect.poll(() => target('Deliveries')).toBe(`${pathname}/deliveries?eventId=${id}`)
  await expect.poll(() => event.getByText(traceId, { exact: true }).count()).toBe(1)
  await expect.poll(() => event.getByRole('region', { name: 'Payload' }).textContent()).toContain(api.name)
  const token = await page.evaluate(() => JSON.parse(sessionStorage.getItem('gantry.session') ?? '{}').token)
  expect(urls.filter(each => each.includes(token))).toEqual([])
  await checkPage(page)

  await page.getByRole('button', { name: 'Pause' }).click()
  await named('During the pause')
  await page.getByText(/^[1-9]\d* waiting$/).waitFor()
  expect(await row(page, 'During the pause').count()).toBe(0)
  await page.getByRole('button', { name: 'Resume' }).click()
  await row(page, 'During the pause').waitFor()
  await named('After the pause')
  await row(page, 'After the pause').waitFor()
})

test('a feed that begins at a time shows the events from then on, and waits before it shows too many; one from the oldest event on loads more on demand', async ({
  page,
}) => {
  const { content } = await request('GET', '/events?size=1&type=API_CREATED')
  // The input has no milliseconds.
  const time = new Date(Math.floor(Date.parse(content[0].time) / 1_000) * 1_000)
  // The time zone of the browser is that of this process.
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
  await openFeed(page)
  await page.getByRole('combobox', { name: 'Begin with' }).click()
  await page.getByRole('option', { name: 'A time' }).click()
  await page.getByLabel(/^Time \(.*date$/).fill(local.slice(0, 10))
  await page.getByLabel(/^Time \(.*time$/).fill(local.slice(11))
  await expect.poll(() => searchOf(page).from).toContain(time.toISOString())
  await page.getByRole('listbox', { name: 'Events' }).press('Home')
  const first = page.getByRole('option').first()
  await expect.poll(() => first.getAttribute('aria-setsize')).toBe('500')
  const shown = (await first.locator('span').first().textContent()) ?? ''
  expect(Date.parse(shown)).toBeGreaterThanOrEqual(time.getTime())
  await page.getByRole('button', { name: 'Resume' }).click()
  await expect.poll(async () => Number(await first.getAttribute('aria-setsize'))).toBeGreaterThan(500)
  await expect.poll(() => page.getByRole('option').count()).toBeLessThan(60)

  await page.getByRole('combobox', { name: 'Begin with' }).click()
  await page.getByRole('option', { name: 'The oldest event' }).click()
  await connection(page, 'More to load')
  expect(await page.getByRole('combobox', { name: 'Order' }).inputValue()).toBe('Oldest first')
  const { content: oldest } = await request('GET', '/events?size=1')
  const oldestShown = async () => Date.parse((await first.locator('span').first().textContent()) ?? '')
  await expect.poll(oldestShown).toBe(Date.parse(oldest[0].time))
  await page.getByRole('button', { name: 'Load 500 more' }).click()
  await expect.poll(async () => Number(await first.getAttribute('aria-setsize'))).toBeGreaterThan(500)
})

test('a feed without a connection says so and continues on demand', async ({ page }) => {
  // The page itself would try again only after a minute.
  const away = { status: 503, headers: { 'retry-after': '60' }, json: { code: 'unavailable', title: 'Away' } }
  await page.route(isAt('/events'), route => route.fulfill(away))
  await open(page, `/events?from=${new Date().toISOString()}&type=API_CREATED`)
  await page.getByRole('alert', { name: 'No new events' }).waitFor()
  await named('During the cut')
  await page.getByText(/Next attempt in (5\d|60) s/).waitFor()
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Try now' }).click()
  await row(page, 'During the cut').waitFor()
  await connection(page, 'Live')
})

test('a feed whose token is revoked asks for the password and continues', async ({ page }) => {
  const reader = await createUser('ADMIN')
  const authorization = await logIn(reader)
  await openFeed(page, '&type=API_CREATED', authorization)
  await request('POST', '/logout', undefined, authorization)
  await named('While nobody is signed in')
  await page.getByLabel(`Password of ${reader.username}`).fill(reader.password)
  await page.getByRole('button', { name: 'Continue' }).click()
  await row(page, 'While nobody is signed in').waitFor()
})

test('the filters of the feed find records by name, and survive a reload with the selected event', async ({
  page,
}) => {
  const name = unique('Survivor')
  const api = await named(name)
  const [first, last] = [unique('aa filter'), unique('zz filter')]
  await createWebhook({ active: false, displayName: first })
  const webhook = await createWebhook({ active: false, displayName: last })
  const { totalElements } = await request('GET', '/webhooks')
  await readInPagesOf(page, Math.ceil(totalElements / 2), '/webhooks')
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
  const selected = page.getByRole('region', { name: 'Selected event' })
  await selected.getByText(api.id, { exact: true }).first().waitFor()
  await expect.poll(() => page.getByRole('option').count()).toBe(1)
  expect(searchOf(page)).toMatchObject({ api: api.id, type: '["API_CREATED"]', since: 'all' })
  const chosen = page.getByRole('combobox', { name: 'API', exact: true })
  await expect.poll(() => chosen.inputValue()).toContain(name)

  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByRole('combobox', { name: 'Webhook', exact: true }).fill(last)
  const found = page.getByRole('listbox', { name: 'Webhook', exact: true })
  await found.getByRole('option', { name: last }).click()
  await expect.poll(() => searchOf(page).webhook).toBe(webhook.id)
  const { position } = await eventOf(api)
  await page.getByLabel('After a position').fill(position)
  await page.getByRole('button', { name: 'Follow', exact: true }).click()
  await expect.poll(() => searchOf(page).after).toBe(position)
})

test('a feed that cannot begin as asked says why, and offers the oldest event if its events were removed', async ({
  page,
}) => {
  await open(page, '/events?type=NO_SUCH_TYPE')
  const alert = page.getByRole('alert', { name: /The events cannot be read/ })
  await alert.getByText(/NO_SUCH_TYPE/).waitFor()

  const { position: oldestPosition } = await request('GET', '/events?size=1')
  const title = 'Events after this position have been removed'
  const problem = { code: 'position-gone', title, detail: 'because of their age', oldestPosition }
  await page.route(
    target => isAt('/events')(target) && target.searchParams.get('after') === 'gone',
    route => route.fulfill({ status: 410, json: problem }),
  )
  await page.goto(`${consoleUrl}/events?after=gone`)
  await page.getByRole('button', { name: 'Continue with the oldest event' }).click()
  await page.getByRole('option').first().waitFor()
})
