import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { checkPage, request, signIn, test, url } from './src/browser.ts'

const PASSWORD = 'a long enough password'

interface User {
  id: string
  username: string
}

/** Creates a user with a name of their own. */
const newUser = (role = 'USER', name = 'person'): Promise<User> =>
  request('POST', '/users', { username: `${name}-${randomUUID().slice(0, 8)}`, role, password: PASSWORD })

const open = (page: Page, path: string) => page.goto(`${url}/console${path}`)

/** Logs in with wrong passwords until the user is locked. */
async function lock({ username }: User): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt++) expect((await logIn(username, 'wrong')).status).toBe(401)
}

const logIn = (username: string, password: string) =>
  fetch(`${url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })

test('the users are searched, filtered and sorted, and the URL keeps it', async ({ signedIn: page }) => {
  const { username } = await newUser('BILLING_CONTACT', 'zeno')
  await open(page, '/users')
  await page.getByLabel('Search').fill(username)
  await page.getByRole('combobox', { name: 'Role' }).click()
  await page.getByRole('option', { name: 'BILLING_CONTACT' }).click()
  await page.getByRole('button', { name: 'Email' }).click()
  await page.getByText('1 user', { exact: true }).waitFor()
  await page.waitForURL(/text=zeno.*role=BILLING_CONTACT.*sort=email/)
  await page.reload()
  await page.getByRole('link', { name: username }).waitFor()
  await expect.poll(() => page.getByLabel('Search').inputValue()).toBe(username)
  await expect
    .poll(() => page.getByRole('columnheader', { name: 'Email' }).getAttribute('aria-sort'))
    .toBe('ascending')
})

test('a letter deleted while the search reaches the address stays deleted', async ({ signedIn: page }) => {
  await open(page, '/users')
  const search = page.getByLabel('Search')
  await search.focus()
  // Deletes the last letter when the address has changed, and before the page shows the change.
  await page.evaluate(() => {
    const { document, history } = globalThis as unknown as {
      document: { execCommand(command: string): void }
      history: { replaceState(...state: unknown[]): void }
    }
    const replaceState = history.replaceState.bind(history)
    history.replaceState = (...state) => {
      replaceState(...state)
      if (!String(state[2]).includes('text=admix')) return
      history.replaceState = replaceState
      document.execCommand('delete')
    }
  })
  await search.fill('admix')
  await page.waitForURL(/text=admi$/)
  await page.getByRole('link', { name: 'admin', exact: true }).waitFor()
  await expect.poll(() => search.inputValue()).toBe('admi')
})

test('the list of users is accessible, and says what roles may do', async ({ signedIn: page }) => {
  await lock(await newUser())
  await open(page, '/users')
  await page.getByRole('table', { name: 'Users' }).waitFor()
  await checkPage(page, 'users')
  await page.getByRole('button', { name: 'What roles may do' }).click()
  await page.getByRole('dialog').getByRole('table', { name: 'Roles', exact: true }).waitFor()
  await checkPage(page, 'roles')
})

test('filters of a URL that do not exist are left out', async ({ signedIn: page }) => {
  await open(page, '/users?role=OWNER&status=LATE&sort=shoes,asc&page=-1')
  await page.getByRole('link', { name: 'admin', exact: true }).waitFor()
})

test('a search without a match shows the way back to all users', async ({ signedIn: page }) => {
  await open(page, '/users?text=nobody-has-this-name')
  await page.getByRole('link', { name: 'Show all users' }).click()
  await page.getByRole('link', { name: 'admin', exact: true }).waitFor()
})

test('a list that cannot be read says so with the request id and is read again', async ({
  signedIn: page,
}) => {
  const problem = {
    code: 'unavailable',
    title: 'Unavailable',
    detail: 'Away',
    status: 500,
    type: 'about:blank',
  }
  await page.route('**/users?*', route =>
    route.fulfill({
      status: 500,
      headers: { 'x-request-id': 'the-request' },
      json: { ...problem, requestId: 'the-request' },
    }),
  )
  await open(page, '/users')
  await page.getByRole('alert').getByText('the-request').waitFor()
  await checkPage(page, 'users-failed')
  await page.unroute('**/users?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('link', { name: 'admin', exact: true }).waitFor()
})

test('a refused user is explained at the fields, and nothing typed is lost', async ({ signedIn: page }) => {
  const username = `new-${randomUUID().slice(0, 8)}`
  await open(page, '/users/new')
  await page.getByLabel('User name').fill(username)
  await page.getByLabel('Email').fill('not an address')
  await page.getByRole('textbox', { name: 'Password' }).fill('short')
  await page.getByRole('radio', { name: 'ADMIN', exact: true }).check()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('must be an email address').first().waitFor()
  await page.getByText('must be at least 12 characters').first().waitFor()
  await page.locator('[aria-invalid="true"]:focus').waitFor()
  await checkPage(page, 'new-user-refused')
  await page.getByLabel('Email').fill('new@example.com')
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: username }).waitFor()
  const { content } = await request('GET', `/users?username=${username}`)
  expect(content).toMatchObject([{ username, email: 'new@example.com', role: 'ADMIN', status: 'ACTIVE' }])
})

test('a user name that is taken is explained at its field', async ({ signedIn: page }) => {
  await open(page, '/users/new')
  await page.getByLabel('User name').fill('admin')
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.locator('[aria-invalid="true"]').waitFor()
  await expect.poll(() => page.getByLabel('User name').getAttribute('aria-invalid')).toBe('true')
})

test('leaving a form with input asks first', async ({ signedIn: page }) => {
  await open(page, '/users/new')
  await page.getByLabel('User name').fill('half typed')
  await page.getByRole('link', { name: 'Access tokens' }).click()
  await page.getByRole('dialog').getByText('Keep editing').click()
  await expect.poll(() => page.getByLabel('User name').inputValue()).toBe('half typed')
})

test('role and status of a user are changed', async ({ signedIn: page }) => {
  const { id, username } = await newUser()
  await open(page, `/users/${id}`)
  await page.getByRole('heading', { name: username }).waitFor()
  await checkPage(page, 'user')
  await page.getByRole('radio', { name: 'BILLING_CONTACT' }).check()
  await page.getByRole('radio', { name: 'Inactive' }).check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(`${username} is saved`, { exact: true }).waitFor()
  expect(await request('GET', `/users/${id}`)).toMatchObject({ role: 'BILLING_CONTACT', status: 'INACTIVE' })
})

test('a change meanwhile is compared with what was typed, and neither is lost', async ({
  signedIn: page,
}) => {
  const { id, username } = await newUser()
  await open(page, `/users/${id}`)
  await page.getByLabel('Display name').fill('Mine')
  await page.getByLabel('Email').fill('mine@example.com')
  await request('PUT', `/users/${id}`, { username, displayName: 'Theirs', role: 'NO_ACCESS' })
  await page.getByRole('button', { name: 'Save' }).click()
  const dialog = page.getByRole('dialog', { name: 'The user has changed since you opened it' })
  const name = dialog.getByRole('radiogroup', { name: /Display name/ })
  await expect.poll(() => name.textContent()).toMatch(new RegExp(`${username}[^]*Mine[^]*Theirs`))
  await checkPage(page, 'user-conflict')
  await name.getByRole('radio', { name: 'Mine' }).check()
  await dialog.getByRole('button', { name: 'Save the chosen values' }).click()
  await page.getByText(`${username} is saved`, { exact: true }).waitFor()
  expect(await request('GET', `/users/${id}`)).toMatchObject({
    displayName: 'Mine',
    email: 'mine@example.com',
    role: 'NO_ACCESS',
  })
})

test('a user who is locked after five wrong passwords is unlocked', async ({ page }) => {
  const user = await newUser('ADMIN', 'locked')
  await lock(user)
  await signIn(page, `/users?text=${user.username}`)
  await page.getByText(/Locked, ends in 1[45] minutes/).waitFor()
  await page.getByRole('button', { name: `Unlock ${user.username}` }).click()
  await page.getByText(`${user.username} is unlocked`).waitFor()
  await page.getByText(/Locked, ends/).waitFor({ state: 'detached' })
  expect((await logIn(user.username, PASSWORD)).status).toBe(200)
})

test('a user is deleted after a question', async ({ signedIn: page }) => {
  const { id, username } = await newUser()
  await open(page, `/users/${id}`)
  await page.getByRole('button', { name: 'Delete the user' }).click()
  const dialog = page.getByRole('dialog', { name: `Delete ${username}?` })
  await dialog.getByText('their access tokens are revoked').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor()
  await checkPage(page, 'user-delete')
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText(`${username} is deleted`, { exact: true }).waitFor()
  expect((await request('GET', `/users?username=${username}`)).totalElements).toBe(0)
})

test('personal data are erased only after the user name is typed', async ({ signedIn: page }) => {
  const { id, username } = await newUser()
  await open(page, `/users/${id}`)
  await page.getByRole('button', { name: 'Erase personal data' }).click()
  const erase = page.getByRole('button', { name: 'Erase for ever' })
  await expect.poll(() => erase.isDisabled()).toBe(true)
  await page.getByLabel(/to confirm/).fill(username.toUpperCase())
  await expect.poll(() => erase.isDisabled()).toBe(true)
  await checkPage(page, 'user-erase')
  await page.getByLabel(/to confirm/).fill(username)
  await erase.click()
  await page.getByText('The last of them is to be deleted by').waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('heading', { name: 'Users' }).waitFor()
  expect((await request('GET', `/users?username=${username}`)).totalElements).toBe(0)
})

test('the personal data of a deleted user are erased', async ({ signedIn: page }) => {
  const { id } = await newUser()
  await request('DELETE', `/users/${id}`)
  await open(page, `/users/${id}`)
  await page.getByText('There is no such user').waitFor()
  await checkPage(page, 'user-gone')
  await page.getByRole('button', { name: 'Erase personal data' }).click()
  await page.getByLabel(/to confirm/).fill(id)
  await page.getByRole('button', { name: 'Erase for ever' }).click()
  await page.getByText(`The key of the user ${id} was destroyed`).waitFor()
})

test('the page of a user whom another person deletes meanwhile has no form, and still erases their data', async ({
  signedIn: page,
}) => {
  const { id } = await newUser()
  await open(page, `/users/${id}`)
  await page.getByRole('button', { name: 'Delete the user' }).click()
  await request('DELETE', `/users/${id}`)
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('heading', { name: 'There is no such user' }).waitFor()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  expect(await page.getByRole('textbox').count()).toBe(0)
  expect(await page.getByRole('button', { name: /Save|Delete/ }).count()).toBe(0)
  await page.getByRole('button', { name: 'Erase personal data' }).click()
  await page.getByLabel(/to confirm/).fill(id)
  await page.getByRole('button', { name: 'Erase for ever' }).click()
  await page.getByText(`The key of the user ${id} was destroyed`).waitFor()
})

test('the result of an erasure stays when the user is read again', async ({ page }) => {
  const { id, username } = await newUser()
  await page.clock.install()
  await signIn(page, `/users/${id}`)
  await page.getByRole('button', { name: 'Erase personal data' }).click()
  await page.getByLabel(/to confirm/).fill(username)
  await page.getByRole('button', { name: 'Erase for ever' }).click()
  await page.getByText(`The key of the user ${id} was destroyed`).waitFor()
  // A tab reads again what is older than some seconds when it is shown again.
  await page.clock.fastForward('00:10')
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
  await page.getByText('There is no such user').waitFor()
  expect(await page.getByText(`The key of the user ${id} was destroyed`).isVisible()).toBe(true)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('heading', { name: 'Users' }).waitFor()
})

test('a user without the scopes has no administration', async ({ page }) => {
  const { username } = await newUser()
  await signIn(page, '/apis', username, PASSWORD)
  const areas = page.getByRole('navigation', { name: 'Areas' })
  await areas.getByRole('link', { name: 'Access tokens' }).waitFor()
  expect(await areas.getByRole('link', { name: 'Users' }).count()).toBe(0)
  expect(await areas.getByRole('link', { name: 'System' }).count()).toBe(0)
  await open(page, '/users')
  await page.getByText('USER_READ').waitFor()
  expect(await page.getByRole('link', { name: 'Create a user' }).count()).toBe(0)
})

test('an administrator cannot change a user above their own role', async ({ page }) => {
  const { username } = await newUser('ADMIN')
  const { id } = await newUser('GLOBAL_ADMIN')
  await signIn(page, `/users/${id}`, username, PASSWORD)
  await page.getByText('You cannot change this user').waitFor()
  expect(await page.getByRole('button', { name: /Save|Delete|Erase/ }).count()).toBe(0)
  await checkPage(page, 'user-above')
  await open(page, '/users/new')
  await expect.poll(() => page.getByRole('radio', { name: 'GLOBAL_ADMIN' }).isDisabled()).toBe(true)
})

test('a page after the end of a list leads to the first one', async ({ signedIn: page }) => {
  await open(page, '/users?page=999')
  await page.getByRole('button', { name: 'Show the first page' }).click()
  await page.getByRole('link', { name: 'admin', exact: true }).waitFor()
})
