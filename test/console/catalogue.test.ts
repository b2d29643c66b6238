import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { checkPage, signIn, test, url } from './src/browser.ts'
import { grid, type Scrolled, scrollThrough, untilInteractive } from './src/measure.ts'

const KIB = 1024

const rows = (page: Page) => grid(page).getByRole('row')
const searchBox = (page: Page) => page.getByRole('searchbox', { name: 'Search APIs' })
const found = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()

const MOST_PASSES = 5

test('the catalogue is accessible', async ({ signedIn: page }) => {
  await rows(page).nth(5).waitFor()
  await checkPage(page, 'catalogue')
})

test('the first page takes at most 250 KB gzipped', async ({ signedIn: page }) => {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  const sizes: Promise<number>[] = []
  page.on('response', response => {
    if (['document', 'script', 'stylesheet'].includes(response.request().resourceType()))
      sizes.push(response.headerValue('content-length').then(Number))
  })
  await page.goto(`${url}/console/apis`, { waitUntil: 'networkidle' })
  await rows(page).nth(5).waitFor()
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  // Less would mean that the files came from a cache.
  expect(total).toBeGreaterThan(100 * KIB)
  expect(total).toBeLessThanOrEqual(250 * KIB)
})

test('the first page is interactive within 3 s on a processor that is 4 times slower', async ({
  signedIn: page,
}) => {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  const passes: number[] = []
  // Programs beside this one take time too: a page that is slow is so in every pass.
  while (passes.length < MOST_PASSES && !passes.some(elapsed => elapsed < 3_000))
    passes.push(await untilInteractive(page, `${url}/console`))
  expect(Math.min(...passes)).toBeLessThan(3_000)
})

test('scrolling through all APIs keeps at most 200 rows and no frame takes over 200 ms', async ({
  signedIn: page,
}) => {
  await rows(page).nth(5).waitFor()
  const longestOf = ({ frames }: Scrolled) => Math.max(...frames)
  const passes: Scrolled[] = []
  // Programs beside this one prolong frames too: a list that is slow is so in every pass.
  while (passes.length < MOST_PASSES && !passes.some(pass => longestOf(pass) <= 200))
    passes.push(await scrollThrough(page))
  expect(Math.min(...passes.map(longestOf))).toBeLessThanOrEqual(200)
  expect(Math.max(...passes.map(({ mostRows }) => mostRows))).toBeLessThanOrEqual(200)
  expect(await grid(page).getAttribute('aria-rowcount')).toBe('2640')
  await grid(page).locator('[aria-rowindex="2640"][aria-busy=false]').waitFor()
})

test('a jump by the scrollbar reads the page of the visible rows only', async ({ signedIn: page }) => {
  await rows(page).nth(5).waitFor()
  const pages: (string | null)[] = []
  page.on('request', request => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname === '/apis') pages.push(searchParams.get('page'))
  })
  await grid(page).evaluate(element => {
    element.scrollTop = 1_250 * 60
  })
  await grid(page).locator('[aria-rowindex="1252"][aria-busy=false]').waitFor()
  expect(pages).toEqual(['13'])
})

test('the search runs while one types, marks the matches and keeps the focus', async ({ signedIn: page }) => {
  await searchBox(page).pressSequentially('groundhog weather', { delay: 20 })
  await found(page, '1 API matches')
  expect(await grid(page).locator('mark').allTextContents()).toEqual(
    expect.arrayContaining(['Groundhog', 'groundhog', 'weather']),
  )
  await searchBox(page).and(page.locator(':focus')).waitFor()
  expect(new URL(page.url()).searchParams.get('search')).toBe('groundhog weather')
  // Each letter replaced the address, so that one step back leaves the catalogue as it was.
  await page.reload()
  await found(page, '1 API matches')
  expect(await searchBox(page).inputValue()).toBe('groundhog weather')
})

test('a search for which the answer is late shows the earlier results until then', async ({
  signedIn: page,
}) => {
  await rows(page).nth(5).waitFor()
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  await page.route('**/apis?*text=groundhog*', async route => {
    await released
    await route.continue()
  })
  const asked = page.waitForRequest('**/apis?*text=groundhog*')
  await searchBox(page).fill('groundhog')
  await asked
  expect(await rows(page).count()).toBeGreaterThan(5)
  release()
  await found(page, '1 API matches')
})

test('a request for letters that are outdated is aborted', async ({ signedIn: page }) => {
  await rows(page).nth(5).waitFor()
  await page.route('**/apis?*text=groundho&*', () => {})
  const asked = page.waitForRequest('**/apis?*text=groundho&*')
  const aborted = page.waitForEvent('requestfailed', request => request.url().includes('text=groundho&'))
  await searchBox(page).fill('groundho')
  await asked
  await searchBox(page).fill('groundhog')
  await aborted
  await found(page, '1 API matches')
})

test('facets narrow the list, are in the address and survive a reload', async ({ signedIn: page }) => {
  await page.getByRole('button', { name: 'Tags' }).click()
  const tags = page.getByRole('dialog', { name: 'Tags' })
  await tags.getByRole('textbox', { name: 'Search tags' }).fill('medi')
  await checkPage(page, 'catalogue-facet')
  await tags.getByRole('checkbox', { name: /^media/ }).check()
  await found(page, '360 APIs match')
  await tags.getByRole('textbox', { name: 'Search tags' }).fill('analyt')
  await tags.getByRole('checkbox', { name: /^analytics/ }).check()
  await found(page, '302 APIs match')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Status' }).click()
  await page.getByRole('checkbox', { name: /^Active/ }).check()
  await page.keyboard.press('Escape')
  await page.reload()
  await found(page, '302 APIs match')
  const chosen = page.getByRole('list', { name: 'Chosen filters' })
  for (const name of ['Tags: media', 'Tags: analytics', 'Status: Active'])
    await chosen.getByText(name).waitFor()
  await checkPage(page, 'catalogue-filtered')
  await chosen.getByRole('button', { name: 'Remove the filter Tags: analytics' }).click()
  await found(page, '360 APIs match')
  await chosen.getByRole('button', { name: 'Clear all' }).click()
  await found(page, '2,639 APIs')
  expect(new URL(page.url()).search).toBe('')
})

test('a header and the order menu sort the list', async ({ signedIn: page }) => {
  await grid(page).getByRole('button', { name: 'Changed' }).click()
  await expect.poll(() => page.getByLabel('Order').inputValue()).toBe('updatedAt,asc')
  await page.getByLabel('Order').selectOption('Name, Z to A')
  const header = grid(page).getByRole('columnheader', { name: 'Name' })
  await expect.poll(() => header.getAttribute('aria-sort')).toBe('descending')
  expect(new URL(page.url()).searchParams.get('sort')).toBe('displayName,desc')
})

test('the arrow keys move between rows', async ({ signedIn: page }) => {
  await rows(page).nth(5).waitFor()
  await grid(page).focus()
  const active = () => grid(page).getAttribute('aria-activedescendant')
  await page.keyboard.press('ArrowDown')
  expect(await active()).toBe('api-row-1')
  await page.keyboard.press('End')
  await expect.poll(active).toBe('api-row-2638')
  await page.keyboard.press('Home')
  await expect.poll(active).toBe('api-row-0')
})

test('an empty result offers to clear the filters', async ({ page }) => {
  await signIn(page, '/apis?search=nothing-has-this-name')
  await page.getByRole('heading', { name: 'No API matches' }).waitFor()
  await checkPage(page, 'catalogue-empty')
  await page.getByRole('button', { name: 'Clear search and filters' }).click()
  await rows(page).nth(5).waitFor()
})

test('a list that cannot be read says why and can be read again', async ({ page }) => {
  await page.route('**/apis?*', route =>
    route.fulfill({
      status: 500,
      contentType: 'application/problem+json',
      body: JSON.stringify({ status: 500, code: 'internal', title: 'Internal error', detail: 'It failed.' }),
    }),
  )
  await signIn(page)
  await page.getByRole('alert', { name: 'The APIs cannot be listed' }).waitFor()
  await checkPage(page, 'catalogue-failing')
  await page.unroute('**/apis?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await rows(page).nth(5).waitFor()
})
