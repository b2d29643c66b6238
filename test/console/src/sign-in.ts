import type { Page } from 'playwright-core'

/** Signs in with the form of a page of the console, and waits for the page. @param address of the page */
export async function signInAt(page: Page, address: string, username: string, password: string) {
  await page.goto(address)
  await page.getByRole('textbox', { name: 'User name' }).fill(username)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: /^User menu/ }).waitFor()
}
