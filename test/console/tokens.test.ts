import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { checkPage, request, signIn, test, url } from './src/browser.ts'

const PASSWORD = 'a long enough password'

/** Creates a user with a name of their own. @returns their name */
async function newUser(role = 'USER'): Promise<string> {
  const username = `tokens-${randomUUID().slice(0, 8)}`
  await request('POST', '/users', { username, role, password: PASSWORD })
  return username
}

test('the secret of a token works, is shown once, and is gone after a reload', async ({ page }) => {
  await signIn(page, '/tokens', await newUser(), PASSWORD)
  await page.getByText('You have no access token').waitFor()
  await checkPage(page, 'tokens-empty')
  await page.getByRole('link', { name: 'Create a token' }).click()
  await page.getByLabel('Name').fill('deploy pipeline')
  await page.getByLabel('Valid for days').fill('5')
  await page.getByRole('treeitem', { name: /^API_READ/ }).click()
  await page.getByRole('button', { name: 'Create with 1 scope', exact: true }).click()
  const secret = await page.getByRole('textbox', { name: 'Secret' }).inputValue()
  await checkPage(page, 'token-secret')
  const headers = { authorization: `Bearer ${secret}` }
  const session = await fetch(`${url}/session`, { headers })
  expect(await session.json()).toMatchObject({ scopes: ['API_READ'], credential: 'ACCESS_TOKEN' })
  await page.reload()
  await page.getByRole('heading', { name: 'Create an access token' }).waitFor()
  expect(await page.content()).not.toContain(secret)
  await page.getByRole('link', { name: 'Cancel' }).click()
  await page.getByRole('rowheader', { name: 'deploy pipeline' }).waitFor()
  await page.getByText(/Expires in [45] days/).waitFor()
  await page.getByText('A token expires soon').waitFor()
  await checkPage(page, 'tokens')
})

test('a revoked token is refused', async ({ page }) => {
  await signIn(page, '/tokens/new', await newUser(), PASSWORD)
  await page.getByLabel('Name').fill('to be revoked')
  await page.getByRole('treeitem', { name: /^Webhooks/ }).click()
  await page.getByRole('button', { name: 'Create with 2 scopes' }).click()
  const headers = {
    authorization: `Bearer ${await page.getByRole('textbox', { name: 'Secret' }).inputValue()}`,
  }
  await page.getByRole('link', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Revoke to be revoked' }).click()
  await page.getByRole('dialog').getByText('last used never').waitFor()
  await checkPage(page, 'token-revoke')
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
  await page.getByText('You have no access token').waitFor()
  expect((await fetch(`${url}/session`, { headers })).status).toBe(401)
})

test('the question before a revocation stays open until the revocation has ended', async ({ page }) => {
  await signIn(page, '/tokens/new', await newUser(), PASSWORD)
  await page.getByLabel('Name').fill('slow')
  await page.getByRole('treeitem', { name: /^API_READ/ }).click()
  await page.getByRole('button', { name: 'Create with 1 scope' }).click()
  await page.getByRole('link', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Revoke slow' }).click()
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  const { promise: failure, resolve: fail } = Promise.withResolvers<void>()
  await page.route('**/accessTokens/*', async route => {
    arrive()
    await failure
    await route.abort()
  })
  const dialog = page.getByRole('dialog', { name: 'Revoke slow?' })
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
  await arrived
  await expect.poll(() => dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  fail()
  await dialog.getByRole('alert').getByText('The token is not revoked').waitFor()
})

test('the scopes are searched and chosen with the keyboard', async ({ signedIn: page }) => {
  await page.goto(`${url}/console/tokens/new`)
  await page.getByLabel('Search scopes').fill('deliveries')
  await page.getByText('0 selected, 2 of 42 shown').waitFor()
  await page.getByLabel('Search scopes').press('ArrowDown')
  await page.keyboard.press('Space')
  await page.getByText('2 selected, 2 of 42').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await page.getByText('1 selected, 2 of 42').waitFor()
  const group = page.getByRole('treeitem', { name: /^Webhooks/ })
  await expect.poll(() => group.getAttribute('aria-checked')).toBe('mixed')
  await checkPage(page, 'new-token-search')
  await page.getByLabel('Search scopes').fill('')
  await page.getByText('42 of 42 shown').waitFor()
  await group.focus()
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => group.getAttribute('aria-expanded')).toBe('false')
  expect(await page.getByRole('treeitem', { name: /^WEBHOOKS_WRITE/ }).count()).toBe(0)
  await page.keyboard.press('End')
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Create with 2 scopes' }).waitFor()
})

test('a token can get the scopes of the session only', async ({ page }) => {
  await signIn(page, '/tokens/new', await newUser('BILLING_CONTACT'), PASSWORD)
  const scopes = page.locator('[role="treeitem"][aria-level="2"]')
  await scopes.first().waitFor()
  const names = await scopes.evaluateAll(items => items.map(item => item.getAttribute('data-row')))
  expect(names.toSorted()).toEqual(
    [
      'ACCESS_TOKEN_MANAGE',
      'API_READ',
      'METRICS_READ',
      'ORGANIZATION_READ',
      'PLAN_READ',
      'SUBSCRIPTIONS_READ',
    ].toSorted(),
  )
})

test('a refused token is explained at the fields, and nothing typed is lost', async ({ signedIn: page }) => {
  await page.goto(`${url}/console/tokens/new`)
  await page.getByLabel('Valid for days').fill('1000')
  await page.getByRole('button', { name: 'Create with 0 scopes' }).click()
  await page.getByRole('alert').waitFor()
  await expect
    .poll(() => page.getByRole('textbox', { name: 'Name' }).getAttribute('aria-invalid'))
    .toBe('true')
  await expect.poll(() => page.getByLabel('Valid for days').getAttribute('aria-invalid')).toBe('true')
  await expect.poll(() => page.getByLabel('Valid for days').inputValue()).toBe('1000')
  await checkPage(page, 'new-token-refused')
})

test('a creation whose answer was lost makes one token', async ({ page }) => {
  await signIn(page, '/tokens/new', await newUser(), PASSWORD)
  await page.getByLabel('Name').fill('once')
  await page.getByRole('treeitem', { name: /^API_READ/ }).click()
  await page.route('**/accessTokens', async route => {
    await route.fetch()
    await route.abort()
  })
  await page.getByRole('button', { name: 'Create with 1 scope' }).click()
  await page.getByRole('alert').waitFor()
  await page.unroute('**/accessTokens')
  await page.getByRole('button', { name: 'Create with 1 scope' }).click()
  await page.getByRole('textbox', { name: 'Secret' }).waitFor()
  await page.getByRole('link', { name: 'Done' }).click()
  await page.getByText('1 token', { exact: true }).waitFor()
})
