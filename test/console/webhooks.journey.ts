import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import {
  checkPage,
  consoleUrl,
  fitsPhone,
  heading,
  hold,
  isAt,
  loseResponses,
  open,
  searchOf,
  test,
} from './src/browser.ts'
import { openReceiver, type Receiver } from './src/receiver.ts'
import {
  createApi,
  createUser,
  createWebhook,
  removeAfterTest,
  request,
  tokenWith,
  unique,
} from './src/service.ts'

/** Makes a test delivery of a webhook and waits for its first attempt. */
async function deliverTest({ id }: { id: string }): Promise<void> {
  const { id: delivery } = await request('POST', `/webhooks/${id}/test`)
  const record = () => request('GET', `/webhooks/${id}/requests/${delivery}`)
  await expect.poll(async () => (await record()).status).not.toBe('CREATED')
}

interface Part {
  getBoundingClientRect(): { left: number; top: number; bottom: number }
  contains(other: unknown): boolean
  ownerDocument: { elementFromPoint(x: number, y: number): unknown }
}

/** Whether the upper and lower edge of a part are in the window and nothing lies above them. */
const isInSight = (part: Locator) =>
  part.evaluate(element => {
    const shown = element as unknown as Part
    const { left, top, bottom } = shown.getBoundingClientRect()
    return [top + 4, bottom - 4].every(y =>
      shown.contains(shown.ownerDocument.elementFromPoint(left + 12, y)),
    )
  })

const names = (page: Page) =>
  page.getByRole('table', { name: 'Webhooks' }).locator('tbody a').allTextContents()
const searchBox = (page: Page) => page.getByRole('searchbox', { name: 'Search webhooks' })

test('the list shows the health of webhooks, and the address has its filters and its order', async ({
  page,
}) => {
  const mark = unique('mark')
  const [a, b, c] = [`A ${mark}`, `B ${mark}`, `C ${mark}`]
  const broken = await openReceiver(() => ({ status: 500 }))
  const failing = await createWebhook({ displayName: b, url: broken.url })
  const healthy = await createWebhook({ displayName: a, url: (await openReceiver()).url })
  await createWebhook({ displayName: c, active: false })
  await Promise.all([deliverTest(failing), deliverTest(healthy)])

  await open(page, '/webhooks')
  await searchBox(page).fill(mark)
  await page.getByText('3 webhooks').waitFor()
  await expect.poll(() => names(page)).toEqual([a, b, c])
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  const failingRow = page.getByRole('row', { name: /Failing 0% (< )?\d+ ms (now|\d+ seconds? ago)/ })
  await row(b).and(failingRow).waitFor()
  await row(a).getByText('100%').waitFor()
  await checkPage(page)

  await page.getByRole('button', { name: 'Webhook', exact: true }).click()
  await expect.poll(() => names(page)).toEqual([c, b, a])
  await page.getByRole('button', { name: 'Failing since' }).click()
  await expect.poll(() => names(page)).toEqual([b, expect.any(String), expect.any(String)])
  await page.getByText('Failing (1)').first().click()
  await page.getByText('1 webhook', { exact: true }).waitFor()
  await page.reload()
  await page.getByText('1 webhook', { exact: true }).waitFor()
  await expect.poll(() => names(page)).toEqual([b])
  expect(searchOf(page)).toEqual({ search: mark, state: 'failing', sort: 'failingSince' })

  await page.goto(`${consoleUrl}/webhooks?search=${mark}&page=9`)
  await page.getByRole('button', { name: 'Show the first page' }).click()
  await expect.poll(() => names(page)).toEqual([a, b, c])
  await searchBox(page).fill(randomUUID())
  await page.getByRole('button', { name: 'Show all webhooks' }).click()
  await expect.poll(() => searchBox(page).inputValue()).toBe('')
})

test('a list without webhooks explains what they are for', async ({ page }) => {
  const empty = { content: [], size: 100, number: 1, totalPages: 0, totalElements: 0, last: true }
  await page.route(isAt('/webhooks'), route => route.fulfill({ json: empty }))
  await open(page, '/webhooks')
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
  await page.getByRole('main').getByRole('link', { name: 'Create webhook' }).last().click()
  await page.getByRole('heading', { name: 'Which events should it receive?' }).waitFor()
})

test('a webhook is created once in steps, and its test and secret are shown', async ({ page }) => {
  const endpoint = await openReceiver(() => ({ status: 200, body: 'thanks' }))
  const displayName = unique('Search index')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await open(page, '/webhooks/new')
  const alert = page.getByRole('main').getByRole('alert')
  await page.getByRole('button', { name: 'Continue' }).waitFor()
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  await page.getByRole('button', { name: 'Continue' }).click()
  await alert.getByText('Select at least one event type').waitFor()
  await expect.poll(() => isInSight(alert)).toBe(true)
  await page.getByRole('searchbox', { name: 'Search event types' }).fill('deployed environment')
  await page.getByRole('button', { name: 'Example of API_DEPLOYED' }).click()
  const example = page.getByRole('region', { name: 'Example payload of API_DEPLOYED' })
  expect(JSON.parse((await example.textContent()) ?? '')).toMatchObject({ type: 'API_DEPLOYED', data: {} })
  await page.getByRole('checkbox', { name: 'API_DEPLOYED', exact: true }).check()
  await checkPage(page)
  await fitsPhone(page)
  // Leaving asks first.
  await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click()
  await page.getByRole('dialog').getByText('Keep editing', { exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Continue' }).click()

  const create = page.getByRole('button', { name: 'Create webhook' })
  await page.getByLabel('Display name').fill(displayName)
  await page.getByLabel('URL').fill('http://10.1.2.3/hook')
  await create.click()
  await expect.poll(() => page.getByLabel('URL').getAttribute('aria-invalid')).toBe('true')
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe(displayName)
  await page.getByLabel('URL').fill(endpoint.url)
  await loseResponses(page, 'POST', '/webhooks')
  await create.click()
  await page.getByText('The webhook was not created').waitFor()
  await expect.poll(() => isInSight(alert)).toBe(true)
  await page.unrouteAll()
  await create.click()
  await page.getByText(`${displayName} is created`).waitFor()
  const made = (await request('GET', '/webhooks?size=100')).content.filter(
    (webhook: { displayName: string }) => webhook.displayName === displayName,
  )
  for (const { id } of made) removeAfterTest(`/webhooks/${id}`)
  expect(made).toHaveLength(1)

  const secret = await page.getByLabel('Signing secret', { exact: true }).inputValue()
  await page.getByRole('button', { name: 'Copy: Signing secret' }).click()
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(secret)
  await page.getByRole('button', { name: 'Send a test delivery' }).click()
  await page.getByText('The test has arrived').waitFor()
  await page.getByText('The endpoint answered 200').waitFor()
  await checkPage(page)
  const [delivered] = endpoint.received
  for (const verifies of [verifiesInJavaScript, verifiesInPython]) {
    expect(await verifies(page, delivered, secret)).toBe(true)
    expect(await verifies(page, delivered, `whsec_${btoa('another secret')}`)).toBe(false)
  }
  await page.getByRole('link', { name: 'Open the webhook' }).click()
  await heading(page, displayName).waitFor()
  expect(await page.content()).not.toContain(secret)
})

type Arrival = Receiver['received'][number] | undefined

/** Runs the JavaScript that the page shows. */
async function verifiesInJavaScript(page: Page, arrival: Arrival, secret: string): Promise<boolean> {
  const region = page.getByRole('region', { name: 'Check of a signature in JavaScript' })
  await page.getByText('JavaScript', { exact: true }).click()
  const code = `data:text/javascript,${encodeURIComponent((await region.textContent()) ?? '')}`
  const { isGenuine } = await import(code)
  return isGenuine(arrival?.headers, arrival?.body, secret)
}

/** Runs the Python that the page shows. */
async function verifiesInPython(page: Page, arrival: Arrival, secret: string): Promise<boolean> {
  await page.getByText('Python', { exact: true }).click()
  const shown = await page.getByRole('region', { name: 'Check of a signature in Python' }).textContent()
  const call =
    'import json, sys\nprint(is_genuine(*(lambda h, b, s: (h, b.encode(), s))(*json.load(sys.stdin))))\n'
  const input = JSON.stringify([arrival?.headers, arrival?.body, secret])
  return (
    execFileSync('python3', ['-c', `${shown}\n${call}`], { input })
      .toString()
      .trim() === 'True'
  )
}

test('a test that fails shows the answer of the endpoint once it has arrived', async ({ page }) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const slow = await openReceiver(async () => {
    await promise
    return { status: 500, body: 'out of order' }
  })
  const { id } = await createWebhook({ url: slow.url })
  await open(page, `/webhooks/${id}`)
  await page.getByRole('button', { name: 'Send a test delivery' }).click()
  await page.getByText('Waiting for the answer of the endpoint').waitFor()
  resolve()
  // The alarm of the webhook gives the same reason.
  const result = page.getByRole('alert', { name: 'The test has not arrived' })
  await result.getByText('The receiver answered with status 500').waitFor()
  const body = page.getByRole('region', { name: 'Body of the answer' })
  await expect.poll(() => body.textContent()).toBe('out of order')
  await page.getByText('The latest attempts have failed').waitFor()
})

test('a webhook begins with the events of its API, without those that the session may not read', async ({
  page,
}) => {
  const api = await createApi()
  const scopes = ['WEBHOOKS_READ', 'WEBHOOKS_WRITE', 'API_READ']
  await open(page, `/webhooks/new?api=${api.id}`, await tokenWith(scopes))
  await page.getByText(`Events of APIs are selected for ${api.displayName}`).waitFor()
  const type = (name: string) => page.getByRole('checkbox', { name, exact: true })
  await expect.poll(() => type('API_DEPLOYED').isChecked()).toBe(true)
  await expect.poll(() => type('CONFIGURATION_CHANGED').isDisabled()).toBe(true)
  await page.getByText('Needs the scope CONFIGURATION_READ').waitFor()
  await expect.poll(() => type('API_CREATED').isEnabled()).toBe(true)
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe(`Events of ${api.displayName}`)
})

test('a webhook is edited, deactivated, activated and deleted', async ({ page }) => {
  const { id, displayName } = await createWebhook()
  await open(page, `/webhooks/${id}`)
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'URL' }).fill('http://127.0.0.1:9/other')
  await page.getByRole('checkbox', { name: 'API_CREATED' }).uncheck()
  await page.getByRole('checkbox', { name: 'All event types of: API versions' }).check()
  await page.getByRole('switch', { name: 'Deliver in order' }).check()
  await page.getByLabel('CloudEvents, structured').check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The webhook is saved').waitFor()
  await page.getByText('http://127.0.0.1:9/other').waitFor()
  const saved = {
    url: 'http://127.0.0.1:9/other',
    eventTypes: ['API_DEPLOYED', 'API_VERSION_CREATED', 'API_VERSION_UPDATED', 'API_VERSION_DELETED'],
    ordered: true,
    format: 'CLOUDEVENTS_STRUCTURED',
    active: true,
  }
  expect(await request('GET', `/webhooks/${id}`)).toMatchObject(saved)

  await page.getByRole('button', { name: 'Deactivate' }).click()
  await page.getByText('It receives no events.').waitFor()
  await page.getByRole('button', { name: 'Activate' }).click()
  await page.getByRole('button', { name: 'Deactivate' }).waitFor()
  expect(await request('GET', `/webhooks/${id}`)).toMatchObject(saved)

  await page.getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog', { name: `Delete ${displayName}?` })
  await dialog.getByRole('button', { name: 'Delete the webhook' }).click()
  await heading(page, 'Webhooks').waitFor()
  await expect(request('GET', `/webhooks/${id}`)).rejects.toThrow('404')
  expect(await names(page)).not.toContain(displayName)
  await page.goto(`${consoleUrl}/webhooks/${id}`)
  await page.getByText('This webhook is deleted.').waitFor()
  await page.getByRole('article', { name: 'Deleted' }).waitFor()
  await page.getByRole('article', { name: 'Created' }).waitFor()
  await page.goto(`${consoleUrl}/webhooks/${randomUUID()}`)
  await page.getByRole('alert', { name: /There is no such webhook/ }).waitFor()
})

test('a comparison with the change of another person stays while the chosen values are saved, and its choices when that fails', async ({
  page,
}) => {
  const { id, secret: _, ...webhook } = await createWebhook()
  const [mine, theirs] = [unique('Mine'), unique('Theirs')]
  await open(page, `/webhooks/${id}/edit`)
  await page.getByLabel('Display name').fill(mine)
  await page.getByRole('textbox', { name: 'URL' }).fill('http://127.0.0.1:9/mine')
  const changes = { displayName: theirs, url: 'http://127.0.0.1:9/theirs', ordered: true }
  await request('PUT', `/webhooks/${id}`, { ...webhook, ...changes })
  await page.getByRole('button', { name: 'Save' }).click()
  const conflict = page.getByRole('dialog', { name: 'The webhook has changed since you opened it' })
  const field = (name: RegExp) => conflict.getByRole('radiogroup', { name })
  await field(/Display name/)
    .getByRole('radio', { name: 'Theirs' })
    .check()
  await field(/URL/).getByRole('radio', { name: 'Mine' }).check()
  const compared = async () => ({
    values: await conflict.getByRole('radiogroup').allInnerTexts(),
    conflicts: await conflict.getByText('Both of you have changed it').count(),
  })
  const before = await compared()
  expect(before).toEqual({
    values: [
      expect.stringMatching(new RegExp(`${webhook.displayName}[^]*${mine}[^]*${theirs}`)),
      expect.stringMatching(new RegExp(`${webhook.url}[^]*/mine[^]*/theirs`)),
      expect.stringMatching(/No.*No.*Yes/s),
    ],
    conflicts: 2,
  })

  const { asked, release } = await hold(page, 'PUT', `/webhooks/${id}`, route => route.abort())
  const save = conflict.getByRole('button', { name: 'Save the chosen values' })
  await save.click()
  await asked
  await expect.poll(() => save.getAttribute('data-loading')).toBe('true')
  expect(await compared()).toEqual(before)
  await page.keyboard.press('Escape')
  expect(await conflict.isVisible()).toBe(true)
  release()
  await page.getByText('The webhook was not saved').waitFor()
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe(theirs)
  await expect
    .poll(() => page.getByRole('textbox', { name: 'URL' }).inputValue())
    .toBe('http://127.0.0.1:9/mine')
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The webhook is saved').waitFor()
  expect(await request('GET', `/webhooks/${id}`)).toMatchObject({
    displayName: theirs,
    url: 'http://127.0.0.1:9/mine',
    ordered: true,
  })
})

test('an administrator transfers a webhook to another user', async ({ page }) => {
  const { id } = await createWebhook()
  const { id: owner, username } = await createUser('USER', { displayName: 'Nora New' })
  await open(page, `/webhooks/${id}`)
  await page.getByRole('button', { name: 'Transfer' }).click()
  await page.getByRole('combobox', { name: 'New owner' }).fill(username)
  await page.getByRole('option', { name: `Nora New (${username})` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Transfer' }).click()
  await page.getByText('has another owner').waitFor()
  expect(await request('GET', `/webhooks/${id}`)).toMatchObject({ owner, active: true })
  await page.getByText('Nora New', { exact: true }).waitFor()
})

test('a rotation shows the new secret once and counts down the old one', async ({ clocked: page }) => {
  const endpoint = await openReceiver()
  const webhook = await createWebhook({ url: endpoint.url, eventTypes: ['API_DEPLOYED'] })
  await open(page, `/webhooks/${webhook.id}`)
  await page.getByRole('button', { name: 'Rotate the secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  const dialog = page.getByRole('dialog', { name: 'The new signing secret' })
  const secret = await dialog.getByLabel('Signing secret', { exact: true }).inputValue()
  expect(secret).toMatch(/^whsec_/)
  expect(secret).not.toBe(webhook.secret)
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(await page.content()).not.toContain(secret)
  await expect
    .poll(() => page.getByRole('timer').textContent())
    .toMatch(/^(24 h 0 min 0 s|23 h 59 min \d+ s)$/)
  await page.clock.fastForward('01:00:00')
  await expect.poll(() => page.getByRole('timer').textContent()).toMatch(/^22 h 5\d min \d+ s$/)
  await deliverTest(webhook)
  expect(endpoint.received.at(-1)?.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
})

test('the history shows what each change has changed', async ({ page }) => {
  const { id, secret: _, ...webhook } = await createWebhook({ displayName: 'Before the change' })
  const changes = { displayName: 'After the change', eventTypes: ['API_DEPLOYED', 'TEST'] }
  await request('PUT', `/webhooks/${id}`, { ...webhook, ...changes })
  await open(page, `/webhooks/${id}?tab=history`)
  const change = page.getByRole('article', { name: 'Changed' })
  const row = (field: string) => change.getByRole('row').filter({ hasText: field })
  await row('display name').locator('ins').getByText('After the change').waitFor()
  await row('display name').locator('del').getByText('Before the change').waitFor()
  await row('event types').locator('del').getByText('API_CREATED', { exact: true }).waitFor()
  await row('event types').locator('ins').getByText('TEST', { exact: true }).waitFor()
  await change.getByText('Administrator').waitFor()
  await page.getByRole('article', { name: 'Created' }).waitFor()
  await page.getByRole('tab', { name: 'Overview' }).click()
  await page.getByRole('heading', { name: 'Details' }).waitFor()
  await checkPage(page)
  await fitsPhone(page)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('button', { name: 'Actions for After the change' }).click()
  await page.getByRole('menuitem', { name: 'Transfer' }).click()
  await page.getByRole('dialog', { name: 'Transfer After the change' }).waitFor()
})

test('actions that the session does not allow are absent', async ({ page }) => {
  const { id, displayName } = await createWebhook()
  await open(page, '/webhooks', await tokenWith(['WEBHOOKS_READ']))
  await searchBox(page).fill(displayName)
  await page.getByRole('link', { name: displayName }).click()
  await page.getByRole('heading', { name: 'Details' }).waitFor()
  expect(page.url()).toBe(`${consoleUrl}/webhooks/${id}`)
  for (const name of ['Edit', 'Deactivate', 'Delete', 'Rotate the secret', 'Send a test delivery'])
    expect(await page.getByText(name, { exact: true }).count()).toBe(0)
})

test('the page of a webhook that another person deletes meanwhile has its history and nothing to change', async ({
  clocked: page,
}) => {
  const { id, displayName } = await createWebhook()
  await open(page, `/webhooks/${id}`)
  await page.getByRole('heading', { name: 'Signing secret' }).waitFor()
  await request('DELETE', `/webhooks/${id}`)
  await page.clock.fastForward('00:11')
  await page.getByRole('alert', { name: /There is no such webhook/ }).waitFor()
  await page.getByRole('article', { name: 'Deleted' }).waitFor()
  await heading(page, displayName).waitFor()
  expect(await page.getByRole('tab').count()).toBe(0)
  expect(await page.getByRole('button', { name: /Deactivate|Transfer|Delete|Rotate|Send/ }).count()).toBe(0)
})
