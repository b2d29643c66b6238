import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { checkPage, consoleUrl, fitsPhone, isAt, open, searchOf, test } from './src/browser.ts'
import { openReceiver, type Receiver } from './src/receiver.ts'
import { createApi, createWebhook, request, tokenWith, unique } from './src/service.ts'

interface Delivery {
  id: string
  eventId: string
}

const failing: Receiver['respond'] = () => ({ status: 500, body: 'out of order' })
const API = randomUUID()
/** The events of the demo APIs, so many that a recovery takes seconds. */
const DEMO_EVENTS = ['API_CREATED', 'API_VERSION_CREATED']

/** Creates a webhook for additions of APIs to products. @returns its id */
async function subscribe({ url }: Receiver, changes: object = {}): Promise<string> {
  return (await createWebhook({ url, eventTypes: ['PRODUCT_API_ADDED'], ...changes })).id
}

/** Publishes an event that names an API. */
async function happen(api = API, type = 'PRODUCT_API_ADDED'): Promise<void> {
  const data = { product: randomUUID(), api }
  const event = { specversion: '1.0', id: randomUUID(), source: '/test', type, subject: 's', data }
  await request('POST', '/events', event)
}

/** Sends a test delivery to a failing receiver. It is given up after its only attempt. @returns the path of its page */
async function givenUp(webhook: string): Promise<string> {
  const { id } = await request('POST', `/webhooks/${webhook}/test`)
  await deliveries(webhook, 'GIVE_UP')
  return `/webhooks/${webhook}/deliveries/${id}`
}

/** The deliveries of a webhook with a status, when there are as many. The newest one is first. */
async function deliveries(webhook: string, status: string, count = 1): Promise<Delivery[]> {
  const read = () => request('GET', `/webhooks/${webhook}/requests?status=${status}`)
  await expect.poll(async () => (await read()).totalElements).toBe(count)
  return (await read()).content
}

/** The path of the page of the only delivery with a status. */
async function pageOf(webhook: string, status: string): Promise<string> {
  const [delivery] = await deliveries(webhook, status)
  return `/webhooks/${webhook}/deliveries/${delivery?.id}`
}

test('the page of a delivery shows what was sent and answered, whose fault it is, and when the next attempt is, until it is cancelled', async ({
  page,
}) => {
  const webhook = await subscribe(await openReceiver(failing))
  await happen()
  await open(page, await pageOf(webhook, 'RETRYING'))
  await page.getByRole('heading', { level: 1, name: 'PRODUCT_API_ADDED' }).waitFor()
  await page.getByRole('heading', { name: 'Attempt 1 failed' }).waitFor()
  const why = page.getByRole('alert', { name: 'The receiver answered with status 500.' })
  await why.getByText('This is a fault of the receiver.').waitFor()
  await page.getByText('This is a fault of the receiver.').first().waitFor()
  await expect
    .poll(() => page.getByRole('timer').first().textContent())
    .toMatch(/^(in \d+ (s|min \d+ s)|now)$/)
  await page.getByRole('button', { name: 'Request' }).last().click()
  await page.getByRole('rowheader', { name: 'webhook-id' }).waitFor()
  await page.getByText('out of order').first().waitFor()
  await page.getByRole('region', { name: 'Payload' }).getByText(API).waitFor()
  await checkPage(page)
  await fitsPhone(page)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Cancelled').waitFor()
  await page.getByRole('button', { name: 'Retry now' }).waitFor()
  expect(await page.getByRole('timer').count()).toBe(0)
})

test('the event and the trace of a delivery open in the feed of events', async ({ page }) => {
  const webhook = await subscribe(await openReceiver())
  await happen()
  const [delivery] = await deliveries(webhook, 'SUCCESS')
  await open(page, await pageOf(webhook, 'SUCCESS'))
  await page.getByRole('link', { name: delivery?.eventId }).click()
  const selected = page.getByRole('region', { name: 'Selected event' })
  await selected.getByRole('heading', { name: 'PRODUCT_API_ADDED' }).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: /^[0-9a-f]{32}$/ }).click()
  await page.getByText('PRODUCT_API_ADDED').first().waitFor()
})

test('a delivery that was given up is retried, and its success is shown without reading the page again', async ({
  page,
}) => {
  const inbox = await openReceiver(failing)
  const webhook = await subscribe(inbox)
  await open(page, await givenUp(webhook))
  await page.getByText('Given up').waitFor()
  expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0)
  inbox.respond = () => ({ status: 204 })
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByText('The retry has succeeded.').waitFor()
  await page.getByRole('heading', { name: 'Attempt 2 succeeded' }).waitFor()
  await page.getByText('Requested by a user').waitFor()
  expect(await page.getByRole('button', { name: 'Retry now' }).count()).toBe(0)
  expect(inbox.received).toHaveLength(2)
})

test('the selected deliveries of a list are retried together, and a click on a row opens it', async ({
  page,
}) => {
  const inbox = await openReceiver(failing)
  const webhook = await subscribe(inbox)
  for (let each = 0; each < 2; each++) await happen()
  await deliveries(webhook, 'RETRYING', 2)
  await open(page, `/webhooks/${webhook}?tab=deliveries`)
  const retry = page.getByRole('button', { name: 'Retry selected' })
  await expect.poll(() => retry.isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Select the 2 on this page that can be retried' }).click()
  const [first] = await deliveries(webhook, 'RETRYING', 2)
  const refusal = { type: 'about:blank', status: 409, code: 'delivery-finished', title: 'It has succeeded' }
  await page.route(isAt(`/webhooks/requests/${first?.id}/retry`), route =>
    route.fulfill({ status: 409, json: refusal }),
  )
  await page.getByRole('button', { name: 'Retry 2 selected' }).click()
  await page.getByText('1 retry started: 0 delivered, 1 failed.').waitFor()
  await page.getByRole('alert', { name: '1 of 2 retries refused' }).waitFor()
  await page.getByRole('alert').getByText('It has succeeded').waitFor()
  await checkPage(page)
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Select the 2 on this page that can be retried' }).click()
  inbox.respond = () => ({ status: 204 })
  await page.getByRole('button', { name: 'Retry 2 selected' }).click()
  await page.getByText('2 retries started: 2 delivered, 0 failed.').waitFor()
  const row = page.getByRole('row').filter({ hasText: 'Delivered' }).first()
  await row.getByRole('cell').last().click()
  // On a slow machine an automatic attempt is made before the requested one.
  await page.getByRole('heading', { name: /^Attempt \d+ succeeded$/ }).waitFor()
})

test('a delivery of an ordered webhook names the delivery that blocks it, with a link', async ({ page }) => {
  const webhook = await subscribe(await openReceiver(failing), { ordered: true })
  await happen()
  const blocker = await pageOf(webhook, 'RETRYING')
  for (let each = 0; each < 2; each++) await happen()
  const [last] = await deliveries(webhook, 'CREATED', 2)
  await open(page, `/webhooks/${webhook}/deliveries/${last?.id}`)
  const waiting = page.getByRole('alert', { name: 'Waits for an earlier delivery' })
  await waiting.getByText('Then 1 other delivery comes first').waitFor()
  await waiting.getByRole('link').first().click()
  await page.getByRole('heading', { name: 'Attempt 1 failed' }).waitFor()
  expect(page.url().split('?')[0]).toBe(`${consoleUrl}${blocker}`)
})

test('deliveries that wait because the attempts to their webhook are paused say so, why, and until when', async ({
  page,
}) => {
  const webhook = await subscribe(await openReceiver(failing))
  for (let each = 0; each < 10; each++) await happen()
  await expect
    .poll(async () => (await request('GET', `/webhooks/${webhook}`)).health.circuit)
    .not.toBe('CLOSED')
  for (let each = 0; each < 10; each++) await happen()
  await open(page, `/webhooks/${webhook}`)
  const alarm = page.getByRole('alert', { name: 'The latest attempts have failed' })
  await alarm.getByText('One delivery is tried').waitFor()
  await alarm.getByText('The receiver answered with status 500.').waitFor()
  await alarm.getByRole('link', { name: 'Show the deliveries, the last failed one first' }).click()
  await page.getByRole('row').nth(1).getByText('The receiver answered with status 500.').last().waitFor()
  const row = page.getByRole('row').filter({ hasText: 'Paused' }).last()
  await row.getByText('after the next probe').waitFor()
  await checkPage(page)
  await row.getByRole('link').first().click()
  const waits = page.getByRole('alert', { name: 'Waits: the attempts to the webhook are paused' })
  await waits.getByText('The receiver answered with status 500.').waitFor()
  await page.getByText('not before the pause ends').first().waitFor()
  await checkPage(page)
  await fitsPhone(page)
})

test('the list of a webhook shows new statuses of pending deliveries without reading the page again', async ({
  page,
}) => {
  const webhook = await subscribe(await openReceiver(failing))
  await happen()
  const [delivery] = await deliveries(webhook, 'RETRYING')
  await open(page, `/webhooks/${webhook}?tab=deliveries`)
  const row = page.getByRole('row').filter({ hasText: 'PRODUCT_API_ADDED' })
  await row.getByText('Retrying').waitFor()
  await request('POST', `/webhooks/requests/${delivery?.id}/cancel`)
  await row.getByText('Cancelled').waitFor()
})

test('the list of all deliveries is filtered, and the filters are in the URL', async ({ page }) => {
  const [api, other] = [randomUUID(), randomUUID()]
  const inbox = await openReceiver(body => ({ status: body.includes(other) ? 500 : 200 }))
  const webhook = await subscribe(inbox, { eventTypes: ['PRODUCT_API_ADDED', 'PRODUCT_API_REMOVED'] })
  await happen(other)
  await happen(api)
  await happen(api, 'PRODUCT_API_REMOVED')
  await deliveries(webhook, 'SUCCESS', 2)
  await open(page, `/deliveries?api=${api}`)
  const rows = page.getByRole('row').filter({ hasText: 'PRODUCT_API' })
  const shows = (count: number) => expect.poll(() => rows.count()).toBe(count)
  await shows(2)
  await page.getByRole('combobox', { name: 'Event type' }).click()
  await page.getByRole('option', { name: 'PRODUCT_API_REMOVED' }).click()
  await shows(1)
  expect(searchOf(page).eventType).toBe('PRODUCT_API_REMOVED')
  await page.reload()
  await shows(1)
  await page.getByRole('combobox', { name: 'Status' }).click()
  await page.getByRole('option', { name: 'Retrying' }).click()
  await page.getByRole('heading', { name: 'No delivery matches' }).waitFor()
  await page.getByRole('button', { name: 'Remove all filters' }).click()
  await expect.poll(() => searchOf(page)).toEqual({})
  await rows.nth(2).waitFor()
  const [failed] = await deliveries(webhook, 'RETRYING')
  await page.getByLabel('Event id').fill('half an id')
  await page.getByText('This is not an id').waitFor()
  await page.getByLabel('Event id').fill(failed?.eventId ?? '')
  await shows(1)
  await page.getByLabel('Created until (UTC): date').fill('2020-01-01')
  await page.getByRole('heading', { name: 'No delivery matches' }).waitFor()
  expect(searchOf(page).to).toBe('2020-01-01T23:59:59.999Z')
})

test('the list of all deliveries is filtered by a part of the name of an API, and by the webhook', async ({
  page,
}) => {
  const name = unique('tides')
  const [found] = [await createApi({ displayName: `Sea ${name}` }), await createApi()]
  const displayName = unique('By name')
  const webhook = await subscribe(await openReceiver(), { displayName })
  await happen(found.id)
  await happen()
  await deliveries(webhook, 'SUCCESS', 2)
  await open(page, '/deliveries?eventType=PRODUCT_API_ADDED')
  const rows = page.getByRole('row').filter({ hasText: displayName })
  await expect.poll(() => rows.count()).toBe(2)
  const byName = page.getByLabel('API name contains')
  expect(await byName.isVisible()).toBe(false)
  await page.getByRole('button', { name: 'More filters' }).click()
  await byName.fill(name.slice(0, 10))
  await expect.poll(() => rows.count()).toBe(1)
  await rows.getByRole('cell', { name: `Sea ${name}`, exact: true }).waitFor()
  await page.getByLabel('API name contains').fill('no such name at all')
  await page.getByRole('heading', { name: 'No delivery matches' }).waitFor()
  await page.getByRole('button', { name: 'Remove all filters' }).click()
  await page.getByRole('combobox', { name: 'Webhook' }).fill(displayName)
  await page.getByRole('option', { name: displayName }).click()
  await expect.poll(() => searchOf(page)).toEqual({ webhook })
  await expect.poll(() => page.getByRole('row').count()).toBe(3)
})

test('a delivery of a deleted webhook opens from the list and offers no retry', async ({ page }) => {
  const webhook = await subscribe(await openReceiver(failing))
  await happen()
  const [delivery] = await deliveries(webhook, 'RETRYING')
  await request('DELETE', `/webhooks/${webhook}`)
  await open(page, `/deliveries?eventId=${delivery?.eventId}`)
  await page.getByRole('cell', { name: '(deleted)' }).first().waitFor()
  await page.getByRole('link', { name: 'PRODUCT_API_ADDED' }).first().click()
  await page.getByRole('heading', { name: 'Attempt 1 failed' }).waitFor()
  await page.getByText('(deleted)').first().waitFor()
  expect(await page.getByRole('button', { name: 'Retry now' }).count()).toBe(0)
  const areas = page.getByRole('navigation', { name: 'Areas' })
  await areas.locator('[aria-current="page"]').getByText('Deliveries').waitFor()
  await page
    .getByRole('navigation', { name: 'Breadcrumbs' })
    .getByRole('link', { name: 'Deliveries' })
    .click()
  await page.getByRole('status').getByText('1 delivery', { exact: true }).waitFor()
  expect(searchOf(page)).toEqual({ eventId: delivery?.eventId })
})

test('a session that may only read sees no actions and no form for recoveries', async ({ page }) => {
  const webhook = await subscribe(await openReceiver(failing))
  await happen()
  await open(page, await pageOf(webhook, 'RETRYING'), await tokenWith(['WEBHOOKS_READ']))
  await page.getByRole('heading', { name: 'Attempt 1 failed' }).waitFor()
  await page.getByText('Your role does not allow to read the payload').waitFor()
  expect(await page.getByRole('button', { name: 'Retry now' }).count()).toBe(0)
  await page.goto(`${consoleUrl}/webhooks/${webhook}?tab=recoveries`)
  await page.getByText('There was no recovery of this webhook yet.').waitFor()
  expect(await page.getByRole('button', { name: 'Start recovery' }).count()).toBe(0)
})

test('a recovery is refused at its field if it has not begun, asks first, shows its progress, and is cancelled', async ({
  page,
}) => {
  const inbox = await openReceiver()
  const webhook = await subscribe(inbox, { displayName: 'Late', eventTypes: DEMO_EVENTS })
  await open(page, `/webhooks/${webhook}?tab=recoveries`)
  await page.getByText('There was no recovery of this webhook yet.').waitFor()
  const to = page.getByLabel('Until (UTC): date')
  await to.fill('2999-01-01')
  await page.getByRole('button', { name: 'Start recovery' }).click()
  await expect.poll(() => to.getAttribute('aria-invalid')).toBe('true')
  await expect.poll(() => to.inputValue()).toBe('2999-01-01')
  await to.fill('')
  const start = page.getByRole('button', { name: 'Start recovery' })
  await start.click()
  const asking = page.getByRole('dialog', { name: /^Send [1-9][\d,]* events\?$/ })
  await asking.getByText(/^The webhook asks for [1-9][\d,]* events/).waitFor()
  expect((await request('GET', `/webhooks/${webhook}/recoveries`)).totalElements).toBe(0)
  await asking.getByRole('button', { name: /^Send/ }).click()
  const recovery = page.getByRole('region', { name: /^Recovery of/ })
  await recovery.getByText('Running').waitFor()
  await recovery.getByText(/^[1-9][\d,]* of [1-9][\d,]+ events examined/).waitFor()
  await expect.poll(() => start.isDisabled()).toBe(true)
  await recovery.getByRole('button', { name: 'Cancel' }).click()
  await recovery.getByText('Cancelled').waitFor()
  await checkPage(page)
  await expect.poll(() => inbox.received.length).toBeGreaterThan(0)
})
