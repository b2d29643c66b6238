import { expect } from 'vitest'
import { signInByForm, test } from './src/browser.ts'
import { openReceiver } from './src/receiver.ts'
import { createApi, createUser, removeAfterTest, unique } from './src/service.ts'

/** Nothing listens on this port. */
const CLOSED = 'http://127.0.0.1:9/'

test('a new user finds an API, creates a webhook, sees a delivery fail, corrects the URL and retries it', async ({
  page,
}) => {
  const receiver = await openReceiver()
  const name = unique('tides')
  const apiName = unique('Water levels')
  const { id: api } = await createApi({ name, displayName: apiName, description: `Harbours of ${name}` })
  const { username, password } = await createUser('USER', { displayName: 'Nora New' })
  await signInByForm(page, '/apis', username, password)

  // The user remembers a word of the description.
  const open = async (words: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Find/ }).fill(words)
    await page.getByRole('option', { name: apiName }).click()
  }
  await open(`harbours ${name.slice(0, 12)}`)
  await page.getByRole('heading', { level: 1, name: apiName }).waitFor()

  // The webhook gets a wrong URL.
  await page.getByRole('tab', { name: 'Webhooks' }).click()
  await page.getByRole('link', { name: 'Create webhook' }).click()
  await page.getByText(`Events of APIs are selected for ${apiName}`).waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('URL').fill(CLOSED)
  await page.getByRole('button', { name: 'Create webhook' }).click()
  await page.getByText(`Events of ${apiName} is created`).waitFor()
  const opensWebhook = page.getByRole('link', { name: 'Open the webhook' })
  const webhook = (await opensWebhook.getAttribute('href'))?.split('/console')[1] ?? ''
  removeAfterTest(webhook)

  // The user changes the API, and the delivery of the event fails.
  await open(name)
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('When the water is high')
  await page.getByRole('button', { name: 'Save' }).click()
  // The field of the form contains the text too.
  await page.getByRole('heading', { level: 1, name: apiName, exact: true }).waitFor()
  await page.getByText('When the water is high').waitFor()
  await page.getByRole('link', { name: 'Deliveries' }).click()
  // The webhook gets the events of all APIs, also those of other tests.
  const filters = page.getByRole('search', { name: 'Filters of deliveries' })
  await page.getByRole('button', { name: 'More filters' }).click()
  await filters.getByRole('combobox', { name: 'API' }).fill(name)
  await page.getByRole('option', { name: apiName }).click()
  const failed = page.getByRole('row').filter({ hasText: `Events of ${apiName}` })
  await failed.getByText('Retrying').waitFor()
  await failed.getByRole('link', { name: 'API_UPDATED' }).click()
  await page.getByText('No connection to the receiver could be opened.').first().waitFor()
  // The third attempt would be minutes later.
  await page.getByRole('heading', { name: 'Attempt 2 failed' }).waitFor()
  const delivery = page.url()

  // The user corrects the URL.
  await page
    .getByRole('link', { name: `Events of ${apiName}` })
    .first()
    .click()
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The webhook is saved').waitFor()

  // The retry succeeds.
  await page.getByRole('tab', { name: 'Deliveries' }).click()
  await page.locator(`a[href^="${new URL(delivery).pathname}"]`).click()
  await page.getByText('The webhook has another URL since the last attempt.').waitFor()
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByRole('heading', { name: /^Attempt \d succeeded$/ }).waitFor()
  await page.getByText('Delivered', { exact: true }).waitFor()
  expect(receiver.received.filter(({ body }) => body.includes(api))).toHaveLength(1)
})
