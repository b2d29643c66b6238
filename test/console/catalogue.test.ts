import { setTimeout } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { checkPage, request, signIn, test, url } from './src/browser.ts'
import { grid, type Scrolled, scrollThrough, untilInteractive } from './src/measure.ts'

const KB = 1_000

const rows = (page: Page) => grid(page).getByRole('row')
const searchBox = (page: Page) => page.getByRole('searchbox', { name: 'Search APIs' })
const facet = (page: Page, name: string) =>
  page.getByRole('group', { name: 'Filters' }).getByRole('button', { name })
const found = (page: Page, text: string) =>
  page.getByRole('status').getByText(text, { exact: true }).waitFor()

const MOST_PASSES = 15
/** Pixels of about 27 rows, so that a pass takes about a hundred frames. */
const STEP = 1_600

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
  expect(total).toBeGreaterThan(100 * KB)
  expect(total).toBeLessThanOrEqual(250 * KB)
})

test('the first page is interactive within 3 s on a processor that is 4 times slower', async ({
  signedIn: page,
}) => {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  const passes: number[] = []
  // Other processes use CPU time too, so the best of several passes counts.
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
  // Other processes use CPU time too, so the best of several passes counts.
  while (passes.length < MOST_PASSES && !passes.some(pass => longestOf(pass) <= 200))
    passes.push(await scrollThrough(page, STEP))
  expect(Math.min(...passes.map(longestOf))).toBeLessThanOrEqual(200)
  expect(Math.max(...passes.map(({ mostRows }) => mostRows))).toBeLessThanOrEqual(200)
  const count = Number(await grid(page).getAttribute('aria-rowcount'))
  expect(count).toBeGreaterThanOrEqual(2_640)
  await grid(page).locator(`[aria-rowindex="${count}"][aria-busy=false]`).waitFor()
})

/** Shows the last row of the list. @returns whether it has been read */
async function showsLastRow(page: Page): Promise<boolean> {
  await grid(page).evaluate(element => {
    element.scrollTop = element.scrollHeight
  })
  const last = await grid(page).getAttribute('aria-rowcount')
  return (await grid(page).locator(`[aria-rowindex="${last}"][aria-busy=false]`).count()) === 1
}
const createApi = () =>
  request('POST', '/apis', {
    name: `counted-${crypto.randomUUID()}`,
    displayName: 'Counted',
    url: 'https://example.com/',
    status: 'ACTIVE',
    tags: [],
  })

test('the list has its last row after another person has deleted an API', async ({ signedIn: page }) => {
  const { id } = await createApi()
  await page.goto(`${url}/console/apis`)
  await rows(page).nth(5).waitFor()
  await request('DELETE', `/apis/${id}`)
  await expect.poll(() => showsLastRow(page)).toBe(true)
})

test('the list has its last row after another person has added an API', async ({ page, onTestFinished }) => {
  await page.clock.install()
  await signIn(page)
  await rows(page).nth(5).waitFor()
  await page.clock.fastForward(3_000)
  await expect.poll(() => showsLastRow(page)).toBe(true)
  const { id } = await createApi()
  onTestFinished(() => request('DELETE', `/apis/${id}`))
  await grid(page).evaluate(element => {
    element.scrollTop = 0
  })
  await rows(page).nth(5).waitFor()
  // The first page is old enough to be read again, the last one is not. A change by another test may have made the first
  // page new already.
  await page.clock.fastForward(3_000)
  const isFirst = (address: string) => new URL(address).searchParams.get('page') === '1'
  const again = page.waitForResponse(response => isFirst(response.url()), { timeout: 10_000 }).catch(() => {})
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
  await again
  await expect.poll(() => showsLastRow(page)).toBe(true)
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

test('the search runs while the user types, marks the matches and keeps the focus', async ({
  signedIn: page,
}) => {
  await searchBox(page).pressSequentially('groundhog weather', { delay: 20 })
  await found(page, '1 API matches')
  await expect
    .poll(() => grid(page).locator('mark').allTextContents())
    .toEqual(expect.arrayContaining(['Groundhog', 'groundhog', 'weather']))
  await searchBox(page).and(page.locator(':focus')).waitFor()
  expect(new URL(page.url()).searchParams.get('search')).toBe('groundhog weather')
  // The URL has the whole search.
  await page.reload()
  await found(page, '1 API matches')
  await expect.poll(() => searchBox(page).inputValue()).toBe('groundhog weather')
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
  await expect.poll(() => rows(page).count()).toBeGreaterThan(5)
  release()
  await found(page, '1 API matches')
})

test('a page that is opened right after typing stays open', async ({ signedIn: page }) => {
  await rows(page).nth(5).waitFor()
  // The code of the page loads after the search has begun.
  await page.route('**/console/assets/**', async route => {
    await setTimeout(400)
    await route.continue()
  })
  await searchBox(page).fill('weather')
  await page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name: 'Webhooks' }).click()
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor({ timeout: 5_000 })
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
  await facet(page, 'Tags').click()
  const tags = page.getByRole('dialog', { name: 'Tags' })
  await tags.getByRole('textbox', { name: 'Search tags' }).fill('medi')
  await checkPage(page, 'catalogue-facet')
  await tags.getByRole('checkbox', { name: /^media/ }).check()
  await found(page, '360 APIs match')
  await tags.getByRole('textbox', { name: 'Search tags' }).fill('analyt')
  await tags.getByRole('checkbox', { name: /^analytics/ }).check()
  await found(page, '294 APIs match')
  await page.keyboard.press('Escape')
  await facet(page, 'Status').click()
  await page.getByRole('checkbox', { name: /^Active/ }).check()
  await page.keyboard.press('Escape')
  await page.reload()
  await found(page, '294 APIs match')
  const chosen = page.getByRole('list', { name: 'Chosen filters' })
  for (const name of ['Tags: media', 'Tags: analytics', 'Status: Active'])
    await chosen.getByText(name).waitFor()
  await checkPage(page, 'catalogue-filtered')
  await chosen.getByRole('button', { name: 'Remove the filter Tags: analytics' }).click()
  await found(page, '360 APIs match')
  await chosen.getByRole('button', { name: 'Clear all' }).click()
  await page
    .getByRole('status')
    .getByText(/^[\d,]+ APIs$/)
    .waitFor()
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
  await expect.poll(() => active()).toBe('api-row-1')
  await page.keyboard.press('End')
  const last = Number(await grid(page).getAttribute('aria-rowcount')) - 2
  await expect.poll(active).toBe(`api-row-${last}`)
  await page.keyboard.press('Home')
  await expect.poll(active).toBe('api-row-0')
})

test('an empty result offers to clear the filters', async ({ page }) => {
  await signIn(page, '/apis?search=nothing-has-this-name')
  await page.getByRole('heading', { name: 'No API matches' }).waitFor()
  await checkPage(page, 'catalogue-empty')
  await page.getByRole('button', { name: 'Clear search and filters' }).click()
  await rows(page).nth(5).waitFor()
  await expect.poll(() => searchBox(page).inputValue()).toBe('')
})

test('the back button restores a search that was cleared', async ({ page }) => {
  await signIn(page, '/apis?search=nothing-has-this-name')
  await page.getByRole('button', { name: 'Clear search and filters' }).click()
  await rows(page).nth(5).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'No API matches' }).waitFor()
  await expect.poll(() => searchBox(page).inputValue()).toBe('nothing-has-this-name')
})

test('parts of the address that the list does not know are left out', async ({ page }) => {
  await signIn(page, '/apis?status=UNKNOWN&sort=size,asc&other=1')
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

/** Creates APIs with a name of their own and shows them in the catalogue. */
async function withApis(page: Page, word: string, count: number) {
  const apis: { id: string; name: string }[] = []
  for (let index = 1; index <= count; index++) {
    const name = `${word}-${index}`
    apis.push(await request('POST', '/apis', { name, displayName: name, status: 'ACTIVE', tags: ['before'] }))
  }
  await signIn(page, `/apis?search=${word}`)
  await found(page, `${count} APIs match`)
  return apis
}

const select = (page: Page, name: string) => grid(page).getByRole('checkbox', { name: `Select ${name}` })
const dialog = (page: Page) => page.getByRole('dialog')
const progress = (page: Page, text: string) => dialog(page).getByRole('status').getByText(text).waitFor()
/** The input with a label, whatever role the list of its suggestions gives it. */
const input = (page: Page, label: string) => dialog(page).getByLabel(label).and(page.locator('input')).first()
const act = (page: Page, name: string) =>
  page.getByRole('region', { name: 'Selection' }).getByRole('button', { name, exact: true }).click()

test('a range of APIs gets and loses tags', async ({ page }) => {
  const apis = await withApis(page, 'bulkranged', 4)
  await select(page, 'bulkranged-1').click()
  await select(page, 'bulkranged-3').click({ modifiers: ['Shift'] })
  await page.getByRole('status').getByText('3 selected').waitFor()
  await checkPage(page, 'catalogue-selection')
  await act(page, 'Tags')
  await input(page, 'Add tags').fill('after')
  await input(page, 'Add tags').press('Enter')
  await input(page, 'Remove tags').fill('before')
  await input(page, 'Remove tags').press('Enter')
  // Closes the suggestions.
  await page.keyboard.press('Escape')
  await checkPage(page, 'catalogue-bulk-tags')
  await dialog(page).getByRole('button', { name: 'Change 3 APIs' }).click()
  await progress(page, '3 of 3 done')
  await dialog(page).getByRole('button', { name: 'Close' }).click()
  const tags = await Promise.all(apis.map(async ({ id }) => (await request('GET', `/apis/${id}`)).tags))
  expect(tags).toEqual([['after'], ['after'], ['after'], ['before']])
  // The list shows it too.
  await expect.poll(() => grid(page).getByText('after', { exact: true }).count()).toBe(3)
})

test('all matching APIs change their status and their owner', async ({ page }) => {
  const owner = await request('POST', '/users', {
    username: 'bulk-owner',
    displayName: 'Bulk Owner',
    email: 'bulk-owner@example.org',
    password: 'correct horse battery staple',
    role: 'USER',
  })
  const apis = await withApis(page, 'bulkmatching', 3)
  await select(page, 'bulkmatching-2').click()
  await page.getByRole('button', { name: 'Select all 3' }).click()
  await act(page, 'Status')
  await dialog(page).getByRole('radio', { name: 'Inactive' }).check()
  await dialog(page).getByRole('button', { name: 'Change 3 APIs' }).click()
  await progress(page, '3 of 3 done')
  await dialog(page).getByRole('button', { name: 'Close' }).click()
  await select(page, 'bulkmatching-1').click()
  await page.getByRole('button', { name: 'Select all 3' }).click()
  await act(page, 'Owner')
  await input(page, 'New owner').fill('Bulk Ow')
  await page.getByRole('option', { name: /Bulk Owner/ }).click()
  await dialog(page).getByRole('button', { name: 'Change 3 APIs' }).click()
  await progress(page, '3 of 3 done')
  for (const { id } of apis)
    expect(await request('GET', `/apis/${id}`)).toMatchObject({ status: 'INACTIVE', owner: owner.id })
})

test('an API that another person changes meanwhile is not deleted, and can be tried again', async ({
  page,
}) => {
  const [first, second] = await withApis(page, 'bulkdoomed', 3)
  const body = { name: 'bulkdoomed-1', displayName: 'Changed meanwhile', status: 'ACTIVE', tags: [] }
  await page.route(`**/apis/${first?.id}`, async route => {
    if (route.request().method() === 'DELETE') await request('PUT', `/apis/${first?.id}`, body)
    await route.fallback()
  })
  await request('PUT', `/apis/${second?.id}`, { ...body, name: 'bulkdoomed-2' })
  await grid(page).getByRole('checkbox', { name: 'Select all loaded APIs' }).check()
  await act(page, 'Delete')
  await dialog(page).getByRole('textbox', { name: 'Type 3 to confirm' }).fill('3')
  await checkPage(page, 'catalogue-bulk-delete')
  await dialog(page).getByRole('button', { name: 'Delete 3 APIs' }).click()
  await progress(page, '1 of 3 done, 2 failed')
  await dialog(page).getByRole('listitem').filter({ hasText: 'bulkdoomed-1' }).getByText('Failed').waitFor()
  await dialog(page).getByText('It has changed since it was listed').waitFor()
  await checkPage(page, 'catalogue-bulk-failed')
  expect(await request('GET', `/apis/${first?.id}`)).toMatchObject({ displayName: 'Changed meanwhile' })
  await page.unrouteAll()
  await dialog(page).getByRole('button', { name: 'Try 2 again' }).click()
  await progress(page, '3 of 3 done')
  await dialog(page).getByRole('button', { name: 'Close' }).click()
  await page.getByRole('heading', { name: 'No API matches' }).waitFor()
})

test('a cancelled bulk change keeps what is done and continues on demand', async ({ page }) => {
  const apis = await withApis(page, 'bulkcancelled', 8)
  await page.getByRole('combobox', { name: 'Order' }).selectOption({ index: 1 })
  await page.waitForURL(/sort=/)
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const writes: string[] = []
  await page.route(/\/apis\/[0-9a-f-]{36}$/, async route => {
    if (route.request().method() === 'PUT') {
      writes.push(route.request().url())
      await released
    }
    await route.fallback()
  })
  await grid(page).getByRole('checkbox', { name: 'Select all loaded APIs' }).check()
  await act(page, 'Status')
  await dialog(page).getByRole('radio', { name: 'Inactive' }).check()
  await dialog(page).getByRole('button', { name: 'Change 8 APIs' }).click()
  await expect.poll(() => writes.length).toBe(4)
  await page.evaluate('history.back()')
  const stopping = page.getByRole('dialog', { name: 'Stop the changes?' })
  await stopping.getByRole('button', { name: 'Stay' }).last().click()
  await stopping.waitFor({ state: 'hidden' })
  await dialog(page).getByRole('button', { name: 'Cancel' }).click()
  release()
  await progress(page, '4 of 8 done, cancelled')
  expect(writes).toHaveLength(4)
  await dialog(page).getByRole('button', { name: 'Continue' }).click()
  await progress(page, '8 of 8 done')
  for (const { id } of apis) expect((await request('GET', `/apis/${id}`)).status).toBe('INACTIVE')
})

test('Space, Shift and Ctrl+A select rows with the keyboard, and Enter opens one', async ({ page }) => {
  const [first] = await withApis(page, 'bulktyped', 3)
  await grid(page).focus()
  await page.keyboard.press(' ')
  await page.keyboard.press('Shift+ArrowDown')
  await page.getByRole('status').getByText('2 selected').waitFor()
  await page.keyboard.press('Control+a')
  await page.getByRole('status').getByText('3 selected').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/console/apis/${first?.id}`)
})

test('rows of an earlier search are not selected with the loaded ones', async ({ signedIn: page }) => {
  const count = page.getByRole('status')
  await searchBox(page).fill('google')
  await count.getByText(/ APIs match$/).waitFor()
  await searchBox(page).fill('')
  await count.getByText(/ APIs$/).waitFor()
  await expect.poll(async () => Number(await grid(page).getAttribute('aria-rowcount'))).toBeGreaterThan(2_600)
  await grid(page).focus()
  await page.keyboard.press('Control+a')
  await count.getByText('100 selected').waitFor()
})

test('a person who may only read has no checkboxes and no button to create', async ({ page }) => {
  await request('POST', '/users', {
    username: 'catalogue-reader',
    displayName: 'Reader',
    email: 'catalogue-reader@example.org',
    password: 'correct horse battery staple',
    role: 'BILLING_CONTACT',
  })
  await signIn(page, '/apis', 'catalogue-reader', 'correct horse battery staple')
  await rows(page).nth(5).waitFor()
  expect(await grid(page).getByRole('checkbox').count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Create API' }).count()).toBe(0)
})
