import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { createAccessToken, createAccount } from './src/accounts.ts'
import { checkPage, readInPagesOf, request, signIn, test, url } from './src/browser.ts'

const palette = (page: Page) => page.getByRole('combobox', { name: 'Find a page, an action or a record' })
const results = (page: Page) => page.getByRole('listbox', { name: 'Results' })
const areas = (page: Page) => page.getByRole('navigation', { name: 'Areas' })
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1, exact: true })
/** The text of the element that has the focus. */
const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent')
const isFocused = async (locator: Locator) =>
  (await locator.and(locator.page().locator(':focus')).count()) === 1
const theme = (page: Page) => page.evaluate<string>('document.documentElement.dataset.mantineColorScheme')
/** The palette, opened with the keyboard. */
async function openPalette(page: Page) {
  await page.keyboard.press('Control+k')
  await palette(page).and(page.locator(':focus')).waitFor()
}
const openMenu = (page: Page) => page.getByRole('button', { name: /^User menu/ }).click()

test('the areas are grouped, and that of the page is marked', async ({ signedIn: page }) => {
  await areas(page).getByRole('group', { name: 'Webhooks' }).getByRole('link', { name: 'Webhooks' }).click()
  await heading(page, 'Webhooks').waitFor()
  const current = areas(page).locator('[aria-current="page"]')
  await expect.poll(() => current.allTextContents()).toEqual(['Webhooks'])
  await areas(page).getByRole('group', { name: 'Catalogue' }).getByRole('link', { name: 'APIs' }).click()
  await heading(page, 'APIs').waitFor()
  await expect.poll(() => current.allTextContents()).toEqual(['APIs'])
  await checkPage(page, 'shell')
})

test('the title of the document is the heading of the page', async ({ signedIn: page }) => {
  await expect.poll(() => page.title()).toBe('APIs · Gantry')
  await areas(page).getByRole('link', { name: 'Webhooks' }).click()
  await expect.poll(() => page.title()).toBe('Webhooks · Gantry')
  await page.goto(`${url}/console/nothing`)
  await expect.poll(() => page.title()).toBe('There is no such page · Gantry')
})

test('after a navigation the focus is on the heading; a filter leaves it in its field', async ({
  signedIn: page,
}) => {
  await areas(page).getByRole('link', { name: 'Webhooks' }).click()
  await expect.poll(() => focused(page)).toBe('Webhooks')
  await areas(page).getByRole('link', { name: 'APIs' }).click()
  await expect.poll(() => focused(page)).toBe('APIs')
  const search = page.getByRole('main').getByRole('searchbox')
  await search.pressSequentially('goo')
  await page.waitForURL(/search=goo/)
  await expect.poll(() => isFocused(search)).toBe(true)
})

test('the first Tab reaches a link that skips to the content', async ({ signedIn: page }) => {
  await page.reload()
  await heading(page, 'APIs').waitFor()
  const address = page.url()
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('Skip to the content')
  await page.keyboard.press('Enter')
  await expect.poll(() => isFocused(page.getByRole('main'))).toBe(true)
  expect(page.url()).toBe(address)
})

test('an address that the console does not have says so within its frame', async ({ signedIn: page }) => {
  await page.goto(`${url}/console/nothing/here`)
  await heading(page, 'There is no such page').waitFor()
  await checkPage(page, 'no-such-page')
  await page.getByRole('link', { name: 'Go to the first page' }).click()
  await heading(page, 'APIs').waitFor()
})

test('on a phone the areas are behind a button, and nothing is wider than the screen', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 })
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await signIn(page)
  await heading(page, 'APIs').waitFor()
  const button = page.getByRole('button', { name: 'Areas' })
  await expect.poll(() => button.getAttribute('aria-expanded')).toBe('false')
  await expect.poll(() => areas(page).isVisible()).toBe(false)
  await button.click()
  await areas(page).getByRole('link', { name: 'Webhooks' }).waitFor()
  await checkPage(page, 'phone-areas')
  await areas(page).getByRole('link', { name: 'Webhooks' }).click()
  await heading(page, 'Webhooks').waitFor()
  await areas(page).waitFor({ state: 'hidden' })
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  await checkPage(page, 'phone')
})

test('the theme follows the system until one is chosen, which a reload keeps', async ({ signedIn: page }) => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(() => theme(page)).toBe('dark')
  await page.getByRole('button', { name: 'Theme: As the system' }).click()
  await page.getByRole('menuitemradio', { name: 'Light' }).waitFor()
  await checkPage(page, 'theme-menu')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.getByRole('menuitemradio', { name: 'Light' }).click()
  await expect.poll(() => theme(page)).toBe('light')
  await page.reload()
  await page.getByRole('button', { name: 'Theme: Light' }).waitFor()
  await expect.poll(() => theme(page)).toBe('light')
})

test('menus work with the keyboard, and Escape returns the focus to their button', async ({
  signedIn: page,
}) => {
  const button = page.getByRole('button', { name: /^User menu/ })
  await button.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Documentation' }).waitFor()
  await checkPage(page, 'user-menu')
  await expect.poll(() => focused(page)).toBe('Documentation of the interface')
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => focused(page)).toBe('Sign out')
  await page.keyboard.press('Escape')
  await expect.poll(() => isFocused(button)).toBe(true)
})

test('the palette opens a page with the keyboard, and its heading has the focus', async ({
  signedIn: page,
}) => {
  await openPalette(page)
  await checkPage(page, 'palette')
  await page.keyboard.type('webhooks')
  await results(page)
    .getByRole('group', { name: 'Pages' })
    .getByRole('option', { name: 'Webhooks' })
    .first()
    .waitFor()
  await page.keyboard.press('Enter')
  await heading(page, 'Webhooks').waitFor()
  await palette(page).waitFor({ state: 'detached' })
  await expect.poll(() => focused(page)).toBe('Webhooks')
})

test('the palette opens from inside a field, and Escape returns to it', async ({ signedIn: page }) => {
  const search = page.getByRole('main').getByRole('searchbox')
  await search.fill('google')
  await openPalette(page)
  await page.keyboard.press('Escape')
  await palette(page).waitFor({ state: 'detached' })
  await expect.poll(() => isFocused(search)).toBe(true)
  await expect.poll(() => search.inputValue()).toBe('google')
})

test('the palette finds APIs by a part of their name, and opens the chosen one', async ({
  signedIn: page,
}) => {
  await openPalette(page)
  await page.keyboard.type('google home')
  const apis = results(page).getByRole('group', { name: 'APIs' })
  await apis.getByRole('option', { name: /Google Home/ }).waitFor()
  await checkPage(page, 'palette-found')
  await apis.getByRole('option', { name: /Google Home/ }).click()
  await page.waitForURL(/\/console\/apis\/[\w-]{36}/)
})

test('the palette finds users and all webhooks by name', async ({ signedIn: page }) => {
  const name = `zz palette ${crypto.randomUUID().slice(0, 8)}`
  const fields = { url: 'http://127.0.0.1:9/', active: false, eventTypes: ['API_CREATED'] }
  await request('POST', '/webhooks', { ...fields, displayName: `aa palette ${crypto.randomUUID()}` })
  const { id } = await request('POST', '/webhooks', { ...fields, displayName: name })
  const { id: user, username } = await createAccount('USER')
  const { totalElements } = await request('GET', '/webhooks')
  await readInPagesOf(page, Math.ceil(totalElements / 2), '/webhooks')
  await openPalette(page)
  await page.keyboard.type(username)
  await results(page).getByRole('group', { name: 'Users' }).getByRole('option', { name: username }).click()
  await page.waitForURL(`**/console/users/${user}`)
  await palette(page).waitFor({ state: 'hidden' })
  await openPalette(page)
  await palette(page).fill(name)
  await results(page).getByRole('group', { name: 'Webhooks' }).getByRole('option', { name }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/console/webhooks/${id}**`)
})

test('the palette has only what the session may do', async ({ page }) => {
  const account = await createAccount('USER')
  const { token } = await createAccessToken(account, 'API_READ')
  const asked: string[] = []
  page.on('request', sent => asked.push(new URL(sent.url()).pathname))
  await page.goto(`${url}/console/apis`)
  await page.getByText('Access token', { exact: true }).click()
  await page.getByRole('textbox', { name: 'Access token' }).fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await heading(page, 'APIs').waitFor()
  await openPalette(page)
  const pages = results(page).getByRole('group', { name: 'Pages' })
  await expect.poll(() => pages.getByRole('option').allTextContents()).toEqual(['APIsCatalogue'])
  await page.keyboard.type('google home')
  await results(page).getByRole('group', { name: 'APIs' }).waitFor()
  expect(asked.filter(path => path === '/webhooks' || path === '/users')).toEqual([])
})

test('the palette says that nothing has a name', async ({ signedIn: page }) => {
  await openPalette(page)
  await page.keyboard.type('zzqqxxyy')
  await page.getByText('Nothing has this name.').waitFor()
  expect(await results(page).getByRole('option').count()).toBe(0)
})

test('actions of the palette change the theme and sign out', async ({ signedIn: page }) => {
  await openPalette(page)
  await page.keyboard.type('dark theme')
  await page.keyboard.press('Enter')
  await expect.poll(() => theme(page)).toBe('dark')
  await openPalette(page)
  await page.keyboard.type('sign out')
  await page.keyboard.press('Enter')
  await heading(page, 'Sign in').waitFor()
})

test('"?" shows the keyboard shortcuts, and those of a single character can be turned off', async ({
  signedIn: page,
}) => {
  await page.keyboard.press('?')
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await dialog.getByText('Open the command palette').waitFor()
  await checkPage(page, 'shortcuts')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.keyboard.press('/')
  const search = page.getByRole('main').getByRole('searchbox')
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

test('with reduced motion nothing on the page moves', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await signIn(page)
  await openMenu(page)
  const moving = () =>
    page.evaluate(
      'document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime > 1).length',
    )
  expect(await moving()).toBe(0)
  await openPalette(page)
  expect(await moving()).toBe(0)
})
