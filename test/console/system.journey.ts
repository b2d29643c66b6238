import { expect } from 'vitest'
import { checkPage, fitsPhone, isAt, open, test } from './src/browser.ts'
import { openReceiver } from './src/receiver.ts'
import { createWebhook, request } from './src/service.ts'

test('the system page shows services, lag and backing stores, and the signing keys by purpose', async ({
  page,
}) => {
  await open(page, '/system')
  await page.getByText('All services are ready').waitFor()
  const services = page.getByRole('table', { name: 'Services' })
  for (const name of ['catalog', 'identity', 'media', 'notifier', 'gateway'])
    await services.getByRole('rowheader', { name }).waitFor()
  await expect.poll(() => page.getByRole('table').first().getAttribute('aria-label')).toBe('Backing stores')
  await page.getByText(/^Nothing is behind/).waitFor()
  expect(await page.getByRole('table', { name: 'Lag of projectors' }).count()).toBe(0)
  const showAll = page.getByRole('button', { name: 'Show what is not behind' })
  await showAll.click()
  await page.getByRole('table', { name: 'Lag of projectors' }).getByText('catalog.projector').waitFor()
  await page.getByRole('img', { name: /^Relays: lag in events/ }).waitFor()
  const stores = page.getByRole('table', { name: 'Backing stores' })
  await stores.getByRole('row', { name: /Event log SQLite/ }).waitFor()
  // The address has the unit.
  await page.getByText('Seconds', { exact: true }).click()
  await page.getByRole('img', { name: /^Projectors: lag in seconds/ }).waitFor()
  await page.reload()
  await showAll.click()
  await page.getByRole('img', { name: /^Projectors: lag in seconds/ }).waitFor()
  await page.getByRole('link', { name: 'Signing keys' }).click()
  const logins = page.getByRole('table', { name: 'Keys for login tokens' })
  await logins.getByRole('cell', { name: 'Current Signs now' }).waitFor()
  await page
    .getByRole('table', { name: 'Keys for audit proofs' })
    .getByRole('cell', { name: /^Current/ })
    .waitFor()
  await checkPage(page)
})

test('the state is read again every five seconds until it is paused', async ({ clocked: page }) => {
  let reads = 0
  let answers = 0
  page.on('request', request => {
    if (isAt('/system')(new URL(request.url()))) reads++
  })
  page.on('response', response => {
    if (isAt('/system')(new URL(response.url()))) answers++
  })
  await open(page, '/system')
  await page.getByText('All services are ready').waitFor()
  // From here only the test advances the time.
  await page.clock.pauseAt(Date.now() + 1_000)
  await expect.poll(() => reads - answers).toBe(0)
  const before = reads
  const again = page.waitForResponse(response => isAt('/system')(new URL(response.url())))
  await page.clock.runFor(5_000)
  await again
  expect(reads).toBe(before + 1)
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('paused').waitFor()
  await page.clock.runFor(60_000)
  expect(reads).toBe(before + 1)
})

test('failing webhooks are counted, with a link to them', async ({ page }) => {
  const { url } = await openReceiver(() => ({ status: 500 }))
  const { id, displayName } = await createWebhook({ url, eventTypes: ['PRODUCT_API_ADDED'] })
  await request('POST', `/webhooks/${id}/test`)
  await expect.poll(async () => (await request('GET', `/webhooks/${id}`)).health.failingSince).not.toBe(null)
  await open(page, '/system')
  await page
    .getByRole('alert', { name: /webhooks? (is|are) failing$/ })
    .getByRole('link')
    .click()
  await page.getByRole('link', { name: displayName }).waitFor()
  await fitsPhone(page)
})

test('trouble is named: what a service waits for, a store that is unavailable, and a state that is old', async ({
  page,
}) => {
  await page.route(isAt('/system'), async route => {
    const response = await route.fetch()
    const system = await response.json()
    Object.assign(system.services[0], { status: 'NOT_READY' })
    Object.assign(system.services[0].replicas[0], { status: 'NOT_READY', waitsFor: 'the event log' })
    system.services[1].replicas.push({ ...system.services[1].replicas[0], version: '0.0.9', host: 'other' })
    Object.assign(system.backingStores[0], { status: 'UNAVAILABLE' })
    Object.assign(system.lag[0], { events: 1234567, seconds: 600 })
    await route.fulfill({ response, json: system })
  })
  await open(page, '/system')
  await page.getByText(/catalog is not ready; SQLite is unavailable for catalog/).waitFor()
  await page.getByRole('table', { name: 'Services' }).getByRole('cell', { name: 'the event log' }).waitFor()
  await page.getByText('Replicas run different versions').waitFor()
  await page.getByRole('row', { name: 'catalog.projector 1,234,567 10 min 1,234,567' }).waitFor()
  await page.getByRole('img', { name: /The largest was 1,234,567 of catalog.projector/ }).waitFor()
  await page.unrouteAll()
  await page.route(isAt('/system'), route => route.abort())
  await page.getByRole('button', { name: 'Read now' }).click()
  await page.getByText(/The state is no longer up to date/).waitFor()
  await page.getByRole('table', { name: 'Services' }).waitFor()
  await checkPage(page)
})
