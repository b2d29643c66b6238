import type { Page, Route } from 'playwright-core'
import { expect, inject } from 'vitest'
import {
  checkPage,
  consoleUrl,
  fitsPhone,
  heading,
  isAt,
  isFocused,
  open,
  signInByForm,
  test,
} from './src/browser.ts'
import { as, createUser, logIn, request, tokenWith, url } from './src/service.ts'

const inputs = (page: Page) => ({
  username: page.getByRole('textbox', { name: 'User name' }),
  password: page.getByRole('textbox', { name: 'Password' }),
  token: page.getByRole('textbox', { name: 'Access token' }),
  submit: page.getByRole('button', { name: 'Sign in' }),
})
const areas = (page: Page) => page.getByRole('navigation', { name: 'Areas' })
const search = (page: Page) => page.getByRole('main').getByRole('combobox', { name: 'Search APIs' })
const dialog = (page: Page) => page.getByRole('dialog', { name: /^Your session/ })
const keptSession = (page: Page) => page.evaluate(() => sessionStorage.getItem('gantry.session') ?? '')
const userMenu = async (page: Page, item: RegExp) => {
  await page.getByRole('button', { name: /^User menu/ }).click()
  await page.getByRole('menuitem', { name: item }).click()
}
const statusFor = async (authorization: string) => (await as(authorization, 'GET', '/session')).status

/** Types the secret into the dialog and sends it. */
async function continueWith(page: Page, label: string, secret: string) {
  await dialog(page).getByLabel(label).fill(secret)
  await page.keyboard.press('Enter')
}

/** Continues in the dialog, and checks that the waiting search is sent again with its input. */
async function continuesSearch(page: Page, label: string, secret: string) {
  const sentAgain = page.waitForResponse(response => isAt('/apis')(new URL(response.url())))
  await continueWith(page, label, secret)
  expect((await sentAgain).status()).toBe(200)
  await dialog(page).waitFor({ state: 'detached' })
  await expect.poll(() => search(page).inputValue()).toBe('google home')
}

test('the login refuses a wrong password and keeps the input, is accessible and fits on a phone', async ({
  page,
}) => {
  await page.goto(consoleUrl)
  const { username, password, token, submit } = inputs(page)
  await expect.poll(() => username.getAttribute('autocomplete')).toBe('username')
  await expect.poll(() => password.getAttribute('autocomplete')).toBe('current-password')
  await expect.poll(() => password.getAttribute('type')).toBe('password')
  await username.fill('admin')
  await password.fill('wrong')
  await submit.click()
  const problem = page.getByRole('alert', { name: 'You are not signed in' })
  await problem.getByText('Upper and lower case matter.').waitFor()
  await problem.getByText('Request id').waitFor()
  await expect.poll(() => username.inputValue()).toBe('admin')
  await expect.poll(() => password.inputValue()).toBe('wrong')
  await checkPage(page)
  await fitsPhone(page)

  await page.getByText('Access token', { exact: true }).click()
  await expect.poll(() => token.getAttribute('autocomplete')).toBe('off')
  for (const [typed, title] of [
    ['pat_unknown', 'Valid credentials are required'],
    ['two words', 'This is not an access token'],
    ['tökén', 'This is not an access token'],
  ] as const) {
    await token.fill(typed)
    await submit.click()
    await page.getByRole('alert', { name: title }).waitFor()
    await expect.poll(() => token.inputValue()).toBe(typed)
  }
})

test('the login works with the keyboard alone and opens the address, whose filters stay', async ({
  page,
}) => {
  await page.goto(`${consoleUrl}/apis?search=google`)
  const { username, password, token, submit } = inputs(page)
  await username.waitFor()
  await expect.poll(() => isFocused(username)).toBe(true)
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('ArrowRight')
  await token.waitFor()
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
  await heading(page, 'APIs').waitFor()
  await expect.poll(() => isFocused(heading(page, 'APIs'))).toBe(true)
  await expect.poll(() => search(page).inputValue()).toBe('google')
})

test('the login opens pages of the console only, and at once for a session that exists', async ({ page }) => {
  for (const next of ['https://example.com', '//example.com', '/\\example.com']) {
    // Closing the only tab of the console ends its session.
    const tab = await page.context().newPage()
    await signInByForm(tab, `/login?next=${encodeURIComponent(next)}`)
    expect(new URL(tab.url()).origin).toBe(new URL(url).origin)
    await tab.close()
  }
  await signInByForm(page)
  await open(page, '/login?next=%2Fwebhooks')
  await heading(page, 'Webhooks').waitFor()
})

test('the token is in the session storage of the tabs and nowhere else, a reload keeps it, and closing the last one ends it', async ({
  page,
}) => {
  await signInByForm(page, '/apis')
  const { token } = JSON.parse(await keptSession(page))
  expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  expect(await page.context().cookies()).toEqual([])
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(token)
  expect(page.url()).not.toContain(token)
  await page.reload()
  await heading(page, 'APIs').waitFor()
  const other = await page.context().newPage()
  await page.goto(`${url}/health/live`)
  await other.goto(`${consoleUrl}/apis`)
  await heading(other, 'Sign in').waitFor()
  await other.close()
})

test('a new tab has the session of the others, whose renewal and sign-out reach it', async ({ page }) => {
  const account = await createUser()
  const authorization = await logIn(account)
  await open(page, '/apis', authorization)
  const [other] = await Promise.all([
    page.context().waitForEvent('page'),
    areas(page)
      .getByRole('link', { name: 'Webhooks' })
      .click({ modifiers: ['ControlOrMeta'] }),
  ])
  await heading(other, 'Webhooks').waitFor()
  expect(JSON.parse(await keptSession(other)).user.username).toBe(account.username)

  await as(authorization, 'POST', '/logout')
  await search(page).fill('google home')
  await dialog(page).getByText('Your session has ended').waitFor()
  await continuesSearch(page, `Password of ${account.username}`, account.password)
  await expect.poll(() => keptSession(other)).toBe(await keptSession(page))

  await userMenu(page, /^Sign out$/)
  await heading(other, 'Sign in').waitFor()
  expect(await keptSession(other)).toBe('')
  await signInByForm(page, '/apis', account.username, account.password)
  await heading(other, 'Webhooks').waitFor()
  await other.close()
})

test('five minutes before its end a dialog asks for the password and continues without losing input; it can be postponed until the end', async ({
  clocked: page,
}) => {
  await signInByForm(page)
  await search(page).fill('google')
  const before = await keptSession(page)
  await page.clock.fastForward('54:00')
  expect(await dialog(page).count()).toBe(0)
  await page.clock.fastForward('01:30')
  await dialog(page).getByText('Your session ends in less than five minutes').waitFor()
  await checkPage(page)
  await continueWith(page, 'Password of admin', 'wrong')
  await dialog(page).getByRole('alert', { name: 'The user name or the password is wrong' }).waitFor()
  await continueWith(page, 'Password of admin', inject('password'))
  await dialog(page).waitFor({ state: 'detached' })
  await expect.poll(() => search(page).inputValue()).toBe('google')
  expect(await keptSession(page)).not.toBe(before)
  await page.clock.fastForward('50:00')
  expect(await dialog(page).count()).toBe(0)

  await page.clock.fastForward('05:30')
  await dialog(page).getByLabel('Password of admin').press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  await page.clock.fastForward('05:00')
  await dialog(page).getByText('Your session has ended').waitFor()
  await dialog(page).getByLabel('Password of admin').press('Escape')
  expect(await dialog(page).getByRole('button', { name: 'Not now' }).count()).toBe(0)
  await dialog(page).getByRole('button', { name: 'Sign out' }).click()
  await heading(page, 'Sign in').waitFor()
})

test('after the end of the session in another tab the page continues in place, also below another dialog', async ({
  page,
}) => {
  const account = await createUser()
  const label = `Password of ${account.username}`
  const authorization = await logIn(account)
  await open(page, '/apis', authorization)
  await as(authorization, 'POST', '/logout')
  await search(page).fill('google home')
  await dialog(page).getByText('Your session has ended').waitFor()
  await continuesSearch(page, label, account.password)

  await userMenu(page, /^Sign out everywhere/)
  const { token } = JSON.parse(await keptSession(page))
  // When the page sends its request: an earlier end might meet another request, whose dialog would cover the button.
  const end = async (route: Route) => {
    await as(`Bearer ${token}`, 'POST', '/logout')
    await route.continue()
  }
  await page.route(isAt('/logout'), end, { times: 1 })
  await page.getByRole('button', { name: 'End all logins' }).click()
  await dialog(page).getByLabel(label).press('Escape')
  await continueWith(page, label, account.password)
  // The waiting request, which ends all logins, is sent again.
  await heading(page, 'Sign in').waitFor()
})

test('a pasted access token signs in with its scopes, and continues with a token of the same user only', async ({
  page,
}) => {
  const [account, other] = [await createUser(), await createUser()]
  const owner = await logIn(account)
  const [first, second] = [await tokenWith(['API_READ'], owner), await tokenWith(['API_READ'], owner)]
  const strange = (await tokenWith(['API_READ'], await logIn(other))).replace('Bearer ', '')
  await page.goto(`${consoleUrl}/apis`)
  await page.getByText('Access token', { exact: true }).click()
  await inputs(page).token.fill(`  ${first}\n`)
  await inputs(page).submit.click()
  await areas(page).getByRole('link', { name: 'APIs' }).waitFor()
  expect(await areas(page).getByRole('link', { name: 'Webhooks' }).count()).toBe(0)
  await page.getByRole('button', { name: /^User menu/ }).click()
  await page.getByText('by the access token of a test').waitFor()
  await page.keyboard.press('Escape')

  const { accessToken } = await request('GET', '/session', undefined, first)
  await request('DELETE', `/accessTokens/${accessToken.id}`, undefined, owner)
  await search(page).fill('google home')
  await continueWith(page, `Access token of ${account.username}`, strange)
  const refusal = dialog(page).getByRole('alert', { name: 'This is another user' })
  await refusal.getByText(`The token belongs to ${other.username}.`).waitFor()
  await refusal.getByText('Sign in as the same user, or sign out first.').waitFor()
  await expect.poll(() => keptSession(page)).toContain(account.username)
  await continuesSearch(page, `Access token of ${account.username}`, second.replace('Bearer ', ''))
})

test('a session whose scopes have shrunk is read again, and what they allowed is absent', async ({
  page,
}) => {
  const { id, username, password } = await createUser()
  const authorization = await logIn({ username, password })
  await open(page, '/apis', authorization)
  const webhooks = areas(page).getByRole('link', { name: 'Webhooks' })
  await webhooks.waitFor()
  await request('PUT', `/users/${id}`, { username, role: 'BILLING_CONTACT', status: 'ACTIVE' })
  await expect.poll(async () => (await as(authorization, 'GET', '/webhooks')).status).toBe(403)
  await webhooks.click()
  await heading(page, 'You have no access to Webhooks').waitFor()
  await page.getByText('WEBHOOKS_READ').waitFor()
  expect(await webhooks.count()).toBe(0)
})

test('a user without access to any area is told so and can sign in with other credentials', async ({
  page,
}) => {
  await open(page, '/', await logIn(await createUser('NO_ACCESS')))
  await heading(page, 'You have no access to any area').waitFor()
  await page.getByText('with the role No access').waitFor()
  await page.getByRole('button', { name: 'Sign in with other credentials' }).click()
  await heading(page, 'Sign in').waitFor()
})

test('"Sign out" forgets the token; "Sign out everywhere" asks first, and ends all logins of the user', async ({
  page,
}) => {
  const account = await createUser()
  const authorization = await logIn(account)
  const token = await tokenWith(['API_READ'], authorization)
  await open(page, '/apis', authorization)
  await userMenu(page, /^Sign out$/)
  await heading(page, 'Sign in').waitFor()
  await expect.poll(() => keptSession(page)).toBe('')
  expect(await statusFor(authorization)).toBe(200)

  await open(page, '/apis', authorization)
  await userMenu(page, /^Sign out everywhere/)
  const question = page.getByRole('dialog')
  await question.getByText(`This ends all logins of ${account.username}`).waitFor()
  await question.getByRole('button', { name: 'Cancel' }).last().click()
  await question.waitFor({ state: 'detached' })
  expect(await statusFor(authorization)).toBe(200)
  await userMenu(page, /^Sign out everywhere/)
  await page.getByRole('button', { name: 'End all logins' }).click()
  await heading(page, 'Sign in').waitFor()
  expect(await statusFor(authorization)).toBe(401)
  expect(await statusFor(token)).toBe(200)
})

test('a person changes the password: the other logins end, and the session of the page continues', async ({
  page,
}) => {
  const account = await createUser()
  const [here, elsewhere] = [await logIn(account), await logIn(account)]
  await open(page, '/apis', here)
  await userMenu(page, /^Change password/)
  const changing = page.getByRole('dialog', { name: 'Change password' })
  const change = changing.getByRole('button', { name: 'Change password' })
  await change.click()
  await changing.getByText('New password is required').waitFor()
  await changing.getByLabel('Current password').fill('wrong')
  await page.keyboard.press('Escape')
  const leaving = page.getByRole('dialog', { name: 'Discard your changes?' })
  await leaving.getByRole('button', { name: 'Keep editing' }).last().click()
  await leaving.waitFor({ state: 'hidden' })
  await changing.getByLabel('New password').fill('another long password')
  await change.click()
  await changing.getByText(/^Current password is wrong/).waitFor()
  await checkPage(page)
  await changing.getByLabel('Current password').fill(account.password)
  await change.click()
  await page.getByRole('alert').getByText('The password is changed').waitFor()
  expect(await statusFor(elsewhere)).toBe(401)
  expect(await statusFor(await logIn({ ...account, password: 'another long password' }))).toBe(200)
  await page.reload()
  await areas(page).getByRole('link', { name: 'APIs' }).waitFor()
})

test('the documentation that the menu opens sends requests with the session, until the sign-out', async ({
  page,
}) => {
  await open(page, '/apis')
  await userMenu(page, /^REST API documentation$/)
  const token = page.getByRole('textbox', { name: 'Bearer Token' }).first()
  await expect.poll(() => token.inputValue()).toBe(JSON.parse(await keptSession(page)).token)
  const other = await page.context().newPage()
  // The answer of a busy tab is late.
  await other.addInitScript(() => {
    const { set } = Object.getOwnPropertyDescriptor(BroadcastChannel.prototype, 'onmessage') ?? {}
    Object.defineProperty(BroadcastChannel.prototype, 'onmessage', {
      set(hear: (message: MessageEvent) => void) {
        set?.call(this, (message: MessageEvent) => setTimeout(() => hear(message), 500))
      },
    })
  })
  await other.goto(`${consoleUrl}/apis`)
  await userMenu(other, /^Sign out$/)
  await expect.poll(() => token.inputValue()).toBe('')
  await other.close()
})
