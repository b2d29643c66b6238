import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import {
  checkPage,
  consoleUrl,
  heading,
  hold,
  isAt,
  isFocused,
  open,
  searchOf,
  showAgain,
  test,
} from './src/browser.ts'
import { grid, scrollThrough } from './src/measure.ts'
import { createApi, createUser, logIn, request, unique } from './src/service.ts'

const KB = 1_000
/** Pixels of about 27 rows. */
const STEP = 1_600

const rows = (page: Page) => grid(page).getByRole('row')
const searchBox = (page: Page) => page.getByRole('combobox', { name: 'Search APIs' })
const facet = (page: Page, name: string) =>
  page.getByRole('group', { name: 'Filters' }).getByRole('button', { name })
const status = (page: Page, text: string | RegExp) =>
  page.getByRole('status').getByText(text, { exact: true }).waitFor()

/** Opens the catalogue and waits for its rows. */
async function openList(page: Page) {
  await open(page, '/apis')
  await rows(page).nth(5).waitFor()
}

const scrollTo = (page: Page, top: number) =>
  grid(page).evaluate((element, top) => {
    element.scrollTop = top
  }, top)

/** Shows the last row of the list. @returns whether it has been read */
async function showsLastRow(page: Page): Promise<boolean> {
  await scrollTo(page, 1e9)
  const last = await grid(page).getAttribute('aria-rowcount')
  return (await grid(page).locator(`[aria-rowindex="${last}"][aria-busy=false]`).count()) === 1
}

test('the first page takes at most 250 KB gzipped', async ({ clocked: page }) => {
  const sizes: Promise<number>[] = []
  page.on('response', response => {
    if (['document', 'script', 'stylesheet'].includes(response.request().resourceType()))
      sizes.push(response.headerValue('content-length').then(Number))
  })
  await openList(page)
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  // Less would mean that the files came from a cache.
  expect(total).toBeGreaterThan(100 * KB)
  expect(total).toBeLessThanOrEqual(250 * KB)
})

test('the list keeps at most 200 rows while it scrolls, and a jump reads the page of the visible rows only', async ({
  page,
}) => {
  await openList(page)
  const pages: (string | null)[] = []
  page.on('request', request => {
    const asked = new URL(request.url())
    if (isAt('/apis')(asked)) pages.push(asked.searchParams.get('page'))
  })
  await scrollTo(page, 250 * 60)
  await grid(page).locator('[aria-rowindex="252"][aria-busy=false]').waitFor()
  // The first page may be read again meanwhile.
  expect(pages.filter(page => page !== '1')).toEqual(['3'])
  expect((await scrollThrough(page, STEP)).mostRows).toBeLessThanOrEqual(200)
  await expect.poll(() => showsLastRow(page)).toBe(true)
})

test('the list has its last row after another person has deleted or added an API', async ({
  clocked: page,
}) => {
  const { id } = await createApi()
  await openList(page)
  await request('DELETE', `/apis/${id}`)
  await expect.poll(() => showsLastRow(page)).toBe(true)
  await page.clock.fastForward(3_000)
  await createApi()
  await scrollTo(page, 0)
  await rows(page).nth(5).waitFor()
  // The first page is old enough to be read again, the last one is not.
  await page.clock.fastForward(3_000)
  await showAgain(page)
  await expect.poll(() => showsLastRow(page)).toBe(true)
})

test('the search runs while the user types, marks the matches and keeps the focus and the earlier results', async ({
  page,
}) => {
  await openList(page)
  // Requests for letters that are outdated are aborted.
  const outdated = await hold(page, 'GET', '/apis')
  const aborted = page.waitForEvent('requestfailed', request => request.url().includes('q=groundho&'))
  await searchBox(page).fill('groundho')
  await outdated.asked
  await searchBox(page).pressSequentially('g prognosticating')
  await aborted
  await expect.poll(() => rows(page).count()).toBeGreaterThan(5)
  outdated.release()
  await page.unrouteAll()
  await status(page, '1 API matches')
  await expect
    .poll(() => grid(page).locator('mark').allTextContents())
    .toEqual(expect.arrayContaining(['Groundhog', 'groundhog', 'prognosticating']))
  expect(await isFocused(searchBox(page))).toBe(true)
  expect(searchOf(page)).toEqual({ search: 'groundhog prognosticating' })
  await page.reload()
  await status(page, '1 API matches')
  await expect.poll(() => searchBox(page).inputValue()).toBe('groundhog prognosticating')

  await searchBox(page).fill('xyzzyqwv')
  await page.getByRole('heading', { name: 'No API matches' }).waitFor()
  await page.getByRole('button', { name: 'Clear search and filters' }).click()
  await rows(page).nth(5).waitFor()
  await expect.poll(() => searchBox(page).inputValue()).toBe('')
  await page.goBack()
  await page.getByRole('heading', { name: 'No API matches' }).waitFor()
  await expect.poll(() => searchBox(page).inputValue()).toBe('xyzzyqwv')
})

test('recent searches are proposed, taken with the keyboard, and forgotten when the user signs out', async ({
  page,
}) => {
  await openList(page)
  const option = page.getByRole('option', { name: 'groundhog' })
  const kept = () => page.evaluate('JSON.stringify(localStorage)')
  await page.keyboard.press('/')
  await page.keyboard.type('groundhog')
  await status(page, '1 API matches')
  await page.keyboard.press('Enter')
  await expect.poll(() => isFocused(grid(page))).toBe(true)
  await page.keyboard.press('/')
  await page.keyboard.press('Escape')
  await option.waitFor()
  await rows(page).nth(5).waitFor()
  await checkPage(page)
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => option.getAttribute('aria-selected')).toBe('true')
  await page.keyboard.press('Enter')
  await status(page, '1 API matches')
  expect(await searchBox(page).inputValue()).toBe('groundhog')
  expect(await kept()).toContain('groundhog')
  await page.getByRole('button', { name: /^User menu/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
  await heading(page, 'Sign in').waitFor()
  expect(await kept()).not.toContain('groundhog')
})

test('a page that is opened right after typing stays open', async ({ clocked: page }) => {
  await openList(page)
  // The code of the page loads after the search has begun.
  let load = () => {}
  const loaded = new Promise<void>(resolve => {
    load = resolve
  })
  await page.route('**/console/assets/**', async route => {
    await loaded
    await route.continue()
  })
  await searchBox(page).fill('weather')
  await page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name: 'Webhooks' }).click()
  await page.clock.fastForward(1_000)
  load()
  await heading(page, 'Webhooks').waitFor()
})

test('facets narrow the list, are in the address and survive a reload, as does the order', async ({
  page,
}) => {
  await openList(page)
  await facet(page, 'Tags').click()
  const tags = page.getByRole('dialog', { name: 'Tags' })
  await tags.getByRole('textbox', { name: 'Search tags' }).fill('medi')
  await checkPage(page)
  await tags.getByRole('checkbox', { name: /^media/ }).check()
  await status(page, '48 APIs match')
  await tags.getByRole('textbox', { name: 'Search tags' }).fill('analyt')
  await tags.getByRole('checkbox', { name: /^analytics/ }).check()
  await status(page, '36 APIs match')
  await page.keyboard.press('Escape')
  await facet(page, 'Status').click()
  await page.getByRole('checkbox', { name: /^Active/ }).check()
  await page.keyboard.press('Escape')
  await page.reload()
  await status(page, '36 APIs match')
  const chosen = page.getByRole('list', { name: 'Chosen filters' })
  for (const name of ['Tags: media', 'Tags: analytics', 'Status: Active'])
    await chosen.getByText(name).waitFor()
  await chosen.getByRole('button', { name: 'Remove the filter Tags: analytics' }).click()
  await status(page, '48 APIs match')
  await chosen.getByRole('button', { name: 'Clear all' }).click()
  await status(page, /^[\d,]+ APIs$/)
  expect(searchOf(page)).toEqual({})

  await grid(page).getByRole('button', { name: 'Changed' }).click()
  await expect.poll(() => page.getByLabel('Order').inputValue()).toBe('updatedAt,asc')
  await page.getByLabel('Order').selectOption('Name, Z to A')
  const header = grid(page).getByRole('columnheader', { name: 'Name' })
  await expect.poll(() => header.getAttribute('aria-sort')).toBe('descending')
  expect(searchOf(page)).toEqual({ sort: 'displayName,desc' })
})

/** Creates APIs with a word in their names and shows them in the catalogue. */
async function withApis(page: Page, count: number) {
  const word = unique('bulk')
  const apis: { id: string; name: string }[] = []
  for (let index = 1; index <= count; index++)
    apis.push(
      await createApi({
        ...{ name: `${word}-${index}`, displayName: `${word}-${index}` },
        ...{ tags: ['before'], platformType: word },
      }),
    )
  await open(page, `/apis?platformType=${word}`)
  await status(page, `${count} APIs match`)
  return { apis, word }
}

const select = (page: Page, name: string) => grid(page).getByRole('checkbox', { name: `Select ${name}` })
const dialog = (page: Page) => page.getByRole('dialog')
const progress = (page: Page, text: string) => dialog(page).getByRole('status').getByText(text).waitFor()
/** The input with a label, whatever role the list of its suggestions gives it. */
const input = (page: Page, label: string) => dialog(page).getByLabel(label).and(page.locator('input')).first()
const act = (page: Page, name: string) =>
  page.getByRole('region', { name: 'Selection' }).getByRole('button', { name, exact: true }).click()
const read = (apis: readonly { id: string }[]) =>
  Promise.all(apis.map(({ id }) => request('GET', `/apis/${id}`)))

/** Starts the change of the dialog, waits until all APIs are changed, and closes it. */
async function changeAll(page: Page, count: number) {
  await dialog(page)
    .getByRole('button', { name: `Change ${count} APIs` })
    .click()
  await progress(page, `${count} succeeded, 0 failed`)
  await dialog(page).getByRole('button', { name: 'Close' }).click()
}

test('a range of APIs gets and loses tags, and all matching ones change their status and their owner', async ({
  page,
}) => {
  const owner = await createUser('USER', { displayName: unique('Bulk Owner') })
  const { displayName } = await request('GET', `/users/${owner.id}`)
  const { apis, word } = await withApis(page, 4)
  await select(page, `${word}-1`).click()
  await select(page, `${word}-3`).click({ modifiers: ['Shift'] })
  await page.getByRole('status').getByText('3 selected').waitFor()
  await act(page, 'Tags')
  await input(page, 'Add tags').fill('after')
  await input(page, 'Add tags').press('Enter')
  await expect.poll(() => page.getByRole('listbox').count()).toBe(0)
  // The typed text is a tag without Enter.
  await input(page, 'Remove tags').fill('before')
  await changeAll(page, 3)
  expect((await read(apis)).map(({ tags }) => tags)).toEqual([['after'], ['after'], ['after'], ['before']])
  // The list shows it too.
  await expect.poll(() => grid(page).getByText('after', { exact: true }).count()).toBe(3)

  await select(page, `${word}-2`).click()
  await page.getByRole('button', { name: 'Select all 4' }).click()
  await act(page, 'Status')
  await dialog(page).getByRole('radio', { name: 'Inactive' }).check()
  await changeAll(page, 4)
  await select(page, `${word}-1`).click()
  await page.getByRole('button', { name: 'Select all 4' }).click()
  await act(page, 'Owner')
  await input(page, 'New owner').fill(displayName)
  await page.getByRole('option', { name: displayName }).click()
  await changeAll(page, 4)
  for (const api of await read(apis)) expect(api).toMatchObject({ status: 'INACTIVE', owner: owner.id })
})

test('an API that another person has changed is not deleted, and can be tried again', async ({ page }) => {
  const { apis, word } = await withApis(page, 3)
  const [first, second] = apis
  const body = { status: 'ACTIVE', tags: [], platformType: word }
  const rename = async (api: (typeof apis)[number] | undefined, displayName: string) =>
    request('PUT', `/apis/${api?.id}`, { ...body, name: api?.name, displayName })
  await select(page, `${word}-1`).click()
  await rename(first, 'Changed meanwhile')
  // This one is selected as it is after its change.
  await rename(second, `${word}-2 seen`)
  await page.getByLabel('Order').selectOption('Name, Z to A')
  await select(page, `${word}-2 seen`).click()
  await select(page, `${word}-3`).click()
  await act(page, 'Delete')
  await dialog(page).getByRole('textbox', { name: 'Type 3 to confirm' }).fill('3')
  await dialog(page).getByRole('button', { name: 'Delete 3 APIs' }).click()
  await progress(page, '2 succeeded, 1 failed')
  await checkPage(page)
  await dialog(page).getByLabel('Only what failed').check()
  const results = dialog(page).getByRole('table', { name: 'Results' }).getByRole('row')
  await expect.poll(() => results.count()).toBe(2)
  await results.filter({ hasText: 'Changed meanwhile' }).getByText('Failed').waitFor()
  expect(await request('GET', `/apis/${first?.id}`)).toMatchObject({ displayName: 'Changed meanwhile' })
  await dialog(page).getByRole('button', { name: 'Try 1 again' }).click()
  await progress(page, '3 succeeded, 0 failed')
  await dialog(page).getByRole('button', { name: 'Close' }).click()
  await page.getByRole('heading', { name: 'No API matches' }).waitFor()
})

test('a bulk change is one request, and continues when the page is left', async ({ page }) => {
  const { apis } = await withApis(page, 6)
  const changes: string[] = []
  page.on('request', request => {
    if (request.method() !== 'GET') changes.push(new URL(request.url()).pathname)
  })
  await grid(page).getByRole('checkbox', { name: 'Select all loaded APIs' }).check()
  await act(page, 'Status')
  await dialog(page).getByRole('radio', { name: 'Inactive' }).check()
  const started = page.waitForResponse(response => isAt('/apis/bulk')(new URL(response.url())))
  await dialog(page).getByRole('button', { name: 'Change 6 APIs' }).click()
  const { id } = await (await started).json()
  await open(page, `/jobs/${id}`)
  await page.getByRole('status').getByText('6 succeeded, 0 failed').waitFor()
  expect(changes.map(path => path.split('/').slice(-2).join('/'))).toEqual(['apis/bulk'])
  await page
    .getByRole('table', { name: 'Results' })
    .getByText(apis[0]?.name ?? '')
    .waitFor()
  for (const api of await read(apis)) expect(api.status).toBe('INACTIVE')
})

test('what failed in a bulk change is tried again from the page of its job', async ({ page }) => {
  const { apis } = await withApis(page, 2)
  const [first, second] = apis.map(({ id }) => id)
  const missing = randomUUID()
  const body = { ids: [first, second, missing], change: { tags: { add: ['again'], remove: [] } } }
  const { id } = await request('POST', '/apis/bulk', body)
  await open(page, `/jobs/${id}`)
  await page.getByText('Completed, 1 failed').waitFor()
  await page.getByRole('button', { name: 'Try the one that failed again' }).click()
  await dialog(page).getByRole('button', { name: 'Start a new job' }).click()
  await page.getByRole('heading', { name: 'Tag + again on 1 API' }).waitFor()
  await page.getByRole('status').getByText('0 succeeded, 1 failed').waitFor()
  await page.getByRole('table', { name: 'Results' }).getByText(missing).waitFor()
})

test('the arrow keys move between rows; Space, Shift and Ctrl+A select them, and Enter opens one', async ({
  page,
}) => {
  await openList(page)
  const active = () => grid(page).getAttribute('aria-activedescendant')
  // Rows of an earlier search are not selected with the loaded ones.
  await searchBox(page).fill('google')
  await status(page, / APIs match$/)
  await searchBox(page).fill('')
  await status(page, / APIs$/)
  await grid(page).focus()
  await page.keyboard.press('Control+a')
  await status(page, '100 selected')
  await page.keyboard.press('End')
  const last = Number(await grid(page).getAttribute('aria-rowcount')) - 2
  await expect.poll(active).toBe(`api-row-${last}`)

  const { apis } = await withApis(page, 3)
  await grid(page).focus()
  await page.keyboard.press(' ')
  await page.keyboard.press('Shift+ArrowDown')
  await expect.poll(active).toBe('api-row-1')
  await page.getByRole('status').getByText('2 selected').waitFor()
  await page.keyboard.press('Control+a')
  await page.getByRole('status').getByText('3 selected').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${consoleUrl}/apis/${apis[0]?.id}`)
})

test('a person who may only read has no checkboxes and no button to create', async ({ page }) => {
  await open(page, '/apis', await logIn(await createUser('BILLING_CONTACT')))
  await rows(page).nth(5).waitFor()
  expect(await grid(page).getByRole('checkbox').count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Create API' }).count()).toBe(0)
})
