import { randomUUID } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'
import { request, signInByForm, test } from './src/browser.ts'
import { openReceiver } from './src/receiver.ts'

/** Nothing listens on this port. */
const CLOSED = 'http://127.0.0.1:9/'

/** Creates a record. It is deleted after the test. @returns its id */
async function create(collection: string, fields: object): Promise<string> {
  const { id } = await request('POST', collection, fields)
  onTestFinished(() => request('DELETE', `${collection}/${id}`))
  return id
}

test('a new user finds an API, creates a webhook, sees a delivery fail, corrects the URL and retries it', async ({
  page,
}) => {
  const receiver = await openReceiver()
  onTestFinished(() => receiver.close())
  const run = randomUUID().slice(0, 8)
  const apiName = `Water levels ${run}`
  const description = `Tides in harbours, run ${run}`
  const api = await create('/apis', {
    name: `tides-${run}`,
    displayName: apiName,
    description,
    status: 'ACTIVE',
    tags: [],
  })
  const login = { username: `nora-${run}`, password: randomUUID() }
  await create('/users', { ...login, displayName: 'Nora New', role: 'USER' })
  await signInByForm(page, '/apis', login.username, login.password)

  // The user remembers a word of the description.
  const open = async (words: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Find/ }).fill(words)
    await page.getByRole('option', { name: apiName }).click()
  }
  await open(`harbour ${run.slice(0, 6)}`)
  await page.getByRole('heading', { level: 1, name: apiName }).waitFor()

  // The webhook gets a wrong URL.
  await page.getByRole('tab', { name: 'Webhooks' }).click()
  await page.getByRole('link', { name: 'Create webhook' }).click()
  await page.getByText(`Events of APIs are selected for ${apiName}`).waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('URL').fill(CLOSED)
  await page.getByRole('button', { name: 'Create the webhook' }).click()
  await page.getByText(`Events of ${apiName} is created`).waitFor()
  const opensWebhook = page.getByRole('link', { name: 'Open the webhook' })
  const webhook = (await opensWebhook.getAttribute('href'))?.replace(/^\/console/, '') ?? ''
  onTestFinished(() => request('DELETE', webhook))

  // The user changes the API, and the delivery of the event fails.
  await open(`tides-${run}`)
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('When the water is high')
  await page.getByRole('button', { name: 'Save' }).click()
  // The field of the form contains the text too.
  await page.getByRole('heading', { level: 1, name: apiName, exact: true }).waitFor()
  await page.getByText('When the water is high').waitFor()
  await page.getByRole('link', { name: 'Deliveries' }).click()
  // The webhook gets the events of all APIs, also those of other tests.
  const filters = page.getByRole('search', { name: 'Filters of deliveries' })
  await filters.getByRole('combobox', { name: 'API' }).fill(`tides-${run}`)
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
  await page.getByLabel('URL').fill(receiver.url)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The webhook is saved').waitFor()

  // The retry succeeds.
  await page.getByRole('tab', { name: 'Deliveries' }).click()
  await page.locator(`a[href^="${new URL(delivery).pathname}"]`).click()
  await page.getByText('The webhook has another URL since the last attempt.').waitFor()
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByRole('heading', { name: /^Attempt \d succeeded$/ }).waitFor()
  await page.getByText('Delivered').waitFor()
  expect(receiver.received.filter(body => body.includes(api))).toHaveLength(1)
})
