import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import {
  checkPage,
  consoleUrl,
  fitsPhone,
  heading,
  isFocused,
  open,
  readInPagesOf,
  test,
} from './src/browser.ts'
import { createApi, createUser, createWebhook, request, tokenWith, unique, url } from './src/service.ts'

const palette = (page: Page) => page.getByRole('combobox', { name: 'Find a page, an action or a record' })
const results = (page: Page, group: string) =>
  page.getByRole('listbox', { name: 'Results' }).getByRole('group', { name: group, exact: true })
const areas = (page: Page) => page.getByRole('navigation', { name: 'Areas' })
/** The text of the element that has the focus. */
const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent')
const theme = (page: Page) => page.evaluate<string>('document.documentElement.dataset.mantineColorScheme')

/** Opens the palette with the keyboard and types into it. */
async function find(page: Page, words: string) {
  await page.keyboard.press('Control+k')
  await palette(page).and(page.locator(':focus')).waitFor()
  await page.keyboard.type(words)
}

const AREAS = [
  ['Webhooks', 'Webhooks'],
  ['Webhooks', 'Deliveries'],
  ['Activity', 'Events'],
  ['Activity', 'Audit log'],
  ['Administration', 'Users'],
  ['Administration', 'Access tokens'],
  ['Administration', 'System'],
  ['Catalogue', 'Operations'],
  ['Catalogue', 'Environments'],
  ['Catalogue', 'Jobs'],
  ['Catalogue', 'Rule sets'],
  ['Catalogue', 'APIs'],
] as const
/** Areas whose accessibility is tested here. That of the others is tested with the records that their files create. */
const PLAIN: readonly string[] = ['APIs', 'Deliveries', 'Users']

test('each area is marked, has the focus on its heading, is accessible and fits on a phone', async ({
  page,
}) => {
  const outside: string[] = []
  page.on('request', sent => {
    if (!sent.url().startsWith(`${url}/`)) outside.push(sent.url())
  })
  await open(page, '/apis')
  for (const [group, name] of AREAS) {
    await areas(page).getByRole('group', { name: group }).getByRole('link', { name, exact: true }).click()
    await heading(page, name).waitFor()
    await expect.poll(() => focused(page)).toBe(name)
    await expect.poll(() => page.title()).toBe(`${name} · Gantry`)
    await expect.poll(() => areas(page).locator('[aria-current="page"]').allTextContents()).toEqual([name])
    if (PLAIN.includes(name)) await checkPage(page)
    await fitsPhone(page)
  }
  expect(outside).toEqual([])
})

test('an address that the console does not have says so within its frame', async ({ page }) => {
  await open(page, '/nothing/here')
  await heading(page, 'There is no such page').waitFor()
  await expect.poll(() => page.title()).toBe('There is no such page · Gantry')
  await page.getByRole('link', { name: 'Go to the first page' }).click()
  await heading(page, 'APIs').waitFor()
})

test('on a phone the areas are behind a button', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 })
  await open(page, '/apis')
  const button = page.getByRole('button', { name: 'Areas' })
  await expect.poll(() => button.getAttribute('aria-expanded')).toBe('false')
  await expect.poll(() => areas(page).isVisible()).toBe(false)
  await button.click()
  await areas(page).getByRole('link', { name: 'Webhooks' }).waitFor()
  await areas(page).getByRole('link', { name: 'Webhooks' }).click()
  await heading(page, 'Webhooks').waitFor()
  await areas(page).waitFor({ state: 'hidden' })
})

test('the theme follows the system until one is chosen, which a reload keeps', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await open(page, '/apis')
  await expect.poll(() => theme(page)).toBe('dark')
  await page.getByRole('button', { name: 'Theme: As the system' }).click()
  await page.getByRole('menuitemradio', { name: 'Light' }).click()
  await expect.poll(() => theme(page)).toBe('light')
  await page.reload()
  await page.getByRole('button', { name: 'Theme: Light' }).waitFor()
  await expect.poll(() => theme(page)).toBe('light')
})

test('menus, links and fields work with the keyboard, and nothing moves with reduced motion', async ({
  page,
}) => {
  await open(page, '/apis')
  await heading(page, 'APIs').waitFor()
  const address = page.url()
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('Skip to the content')
  await page.keyboard.press('Enter')
  await expect.poll(() => isFocused(page.getByRole('main'))).toBe(true)
  expect(page.url()).toBe(address)

  const button = page.getByRole('button', { name: /^User menu/ })
  await button.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Documentation' }).waitFor()
  const moving =
    'document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime > 1).length'
  expect(await page.evaluate(moving)).toBe(0)
  await checkPage(page)
  await expect.poll(() => focused(page)).toBe('Your user')
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => focused(page)).toBe('Your access tokens')
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => focused(page)).toBe('REST API documentation')
  await page.keyboard.press('Escape')
  await expect.poll(() => isFocused(button)).toBe(true)

  // The palette opens from inside a field, and Escape returns to it.
  const search = page.getByRole('main').getByRole('combobox', { name: 'Search APIs' })
  await search.fill('google')
  await find(page, 'zzqqxxyy')
  await page.getByText('No page, action or record matches.').waitFor()
  expect(await page.evaluate(moving)).toBe(0)
  await page.keyboard.press('Escape')
  await palette(page).waitFor({ state: 'detached' })
  await expect.poll(() => isFocused(search)).toBe(true)
  await expect.poll(() => search.inputValue()).toBe('google')
})

test('the palette opens pages and records by name with the keyboard', async ({ page }) => {
  const [name, first] = [unique('zz palette'), unique('aa palette')]
  await createWebhook({ active: false, displayName: first })
  const { id } = await createWebhook({ active: false, displayName: name })
  const { id: user, username } = await createUser()
  // A text that mentions the name does not come before the name.
  await createApi({ displayName: 'Of another name', description: `Sends ${name}` })
  await expect
    .poll(async () => (await request('GET', `/apis?q=${encodeURIComponent(name)}`)).content.length)
    .toBe(1)
  const { totalElements } = await request('GET', '/webhooks')
  await readInPagesOf(page, Math.ceil(totalElements / 2), '/webhooks')
  await open(page, '/apis')
  await find(page, 'google home')
  await results(page, 'APIs')
    .getByRole('option', { name: /Google Home/ })
    .waitFor()
  await checkPage(page)
  await page.getByRole('option', { name: /^Show all \d+ APIs that match$/ }).click()
  await page.waitForURL('**/console/apis?search=google+home')
  await palette(page).waitFor({ state: 'detached' })
  await find(page, 'webhooks')
  await results(page, 'Pages').getByRole('option', { name: 'Webhooks' }).first().waitFor()
  await page.keyboard.press('Enter')
  await heading(page, 'Webhooks').waitFor()
  await palette(page).waitFor({ state: 'detached' })
  await expect.poll(() => focused(page)).toBe('Webhooks')
  await find(page, username)
  await results(page, 'Users').getByRole('option', { name: username }).click()
  await page.waitForURL(`**/console/users/${user}`)
  await palette(page).waitFor({ state: 'hidden' })
  await find(page, name)
  await results(page, 'APIs that mention it').waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/console/webhooks/${id}**`)
})

test('the palette has only what the session may do', async ({ page }) => {
  const asked: string[] = []
  page.on('request', sent => asked.push(new URL(sent.url()).pathname))
  await open(page, '/apis', await tokenWith(['API_READ']))
  await find(page, '')
  await expect
    .poll(() => results(page, 'Pages').getByRole('option').allTextContents())
    .toEqual(['APIsCatalogue', 'OperationsCatalogue'])
  await page.keyboard.type('google home')
  await results(page, 'APIs').waitFor()
  expect(asked.filter(path => /\/manage\/(webhooks|users)$/.test(path))).toEqual([])
})

test('actions of the palette change the theme and the password, and sign out', async ({ page }) => {
  await open(page, '/apis')
  await find(page, 'dark theme')
  await page.keyboard.press('Enter')
  await expect.poll(() => theme(page)).toBe('dark')
  await find(page, 'failing')
  await expect
    .poll(() => results(page, 'Pages').getByRole('option').allTextContents())
    .toEqual(['Failing webhooksWebhooks', 'Failed deliveriesWebhooks'])
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/webhooks?state=failing')
  await palette(page).waitFor({ state: 'detached' })
  await find(page, 'password')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Change password' })
  await dialog.getByLabel('Current password').and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await find(page, 'sign out')
  await page.keyboard.press('Enter')
  await heading(page, 'Sign in').waitFor()
  await page.goto(`${consoleUrl}/apis`)
  await heading(page, 'Sign in').waitFor()
})

test('"?" shows the keyboard shortcuts, and those of a single character can be turned off', async ({
  page,
}) => {
  await open(page, '/apis')
  await page.keyboard.press('?')
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await dialog.getByText('Open the command palette').waitFor()
  await dialog.getByRole('table', { name: 'In the list of APIs' }).getByText('Select a range').waitFor()
  await checkPage(page)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.keyboard.press('/')
  const search = page.getByRole('main').getByRole('combobox', { name: 'Search APIs' })
  await expect.poll(() => isFocused(search)).toBe(true)
  await page.keyboard.type('?/')
  await expect.poll(() => search.inputValue()).toBe('?/')
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
  await dialog.getByRole('checkbox', { name: 'Shortcuts of a single character' }).uncheck()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  expect(await dialog.count()).toBe(0)
})
