import type { Locator, Page } from 'playwright-core'
import { expect, inject } from 'vitest'
import { type Account, as, createAccessToken, createAccount } from './src/accounts.ts'
import { checkPage, request, signInByForm, test, url } from './src/browser.ts'

const inputs = (page: Page) => ({
  username: page.getByRole('textbox', { name: 'User name' }),
  password: page.getByRole('textbox', { name: 'Password' }),
  token: page.getByRole('textbox', { name: 'Access token' }),
  submit: page.getByRole('button', { name: 'Sign in' }),
})
const signInAs = (page: Page, { username, password }: Account, path?: string) =>
  signInByForm(page, path, username, password)

async function signInWithToken(page: Page, token: string, path = '/apis') {
  await page.goto(`${url}/console${path}`)
  await page.getByText('Access token', { exact: true }).click()
  await inputs(page).token.fill(token)
  await inputs(page).submit.click()
}

const dialog = (page: Page) => page.getByRole('dialog', { name: /^Your session/ })
/** Types the secret into the dialog and sends it. */
async function continueWith(page: Page, label: string, secret: string) {
  await dialog(page).getByLabel(label).fill(secret)
  await page.keyboard.press('Enter')
}

const search = (page: Page) => page.getByRole('main').getByRole('searchbox')
/** The next response to a request for a list of APIs. */
const apisListed = (page: Page) =>
  page.waitForResponse(response => new URL(response.url()).pathname === '/apis')
const keptSession = (page: Page) => page.evaluate(() => sessionStorage.getItem('gantry.session') ?? '')

test('an address below the console opens after the login', async ({ page }) => {
  await signInByForm(page, '/webhooks')
  expect(new URL(page.url()).pathname).toBe('/console/webhooks')
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
})

test('the filters in an address survive the login', async ({ page }) => {
  await signInByForm(page, '/apis?search=google')
  await expect.poll(() => search(page).inputValue()).toBe('google')
})

test('the address of the login opens the console for a session that exists', async ({ signedIn: page }) => {
  await page.goto(`${url}/console/login?next=%2Fwebhooks`)
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
})

test('the login opens no page of another site', async ({ page }) => {
  for (const next of ['https://example.com', '//example.com', '/\\example.com']) {
    await signInByForm(page, `/login?next=${encodeURIComponent(next)}`)
    expect(new URL(page.url()).origin).toBe(url)
    await page.evaluate(() => sessionStorage.clear())
  }
})

test('password managers recognise the fields of the login', async ({ page }) => {
  await page.goto(`${url}/console`)
  const { username, password, token } = inputs(page)
  await expect.poll(() => username.getAttribute('autocomplete')).toBe('username')
  await expect.poll(() => password.getAttribute('autocomplete')).toBe('current-password')
  await expect.poll(() => password.getAttribute('type')).toBe('password')
  await page.getByText('Access token', { exact: true }).click()
  await expect.poll(() => token.getAttribute('autocomplete')).toBe('off')
  await checkPage(page, 'login-token')
})

test('the login page says that a password is wrong and keeps the user name', async ({ page }) => {
  await page.goto(`${url}/console`)
  const { username, password, submit } = inputs(page)
  await username.fill('admin')
  await password.fill('wrong')
  await submit.click()
  const problem = page.getByRole('alert', { name: 'You are not signed in' })
  await problem.getByText('Check the user name and the password.').waitFor()
  await problem.getByText('Request id').waitFor()
  await expect.poll(() => username.inputValue()).toBe('admin')
  await expect.poll(() => password.inputValue()).toBe('wrong')
  await checkPage(page, 'login-refused')
})

test('the login page is accessible', async ({ page }) => {
  await page.goto(`${url}/console`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await checkPage(page, 'login')
})

test('a pasted access token signs in with its scopes', async ({ page }) => {
  const { token } = await createAccessToken(await createAccount('USER'), 'API_READ')
  await signInWithToken(page, `  Bearer ${token}\n`)
  const areas = page.getByRole('navigation', { name: 'Areas' })
  await areas.getByRole('link', { name: 'APIs' }).waitFor()
  expect(await areas.getByRole('link', { name: 'Webhooks' }).count()).toBe(0)
  await page.getByRole('button', { name: /^User menu/ }).click()
  await page.getByText('by the access token of a test').waitFor()
})

test.for([
  ['pat_unknown', 'Valid credentials are required'],
  ['two words', 'This is not an access token'],
  ['tökén', 'This is not an access token'],
])('the token %j is refused and stays in its field', async ([token = '', title = ''], { page }) => {
  await signInWithToken(page, token)
  await page.getByRole('alert', { name: title }).waitFor()
  await expect.poll(() => inputs(page).token.inputValue()).toBe(token)
})

test('the token is in the session storage of the tab and nowhere else', async ({ page }) => {
  await signInByForm(page, '/apis')
  const { token } = JSON.parse(await keptSession(page))
  expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  expect(await page.context().cookies()).toEqual([])
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(token)
  expect(page.url()).not.toContain(token)
  const other = await page.context().newPage()
  await other.goto(`${url}/console/apis`)
  await other.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('a reload keeps the session', async ({ signedIn: page }) => {
  await page.reload()
  await page.getByRole('heading', { name: 'APIs' }).waitFor()
})

test('five minutes before its end a dialog asks for the password and continues without losing input', async ({
  page,
}) => {
  await page.clock.install()
  await signInByForm(page)
  await search(page).fill('google')
  const before = await keptSession(page)
  await page.clock.fastForward('54:00')
  expect(await dialog(page).count()).toBe(0)
  await page.clock.fastForward('01:30')
  await dialog(page).getByText('Your session ends in less than five minutes').waitFor()
  await checkPage(page, 'session-ends')
  await continueWith(page, 'Password of admin', 'wrong')
  await dialog(page).getByRole('alert', { name: 'The user name or the password is wrong' }).waitFor()
  await continueWith(page, 'Password of admin', inject('password'))
  await dialog(page).waitFor({ state: 'detached' })
  await expect.poll(() => search(page).inputValue()).toBe('google')
  expect(await keptSession(page)).not.toBe(before)
  await page.clock.fastForward('50:00')
  expect(await dialog(page).count()).toBe(0)
})

test('the dialog before the end can be postponed; after the end it cannot', async ({ page }) => {
  await page.clock.install()
  await signInByForm(page)
  await page.clock.fastForward('55:30')
  await dialog(page).getByLabel('Password of admin').press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  await page.clock.fastForward('05:00')
  await dialog(page).getByText('Your session has ended').waitFor()
  await dialog(page).getByLabel('Password of admin').press('Escape')
  expect(await dialog(page).getByRole('button', { name: 'Not now' }).count()).toBe(0)
  await dialog(page).getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('after the end of the session in another tab the page continues in place, and its request is sent again', async ({
  page,
}) => {
  const account = await createAccount('USER')
  await signInAs(page, account)
  await as(account.authorization, 'POST', '/logout')
  await search(page).fill('google home')
  await dialog(page).getByText('Your session has ended').waitFor()
  await checkPage(page, 'session-ended')
  const sentAgain = apisListed(page)
  await continueWith(page, `Password of ${account.username}`, account.password)
  expect((await sentAgain).status()).toBe(200)
  await dialog(page).waitFor({ state: 'detached' })
  await expect.poll(() => search(page).inputValue()).toBe('google home')
})

test('Escape in the dialog leaves a dialog of the page below it open', async ({ page }) => {
  const account = await createAccount('USER')
  await signInAs(page, account)
  await page.getByRole('button', { name: /^User menu/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out everywhere' }).click()
  await as(account.authorization, 'POST', '/logout')
  await page.getByRole('button', { name: 'End all logins' }).click()
  const secret = dialog(page).getByLabel(`Password of ${account.username}`)
  await secret.press('Escape')
  await continueWith(page, `Password of ${account.username}`, account.password)
  // The waiting request, which ends all logins, is sent again.
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('a session of a pasted token continues with another token of the same user only', async ({ page }) => {
  const [account, other] = await Promise.all([createAccount('USER'), createAccount('USER')])
  const first = await createAccessToken(account, 'API_READ')
  const second = await createAccessToken(account, 'API_READ')
  const strange = await createAccessToken(other, 'API_READ')
  await signInWithToken(page, first.token)
  await search(page).waitFor()
  await as(account.authorization, 'DELETE', `/accessTokens/${first.id}`)
  await search(page).fill('google home')
  await continueWith(page, `Access token of ${account.username}`, strange.token)
  const refusal = dialog(page).getByRole('alert', { name: 'This is another user' })
  await refusal.getByText(`The token belongs to ${other.username}.`).waitFor()
  await refusal.getByText('Sign in as the same user, or sign out first.').waitFor()
  await expect.poll(() => keptSession(page)).toContain(account.username)
  await checkPage(page, 'session-of-another-user')
  const sentAgain = apisListed(page)
  await continueWith(page, `Access token of ${account.username}`, second.token)
  expect((await sentAgain).status()).toBe(200)
  await dialog(page).waitFor({ state: 'detached' })
  await expect.poll(() => search(page).inputValue()).toBe('google home')
})

test('a session whose scopes have shrunk is read again, and what they allowed is absent', async ({
  page,
}) => {
  const account = await createAccount('USER')
  await signInAs(page, account)
  const webhooks = page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name: 'Webhooks' })
  await webhooks.waitFor()
  const { id, username } = account
  await request('PUT', `/users/${id}`, { username, role: 'BILLING_CONTACT', status: 'ACTIVE' })
  await expect.poll(async () => (await as(account.authorization, 'GET', '/webhooks')).status).toBe(403)
  await webhooks.click()
  await page.getByRole('heading', { name: 'You have no access to Webhooks' }).waitFor()
  await page.getByText('WEBHOOKS_READ').waitFor()
  expect(await webhooks.count()).toBe(0)
  await checkPage(page, 'no-access')
})

test('a user without access to any area is told so and can sign in with other credentials', async ({
  page,
}) => {
  const account = await createAccount('NO_ACCESS')
  await signInByForm(page, '/', account.username, account.password)
  await page.getByRole('heading', { name: 'You have no access to any area' }).waitFor()
  await page.getByText('with the role NO_ACCESS').waitFor()
  await checkPage(page, 'no-area')
  await page.getByRole('button', { name: 'Sign in with other credentials' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('"Sign out" forgets the token, which stays valid elsewhere', async ({ page }) => {
  const account = await createAccount('USER')
  await signInAs(page, account)
  await page.getByRole('button', { name: /^User menu/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await expect.poll(() => keptSession(page)).toBe('')
  expect((await as(account.authorization, 'GET', '/session')).status).toBe(200)
  await page.goto(`${url}/console/apis`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('"Sign out everywhere" says what it ends, asks first, and ends all logins of the user', async ({
  page,
}) => {
  const account = await createAccount('USER')
  const { token } = await createAccessToken(account, 'API_READ')
  await signInAs(page, account)
  const ask = async () => {
    await page.getByRole('button', { name: /^User menu/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out everywhere' }).click()
    await page.getByRole('dialog').getByText(`This ends all logins of ${account.username}`).waitFor()
  }
  await ask()
  await checkPage(page, 'sign-out-everywhere')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).last().click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect((await as(account.authorization, 'GET', '/session')).status).toBe(200)
  await ask()
  await page.getByRole('button', { name: 'End all logins' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect((await as(account.authorization, 'GET', '/session')).status).toBe(401)
  expect((await as(`Bearer ${token}`, 'GET', '/session')).status).toBe(200)
})

test('the login works with the keyboard alone', async ({ page }) => {
  await page.goto(`${url}/console`)
  const { username, password, submit } = inputs(page)
  const isFocused = async (locator: Locator) => (await locator.and(page.locator(':focus')).count()) === 1
  await username.waitFor()
  await expect.poll(() => isFocused(username)).toBe(true)
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('ArrowRight')
  await inputs(page).token.waitFor()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Tab')
  await page.keyboard.type('admin')
  await page.keyboard.press('Tab')
  await page.keyboard.type(inject('password'))
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await expect.poll(() => password.getAttribute('type')).toBe('text')
  await page.keyboard.press('Tab')
  await expect.poll(() => isFocused(submit)).toBe(true)
  await page.keyboard.press('Enter')
  const heading = page.getByRole('heading', { name: 'APIs', level: 1 })
  await heading.waitFor()
  await expect.poll(() => isFocused(heading)).toBe(true)
})
