import { expect } from 'vitest'
import { checkPage, signIn, test, url } from './src/browser.ts'

test('an address below the console opens after the login', async ({ page }) => {
  await signIn(page, '/webhooks')
  expect(new URL(page.url()).pathname).toBe('/console/webhooks')
  await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
})

test('the login page says that a password is wrong and keeps the user name', async ({ page }) => {
  await page.goto(`${url}/console`)
  await page.getByLabel('User name').fill('admin')
  await page.getByRole('textbox', { name: 'Password' }).fill('wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert', { name: 'You are not signed in' }).waitFor()
  expect(await page.getByRole('textbox', { name: 'User name' }).inputValue()).toBe('admin')
})

test('the login page is accessible', async ({ page }) => {
  await page.goto(`${url}/console`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await checkPage(page, 'login')
})
