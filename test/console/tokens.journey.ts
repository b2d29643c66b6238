import { expect } from 'vitest'
import { checkPage, consoleUrl, hold, loseResponses, open, test } from './src/browser.ts'
import { as, createUser, logIn, request } from './src/service.ts'

test('the secret of a token works, is shown once, and is gone after a reload; a revoked token is refused', async ({
  page,
}) => {
  await open(page, '/tokens', await logIn(await createUser()))
  await page.getByText('You have no access token').waitFor()
  await page.getByRole('link', { name: 'Create token' }).click()
  await page.getByLabel('Name').fill('deploy pipeline')
  await page.getByLabel('Valid for days').fill('5')
  await page.getByRole('treeitem', { name: /API_READ/ }).click()
  // The response of the first attempt is lost. There is one token nevertheless.
  await loseResponses(page, 'POST', '/accessTokens')
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.getByRole('alert').waitFor()
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Create token' }).click()
  const secret = await page.getByRole('textbox', { name: 'Secret' }).inputValue()
  await checkPage(page)
  const session = await request('GET', '/session', undefined, `Bearer ${secret}`)
  expect(session).toMatchObject({ scopes: ['API_READ'], credential: 'ACCESS_TOKEN' })
  await page.reload()
  await page.getByRole('heading', { name: 'Create token' }).waitFor()
  expect(await page.content()).not.toContain(secret)
  await page.getByRole('link', { name: 'Cancel' }).click()
  await page.getByRole('rowheader', { name: 'deploy pipeline' }).waitFor()
  await page.getByText('1 token', { exact: true }).waitFor()
  await page.getByText(/Expires in [45] days/).waitFor()
  await page.getByText('A token expires soon').waitFor()
  await checkPage(page)

  await page.getByRole('button', { name: 'Revoke deploy pipeline' }).click()
  const dialog = page.getByRole('dialog', { name: 'Revoke deploy pipeline?' })
  await dialog.getByText(/was last used|was never used/).waitFor()
  // The question stays open until the revocation has ended.
  const path = `/accessTokens/${session.accessToken.id}`
  const { asked, release } = await hold(page, 'DELETE', path, route => route.abort())
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
  await asked
  await expect.poll(() => dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  release()
  await dialog.getByRole('alert').getByText('The token is not revoked').waitFor()
  await page.unrouteAll()
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
  await page.getByText('You have no access token').waitFor()
  expect((await as(`Bearer ${secret}`, 'GET', '/session')).status).toBe(401)
})

test('the scopes are searched and chosen with the keyboard; a refusal is explained at the fields', async ({
  page,
}) => {
  await open(page, '/tokens/new')
  await page.getByLabel('Valid for days').fill('1000')
  await page.getByRole('button', { name: 'Create token' }).click()
  const name = page.getByRole('textbox', { name: 'Name' })
  await page.getByText('Name is required', { exact: true }).waitFor()
  await page.getByText('Scopes are required', { exact: true }).waitFor()
  await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true')
  await expect.poll(() => page.getByLabel('Valid for days').inputValue()).toBe('1000')

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
  await checkPage(page)
  await page.getByLabel('Search scopes').fill('')
  await page.getByText('42 of 42 shown').waitFor()
  await group.focus()
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => group.getAttribute('aria-expanded')).toBe('false')
  expect(await page.getByRole('treeitem', { name: /WEBHOOKS_WRITE/ }).count()).toBe(0)
  await page.keyboard.press('End')
  await page.keyboard.press('Space')
  await name.fill('of a test')
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.getByText(/^Valid for days must/).waitFor()
  await expect.poll(() => page.getByLabel('Valid for days').inputValue()).toBe('1000')
})

test('a token can get the scopes of the session only', async ({ page }) => {
  await open(page, '/tokens', await logIn(await createUser('BILLING_CONTACT')))
  await page.goto(`${consoleUrl}/tokens/new`)
  const scopes = page.locator('[role="treeitem"][aria-level="2"]')
  await scopes.first().waitFor()
  const names = async () =>
    (await scopes.evaluateAll(items => items.map(item => item.getAttribute('data-row')))).toSorted()
  // The scopes of other programs are folded until they are searched.
  expect(await names()).toEqual(['ACCESS_TOKEN_MANAGE', 'API_READ'])
  await page.getByLabel('Search scopes').fill('read')
  await page.getByText('6 of 6 shown').waitFor()
  expect(await names()).toEqual([
    'ACCESS_TOKEN_MANAGE',
    'API_READ',
    'METRICS_READ',
    'ORGANIZATION_READ',
    'PLAN_READ',
    'SUBSCRIPTIONS_READ',
  ])
})
