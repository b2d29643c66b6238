import { expect } from 'vitest'
import { checkPage, signIn, test, url } from './src/browser.ts'

test('the system page shows services, lag and backing stores', async ({ signedIn: page }) => {
  await page.goto(`${url}/console/system`)
  await page.getByText('All services are ready').waitFor()
  const services = page.getByRole('table', { name: 'Services' })
  for (const name of ['catalog', 'identity', 'media', 'notifier', 'gateway'])
    await services.getByRole('rowheader', { name }).waitFor()
  await page.getByRole('table', { name: 'Lag of projectors' }).getByText('catalog.projector').waitFor()
  await page.getByRole('img', { name: /^Relays: lag in events/ }).waitFor()
  const stores = page.getByRole('table', { name: 'Backing stores' })
  await stores.getByRole('row', { name: /Event log SQLite/ }).waitFor()
  await checkPage(page, 'system')
})

test('the lag is shown in seconds, and the URL keeps it', async ({ signedIn: page }) => {
  await page.goto(`${url}/console/system`)
  await page.getByText('Seconds', { exact: true }).click()
  await page.getByRole('img', { name: /^Projectors: lag in seconds/ }).waitFor()
  await page.reload()
  await page.getByRole('img', { name: /^Projectors: lag in seconds/ }).waitFor()
})

test('the state is read again every five seconds until it is paused', async ({ page }) => {
  await page.clock.install()
  const isRead = (address: string) => new URL(address).pathname === '/system'
  let reads = 0
  let answers = 0
  page.on('request', request => {
    if (isRead(request.url())) reads++
  })
  page.on('response', response => {
    if (isRead(response.url())) answers++
  })
  await signIn(page, '/system')
  await page.getByText('All services are ready').waitFor()
  // From here only the test advances the time.
  await page.clock.pauseAt(Date.now() + 1_000)
  await expect.poll(() => reads - answers).toBe(0)
  const before = reads
  const again = page.waitForResponse(response => isRead(response.url()))
  await page.clock.runFor(5_000)
  await again
  expect(reads).toBe(before + 1)
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('paused').waitFor()
  await page.clock.runFor(60_000)
  expect(reads).toBe(before + 1)
})

test('trouble is named: what a service waits for, and a store that is unavailable', async ({
  signedIn: page,
}) => {
  await page.route(`${url}/system`, async route => {
    const response = await route.fetch()
    const system = await response.json()
    Object.assign(system.services[0], { status: 'NOT_READY' })
    Object.assign(system.services[0].replicas[0], { status: 'NOT_READY', waitsFor: 'the event log' })
    system.services[1].replicas.push({ ...system.services[1].replicas[0], version: '0.0.9', host: 'other' })
    Object.assign(system.backingStores[0], { status: 'UNAVAILABLE' })
    Object.assign(system.lag[0], { events: 1234567, seconds: 600 })
    await route.fulfill({ response, json: system })
  })
  await page.goto(`${url}/console/system`)
  await page.getByText(/catalog is not ready; SQLite is unavailable for catalog/).waitFor()
  await page.getByRole('table', { name: 'Services' }).getByText('the event log').waitFor()
  await page.getByText('Replicas run different versions').waitFor()
  await page.getByRole('row', { name: 'catalog.projector 1,234,567 10 min 1,234,567' }).waitFor()
  await page.getByRole('img', { name: /The largest was 1,234,567 of catalog.projector/ }).waitFor()
  await checkPage(page, 'system-trouble')
})

test('a state that cannot be read again stays, and is marked as old', async ({ signedIn: page }) => {
  await page.goto(`${url}/console/system`)
  await page.getByText('All services are ready').waitFor()
  await page.route(`${url}/system`, route => route.abort())
  await page.getByRole('button', { name: 'Read now' }).click()
  await page.getByText(/The state is no longer up to date/).waitFor()
  await page.getByRole('table', { name: 'Services' }).waitFor()
  await checkPage(page, 'system-failed')
})

test('the signing keys are listed by purpose with their state', async ({ signedIn: page }) => {
  await page.goto(`${url}/console/system`)
  await page.getByRole('link', { name: 'Signing keys' }).click()
  const logins = page.getByRole('table', { name: 'Keys for login tokens' })
  await logins.getByText('Signs now').waitFor()
  await page.getByRole('table', { name: 'Keys for audit proofs' }).getByText('Current').waitFor()
  await checkPage(page, 'signing-keys')
})
