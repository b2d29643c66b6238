import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { checkPage, consoleUrl, fitsPhone, heading, open, showAgain, test } from './src/browser.ts'
import { as, createUser, logIn, request, tokenWith, unique } from './src/service.ts'

const withName = (username: string) => request('GET', `/users?username=${username}`)

/** Confirms the erasure of the personal data of a user. @param typed what the dialog asks for */
async function erase(page: Page, id: string, typed: string) {
  await page.getByLabel(/to confirm/).fill(typed)
  await page.getByRole('button', { name: 'Erase for ever' }).click()
  await page.getByText(`The key of the user ${id} was destroyed`).waitFor()
}

test('the users are searched, filtered and sorted, and the URL keeps it; the roles are explained', async ({
  page,
}) => {
  const { username } = await createUser('BILLING_CONTACT', { username: unique('zeno') })
  await open(page, '/users')
  await page.getByLabel('Search').fill(username)
  await page.getByRole('combobox', { name: 'Role' }).click()
  await page.getByRole('option', { name: 'Billing contact' }).click()
  await page.getByRole('button', { name: 'Email' }).click()
  await page.getByRole('status').getByText('1 user', { exact: true }).waitFor()
  await page.waitForURL(/text=zeno.*role=BILLING_CONTACT.*sort=email/)
  await page.reload()
  await page.getByRole('link', { name: username }).waitFor()
  await expect.poll(() => page.getByLabel('Search').inputValue()).toBe(username)
  const email = page.getByRole('columnheader', { name: 'Email' })
  await expect.poll(() => email.getAttribute('aria-sort')).toBe('ascending')
  await page.getByRole('button', { name: 'What roles may do' }).click()
  await page.getByRole('dialog').getByRole('table', { name: 'Roles', exact: true }).waitFor()
  await page.keyboard.press('Escape')

  await page.getByLabel('Search').fill('nobody-has-this-name')
  await page.getByRole('status').getByRole('link', { name: 'Show all users' }).click()
  await page.getByRole('link', { name: 'admin', exact: true }).waitFor()
  await page.goto(`${consoleUrl}/users?page=999`)
  await page.getByRole('button', { name: 'Show the first page' }).click()
  await page.getByRole('link', { name: 'admin', exact: true }).waitFor()
})

test('a letter deleted while the search reaches the address stays deleted', async ({ page }) => {
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

test('a refused user is explained at the fields, and nothing typed is lost', async ({ page }) => {
  const username = unique('new')
  await open(page, '/users/new')
  const isInvalid = (field: string) => page.getByLabel(field).getAttribute('aria-invalid')
  const create = page.getByRole('button', { name: 'Create', exact: true })
  await page.getByLabel('User name').fill('admin')
  await page.getByLabel('Email').fill('not an address')
  await page.getByRole('textbox', { name: 'Password' }).fill('short')
  await page.getByRole('radio', { name: 'Administrator', exact: true }).check()
  // Leaving the form asks first.
  await page.getByRole('link', { name: 'Access tokens' }).click()
  await page.getByRole('dialog').getByText('Keep editing').click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await create.click()
  await page.getByText('must be an email address').first().waitFor()
  await page.getByText('must be at least 12 characters').first().waitFor()
  await page.locator('[aria-invalid="true"]:focus').waitFor()
  await fitsPhone(page)
  await page.getByLabel('Email').fill('new@example.com')
  await page.getByRole('textbox', { name: 'Password' }).fill('a long enough password')
  await create.click()
  await expect.poll(() => isInvalid('User name')).toBe('true')
  await page.getByLabel('User name').fill(username)
  await create.click()
  await page.getByRole('heading', { name: username }).waitFor()
  const { content } = await withName(username)
  expect(content).toMatchObject([{ username, email: 'new@example.com', role: 'ADMIN', status: 'ACTIVE' }])
})

test('a user is changed; a change meanwhile is compared with what was typed, and neither is lost', async ({
  page,
}) => {
  const { id, username } = await createUser()
  await open(page, `/users/${id}`)
  await heading(page, username).waitFor()
  await checkPage(page)
  await fitsPhone(page)
  await page.getByRole('button', { name: 'Edit' }).click()
  await checkPage(page)
  await page.getByLabel('Display name').fill('Mine')
  await page.getByLabel('Email').fill('mine@example.com')
  await page.getByRole('radio', { name: 'Inactive' }).check()
  await request('PUT', `/users/${id}`, { username, displayName: 'Theirs', role: 'NO_ACCESS' })
  await page.getByRole('button', { name: 'Save' }).click()
  const dialog = page.getByRole('dialog', { name: 'The user has changed since you opened it' })
  const name = dialog.getByRole('radiogroup', { name: /Display name/ })
  await expect.poll(() => name.textContent()).toMatch(new RegExp(`${username}[^]*Mine[^]*Theirs`))
  await name.getByRole('radio', { name: 'Mine' }).check()
  await dialog.getByRole('button', { name: 'Save the chosen values' }).click()
  await page.getByText(`${username} is saved`, { exact: true }).waitFor()
  expect(await request('GET', `/users/${id}`)).toMatchObject({
    displayName: 'Mine',
    email: 'mine@example.com',
    role: 'NO_ACCESS',
    status: 'INACTIVE',
  })
})

test('a user gets a new password, and nothing else is changed', async ({ page }) => {
  const { id, username } = await createUser()
  const before = await request('GET', `/users/${id}`)
  await open(page, `/users/${id}`)
  await page.getByRole('button', { name: 'Set a new password' }).click()
  const dialog = page.getByRole('dialog', { name: `New password of ${username}` })
  const field = dialog.getByRole('textbox', { name: 'Password' })
  await field.fill('short')
  await dialog.getByRole('button', { name: 'Set the password' }).click()
  await dialog.getByText('Password must be at least 12 characters').waitFor()
  await checkPage(page)
  const password = 'another long password'
  await field.fill(password)
  await dialog.getByRole('button', { name: 'Set the password' }).click()
  await page.getByText(`${username} has a new password`).waitFor()
  expect(await logIn({ username, password })).not.toBe('')
  expect(await request('GET', `/users/${id}`)).toEqual({ ...before, updatedAt: expect.any(String) })
})

test('a user who is locked after five wrong passwords is unlocked', async ({ page }) => {
  const user = await createUser('ADMIN')
  const password = 'wrong'
  for (let attempt = 0; attempt < 5; attempt++)
    expect((await as('', 'POST', '/login', { ...user, password })).status).toBe(401)
  await open(page, `/users?text=${user.username}`)
  await page.getByText(/Locked, ends in 1[45] minutes/).waitFor()
  await page.getByRole('button', { name: `Unlock ${user.username}` }).click()
  await page.getByText(`${user.username} is unlocked`).waitFor()
  await page.getByText(/Locked, ends/).waitFor({ state: 'detached' })
  expect(await logIn(user)).not.toBe('')
})

test('a user is deleted after a question, and the personal data are erased after the id is typed', async ({
  page,
}) => {
  const { id, username } = await createUser()
  await open(page, `/users/${id}`)
  await page.getByRole('button', { name: 'Delete the user' }).click()
  const dialog = page.getByRole('dialog', { name: `Delete ${username}?` })
  await dialog.getByText('their access tokens are revoked').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor()
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText(`${username} is deleted`, { exact: true }).waitFor()
  expect((await withName(username)).totalElements).toBe(0)
  await page.goto(`${consoleUrl}/users/${id}`)
  await page.getByText('There is no such user').waitFor()
  await page.getByRole('button', { name: 'Erase personal data' }).click()
  await erase(page, id, id)
})

test('personal data are erased only after the user name is typed, and the result stays', async ({
  clocked: page,
}) => {
  const { id, username } = await createUser()
  await open(page, `/users/${id}`)
  await page.getByRole('button', { name: 'Erase personal data' }).click()
  const button = page.getByRole('button', { name: 'Erase for ever' })
  await expect.poll(() => button.isDisabled()).toBe(true)
  await page.getByLabel(/to confirm/).fill(username.toUpperCase())
  await expect.poll(() => button.isDisabled()).toBe(true)
  await erase(page, id, username)
  await page.getByText('The last of them is to be deleted by').waitFor()
  await page.clock.fastForward('00:10')
  await showAgain(page)
  await page.getByText('There is no such user').waitFor()
  expect(await page.getByText(`The key of the user ${id} was destroyed`).isVisible()).toBe(true)
  await page.getByRole('button', { name: 'Done' }).click()
  await heading(page, 'Users').waitFor()
  expect((await withName(username)).totalElements).toBe(0)
})

test('an administrator sees the access tokens of a user and revokes one', async ({ page }) => {
  const user = await createUser()
  const token = await tokenWith(['API_READ'], await logIn(user))
  await open(page, `/users/${user.id}`)
  const tokens = page.getByRole('region', { name: 'Access tokens of the user' })
  await tokens.getByRole('row', { name: /of a test.*API_READ.*never/ }).waitFor()
  await tokens.getByRole('button', { name: 'Revoke of a test' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
  await tokens.getByText('The user has no access token.').waitFor()
  expect((await as(token, 'GET', '/session')).status).toBe(401)
})

test('a session has only the administration that its role allows', async ({ page }) => {
  const { id: above } = await createUser('GLOBAL_ADMIN')
  await open(page, `/users/${above}`, await logIn(await createUser('ADMIN')))
  await page.getByText('You cannot change this user').waitFor()
  expect(await page.getByRole('button', { name: /Edit|Save|Delete|Erase|password/ }).count()).toBe(0)
  await page.goto(`${consoleUrl}/users/new`)
  await expect.poll(() => page.getByRole('radio', { name: 'Global administrator' }).isDisabled()).toBe(true)

  await open(page, '/users', await logIn(await createUser()))
  await page.getByText('USER_READ').waitFor()
  expect(await page.getByRole('link', { name: 'Create user' }).count()).toBe(0)
  const areas = page.getByRole('navigation', { name: 'Areas' })
  await areas.getByRole('link', { name: 'Access tokens' }).waitFor()
  expect(await areas.getByRole('link', { name: /System|Users/ }).count()).toBe(0)
})
