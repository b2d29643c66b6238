import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, vi } from 'vitest'
import { checkPage, request, signIn, test, url } from './src/browser.ts'

interface Arrival {
  headers: IncomingHttpHeaders
  body: string
}

interface Reply {
  status: number
  body?: string
}

/** A receiver of webhooks on this machine, which is closed after the test. */
async function receiver(respond: () => Reply | Promise<Reply> = () => ({ status: 200, body: 'thanks' })) {
  const arrived: Arrival[] = []
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    arrived.push({ headers: incoming.headers, body: Buffer.concat(chunks).toString() })
    const { status, body } = await respond()
    response.writeHead(status, { 'content-type': 'text/plain' }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, arrived }
}

/** A name that no other webhook has. */
const unique = (name: string) => `${name} ${randomUUID().slice(0, 8)}`

interface Webhook {
  id: string
  name: string
  displayName: string
  url: string
  active: boolean
  eventTypes: string[]
}

async function createWebhook(changes: Partial<Webhook> = {}): Promise<Webhook & { secret: string }> {
  const created = await request('POST', '/webhooks', {
    displayName: unique('Hook'),
    url: 'http://127.0.0.1:9/hook',
    active: true,
    eventTypes: ['API_DEPLOYED', 'API_CREATED'],
    ...changes,
  })
  // It would get the events of all later tests.
  onTestFinished(() => request('DELETE', `/webhooks/${created.id}`).catch(() => {}))
  return created
}

/** Makes a test delivery of a webhook and waits until it is final. */
async function deliverTest({ id }: Webhook): Promise<void> {
  const { id: delivery } = await request('POST', `/webhooks/${id}/test`)
  await vi.waitFor(
    async () => {
      const { status } = await request('GET', `/webhooks/${id}/requests/${delivery}`)
      if (status === 'CREATED') throw new Error('the delivery has no attempt yet')
    },
    { timeout: 60_000, interval: 20 },
  )
}

/** Signs in with an access token that has these scopes only. */
async function signInWithScopes(page: Page, path: string, scopes: readonly string[]): Promise<void> {
  const { accessToken, token = accessToken } = await request('POST', '/accessTokens', {
    name: unique('token'),
    scopes,
  })
  await page.goto(`${url}/console${path}`)
  await page.getByText('Access token', { exact: true }).click()
  await page.getByRole('textbox', { name: 'Access token' }).fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Areas' }).waitFor()
}

const names = (page: Page) =>
  page.getByRole('table', { name: 'Webhooks' }).locator('tbody a').allTextContents()
const search = (page: Page) => new URL(page.url()).searchParams

test('the list shows the health of webhooks, and the address has its filters and its order', async ({
  page,
}) => {
  const mark = randomUUID().slice(0, 8)
  const broken = await receiver(() => ({ status: 500 }))
  const failing = await createWebhook({ displayName: `B ${mark}`, url: broken.url })
  const healthy = await createWebhook({ displayName: `A ${mark}`, url: (await receiver()).url })
  await createWebhook({ displayName: `C ${mark}`, active: false })
  await Promise.all([deliverTest(failing), deliverTest(healthy)])

  await signIn(page, '/webhooks')
  await page.getByRole('searchbox', { name: 'Search webhooks' }).fill(mark)
  await page.getByText('3 webhooks').waitFor()
  await expect.poll(() => names(page)).toEqual([`A ${mark}`, `B ${mark}`, `C ${mark}`])
  const row = page.getByRole('row').filter({ hasText: `B ${mark}` })
  await expect.poll(() => row.textContent()).toMatch(/Failing0%(< )?\d+ ms(now|\d+ seconds? ago)/)
  await page
    .getByRole('row')
    .filter({ hasText: `A ${mark}` })
    .getByText('100%')
    .waitFor()
  await checkPage(page, 'webhooks')

  await page.getByRole('button', { name: 'Webhook', exact: true }).click()
  await expect.poll(() => names(page)).toEqual([`C ${mark}`, `B ${mark}`, `A ${mark}`])
  await page.getByRole('button', { name: 'Failing since' }).click()
  await expect.poll(() => names(page)).toEqual([`B ${mark}`, expect.any(String), expect.any(String)])
  await page.getByText('Failing (1)').click()
  await page.getByText('1 webhook', { exact: true }).waitFor()
  await page.reload()
  await page.getByText('1 webhook', { exact: true }).waitFor()
  await expect.poll(() => names(page)).toEqual([`B ${mark}`])
  expect(Object.fromEntries(search(page))).toEqual({ search: mark, state: 'failing', sort: 'failingSince' })

  await page.goto(`${url}/console/webhooks?search=${mark}&page=9`)
  await page.getByRole('button', { name: 'Show the first page' }).click()
  await expect.poll(() => names(page)).toEqual([`A ${mark}`, `B ${mark}`, `C ${mark}`])
})

test('a list without webhooks explains what they are for', async ({ page }) => {
  const empty = { content: [], size: 100, number: 1, totalPages: 0, totalElements: 0, last: true }
  await page.route(/\/webhooks\?/, route => route.fulfill({ json: empty }))
  await signIn(page, '/webhooks')
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
  await checkPage(page, 'webhooks-empty')
  await page.getByRole('main').getByRole('link', { name: 'New webhook' }).last().click()
  await page.getByRole('heading', { name: 'Which events should it receive?' }).waitFor()
})

test('a list that cannot be read says why and is read again on demand', async ({ page }) => {
  let failing = true
  const problem = {
    type: 'about:blank',
    code: 'unavailable',
    title: 'Unavailable',
    status: 500,
    detail: 'Down',
  }
  await page.route(/\/webhooks\?/, route =>
    failing ? route.fulfill({ status: 500, json: problem }) : route.continue(),
  )
  await signIn(page, '/webhooks')
  await page.getByRole('alert').getByText('The webhooks cannot be listed: Unavailable').waitFor()
  failing = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await page
    .getByRole('searchbox', { name: 'Search webhooks' })
    .or(page.getByText('No webhooks yet'))
    .waitFor()
})

test('a webhook is created in steps, and its test and secret are shown', async ({ page }) => {
  const { url: endpoint, arrived } = await receiver()
  const displayName = unique('Search index')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await signIn(page, '/webhooks/new')

  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('alert').getByText('select at least one').waitFor()
  await page.getByRole('searchbox', { name: 'Search event types' }).fill('deployed environment')
  await page.getByRole('button', { name: 'Example of API_DEPLOYED' }).click()
  const example = page.getByRole('region', { name: 'Example payload of API_DEPLOYED' })
  expect(JSON.parse((await example.textContent()) ?? '')).toMatchObject({ type: 'API_DEPLOYED', data: {} })
  await page.getByRole('checkbox', { name: 'API_DEPLOYED', exact: true }).check()
  await checkPage(page, 'webhook-new-events')
  await page.getByRole('button', { name: 'Continue' }).click()

  await page.getByLabel('Display name').fill(displayName)
  await page.getByLabel('URL').fill('http://10.1.2.3/hook')
  await page.getByRole('button', { name: 'Create the webhook' }).click()
  await page.locator('[aria-invalid=true]').waitFor()
  await expect.poll(() => page.getByLabel('URL').getAttribute('aria-invalid')).toBe('true')
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe(displayName)
  await checkPage(page, 'webhook-new-endpoint')
  await page.getByLabel('URL').fill(endpoint)
  await page.getByRole('button', { name: 'Create the webhook' }).click()

  await page.getByText(`${displayName} is created`).waitFor()
  const secret = await page.getByLabel('Signing secret', { exact: true }).inputValue()
  await page.getByRole('button', { name: 'Copy: Signing secret' }).click()
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(secret)
  await page.getByRole('button', { name: 'Send a test delivery' }).click()
  await page.getByText('The test has arrived').waitFor()
  await page.getByText('The endpoint answered 200').waitFor()
  // The webhook also gets the events of other tests.
  const delivered = arrived.find(({ body }) => JSON.parse(body).type === 'TEST')
  expect(delivered).toBeDefined()
  await checkPage(page, 'webhook-new-created')

  for (const verifies of [verifiesInJavaScript, verifiesInPython]) {
    expect(await verifies(page, delivered, secret)).toBe(true)
    expect(await verifies(page, delivered, `whsec_${btoa('another secret')}`)).toBe(false)
  }
  await page.getByRole('link', { name: 'Open the webhook' }).click()
  await page.getByRole('heading', { level: 1, name: displayName }).waitFor()
  expect(await page.content()).not.toContain(secret)
})

/** Runs the JavaScript that the page shows. */
async function verifiesInJavaScript(
  page: Page,
  arrival: Arrival | undefined,
  secret: string,
): Promise<boolean> {
  const region = page.getByRole('region', { name: 'Check of a signature in JavaScript' })
  await page.getByText('JavaScript', { exact: true }).click()
  const code = `data:text/javascript,${encodeURIComponent((await region.textContent()) ?? '')}`
  const { isGenuine } = await import(code)
  return isGenuine(arrival?.headers, arrival?.body, secret)
}

/** Runs the Python that the page shows. */
async function verifiesInPython(page: Page, arrival: Arrival | undefined, secret: string): Promise<boolean> {
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

test('a creation whose response was lost is repeated without a second webhook', async ({ page }) => {
  const displayName = unique('Lost')
  await signIn(page, '/webhooks/new')
  await page.getByRole('checkbox', { name: 'API_CREATED' }).check()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Display name').fill(displayName)
  await page.getByLabel('URL').fill('http://127.0.0.1:9/hook')
  await page.route(/\/webhooks$/, async route => {
    await route.fetch()
    await route.abort()
  })
  await page.getByRole('button', { name: 'Create the webhook' }).click()
  await page.getByText('The webhook was not created').waitFor()
  await page.unroute(/\/webhooks$/)
  await page.getByRole('button', { name: 'Create the webhook' }).click()
  await page.getByText(`${displayName} is created`).waitFor()
  await page.getByRole('link', { name: 'Webhooks', exact: true }).last().click()
  await page.getByRole('searchbox', { name: 'Search webhooks' }).fill(displayName)
  await page.getByText('1 webhook', { exact: true }).waitFor()
})

test('a test that fails shows the answer of the endpoint once it has arrived', async ({ page }) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const slow = await receiver(async () => {
    await promise
    return { status: 500, body: 'out of order' }
  })
  const { id } = await createWebhook({ url: slow.url })
  await signIn(page, `/webhooks/${id}`)
  await page.getByRole('button', { name: 'Send a test delivery' }).click()
  await page.getByText('Waiting for the answer of the endpoint').waitFor()
  resolve()
  await page.getByText('The test has not arrived').waitFor()
  await page.getByText('The receiver answered with status 500').waitFor()
  await expect
    .poll(() => page.getByRole('region', { name: 'Body of the answer' }).textContent())
    .toBe('out of order')
  await page.getByText('The latest attempts have failed').waitFor()
  await checkPage(page, 'webhook-failing')
})

test('a webhook for an API begins with the events of APIs', async ({ page }) => {
  const { content } = await request('GET', '/apis?size=1')
  const [api] = content
  await signIn(page, `/webhooks/new?api=${api.id}`)
  await page.getByText(`Events of APIs are selected for ${api.displayName}`).waitFor()
  await expect
    .poll(() => page.getByRole('checkbox', { name: 'API_DEPLOYED', exact: true }).isChecked())
    .toBe(true)
  await expect
    .poll(() => page.getByRole('checkbox', { name: 'SUBSCRIPTION_CREATED' }).isChecked())
    .toBe(false)
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe(`Events of ${api.displayName}`)
})

test('event types without a scope of the session cannot be selected', async ({ page }) => {
  await signInWithScopes(page, '/webhooks/new', ['WEBHOOKS_READ', 'WEBHOOKS_WRITE', 'API_READ'])
  const option = page.getByRole('checkbox', { name: 'CONFIGURATION_CHANGED' })
  await expect.poll(() => option.isDisabled()).toBe(true)
  await page.getByText('Needs the scope CONFIGURATION_READ').waitFor()
  await expect.poll(() => page.getByRole('checkbox', { name: 'API_CREATED' }).isEnabled()).toBe(true)
})

test('a webhook is edited', async ({ page }) => {
  const { id } = await createWebhook()
  await signIn(page, `/webhooks/${id}`)
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('URL').fill('http://127.0.0.1:9/other')
  await page.getByRole('checkbox', { name: 'API_CREATED' }).uncheck()
  await page.getByRole('checkbox', { name: 'All event types of: API versions' }).check()
  await page.getByRole('switch', { name: 'Deliver in order' }).check()
  await page.getByLabel('CloudEvents, structured').check()
  await checkPage(page, 'webhook-edit')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The webhook is saved').waitFor()
  await page.getByText('http://127.0.0.1:9/other').waitFor()
  expect(await request('GET', `/webhooks/${id}`)).toMatchObject({
    url: 'http://127.0.0.1:9/other',
    eventTypes: ['API_DEPLOYED', 'API_VERSION_CREATED', 'API_VERSION_UPDATED', 'API_VERSION_DELETED'],
    ordered: true,
    format: 'CLOUDEVENTS_STRUCTURED',
    active: true,
  })
})

test('an edit does not overwrite what another person has saved meanwhile', async ({ page }) => {
  const { id, secret: _, ...webhook } = await createWebhook()
  const theirs = unique('Theirs')
  await signIn(page, `/webhooks/${id}/edit`)
  await page.getByLabel('URL').fill('http://127.0.0.1:9/mine')
  await request('PUT', `/webhooks/${id}`, { ...webhook, displayName: theirs })
  await page.getByRole('button', { name: 'Save' }).click()
  const conflict = page.getByRole('dialog', { name: 'The webhook has changed since you opened it' })
  await conflict.getByText(theirs).waitFor()
  await conflict.getByText('http://127.0.0.1:9/mine').waitFor()
  expect(await request('GET', `/webhooks/${id}`)).toMatchObject({ url: webhook.url })
  await checkPage(page, 'webhook-conflict')
  await conflict.getByRole('button', { name: 'Save the chosen values' }).click()
  await page.getByText('The webhook is saved').waitFor()
  const saved = await request('GET', `/webhooks/${id}`)
  expect(saved).toMatchObject({ displayName: theirs, url: 'http://127.0.0.1:9/mine' })
})

test('a comparison stays the same while the chosen values are saved, and its choices stay when that fails', async ({
  page,
}) => {
  const { id, secret: _, ...webhook } = await createWebhook()
  const [mine, theirs] = [unique('Mine'), unique('Theirs')]
  await signIn(page, `/webhooks/${id}/edit`)
  await page.getByLabel('Display name').fill(mine)
  await page.getByLabel('URL').fill('http://127.0.0.1:9/mine')
  await request('PUT', `/webhooks/${id}`, {
    ...webhook,
    displayName: theirs,
    url: 'http://127.0.0.1:9/theirs',
  })
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
    ],
    conflicts: 2,
  })

  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  const { promise: failure, resolve: fail } = Promise.withResolvers<void>()
  await page.route(`**/webhooks/${id}`, async route => {
    if (route.request().method() !== 'PUT') return route.continue()
    arrive()
    await failure
    await route.abort()
  })
  const save = conflict.getByRole('button', { name: 'Save the chosen values' })
  await save.click()
  await arrived
  await expect.poll(() => save.getAttribute('data-loading')).toBe('true')
  expect(await compared()).toEqual(before)
  await page.keyboard.press('Escape')
  expect(await conflict.isVisible()).toBe(true)

  fail()
  await page.getByText('The webhook was not saved').waitFor()
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe(theirs)
  await expect.poll(() => page.getByLabel('URL').inputValue()).toBe('http://127.0.0.1:9/mine')
  await page.unroute(`**/webhooks/${id}`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The webhook is saved').waitFor()
  expect(await request('GET', `/webhooks/${id}`)).toMatchObject({
    displayName: theirs,
    url: 'http://127.0.0.1:9/mine',
  })
})

test('a webhook is deactivated, activated and deleted', async ({ page }) => {
  const { id, displayName } = await createWebhook()
  await signIn(page, `/webhooks/${id}`)
  await page.getByRole('button', { name: 'Deactivate' }).click()
  await page.getByText('It receives no events.').waitFor()
  await page.getByRole('button', { name: 'Activate' }).click()
  await page.getByRole('button', { name: 'Deactivate' }).waitFor()
  expect(await request('GET', `/webhooks/${id}`)).toMatchObject({
    active: true,
    eventTypes: expect.any(Array),
  })

  await page.getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog', { name: `Delete ${displayName}?` })
  await dialog.waitFor()
  await checkPage(page, 'webhook-delete')
  await dialog.getByRole('button', { name: 'Delete the webhook' }).click()
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  await expect(request('GET', `/webhooks/${id}`)).rejects.toThrow('404')
  expect(await names(page)).not.toContain(displayName)
})

test('an administrator transfers a webhook to another user', async ({ page }) => {
  const { id } = await createWebhook()
  const username = unique('nora').replace(' ', '-')
  const user = { username, displayName: 'Nora New', password: randomUUID(), role: 'USER' }
  const { id: owner } = await request('POST', '/users', user)
  await signIn(page, `/webhooks/${id}`)
  await page.getByRole('button', { name: 'Transfer' }).click()
  await page.getByRole('combobox', { name: 'New owner' }).fill(username)
  await page.getByRole('option', { name: `Nora New (${username})` }).click()
  await checkPage(page, 'webhook-transfer')
  await page.getByRole('dialog').getByRole('button', { name: 'Transfer' }).click()
  await page.getByText('has another owner').waitFor()
  expect(await request('GET', `/webhooks/${id}`)).toMatchObject({ owner, active: true })
  await page.getByText('Nora New', { exact: true }).waitFor()
})

test('a rotation shows the new secret once and counts down the old one', async ({ page }) => {
  const { url: endpoint, arrived } = await receiver()
  const webhook = await createWebhook({ url: endpoint })
  await page.clock.install()
  await signIn(page, `/webhooks/${webhook.id}`)
  await page.getByRole('button', { name: 'Rotate the secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  const dialog = page.getByRole('dialog', { name: 'The new signing secret' })
  const secret = await dialog.getByLabel('Signing secret', { exact: true }).inputValue()
  expect(secret).toMatch(/^whsec_/)
  expect(secret).not.toBe(webhook.secret)
  await checkPage(page, 'webhook-new-secret')
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(await page.content()).not.toContain(secret)

  await expect.poll(() => page.getByRole('timer').textContent()).toMatch(/^(24:00:00|23:59:\d\d)$/)
  await checkPage(page, 'webhook-two-secrets')
  await page.clock.fastForward('01:00:00')
  await expect.poll(() => page.getByRole('timer').textContent()).toMatch(/^22:5\d:\d\d$/)
  await deliverTest(webhook)
  // Other deliveries report the APIs of other tests, since before the rotation.
  const last = arrived.findLast(({ body }) => JSON.parse(body).type === 'TEST')
  expect(last?.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
})

test('the history shows what each change has changed', async ({ page }) => {
  const { id, secret: _, ...webhook } = await createWebhook({ displayName: 'Before the change' })
  await request('PUT', `/webhooks/${id}`, {
    ...webhook,
    displayName: 'After the change',
    eventTypes: ['API_DEPLOYED', 'TEST'],
  })
  await signIn(page, `/webhooks/${id}?tab=history`)
  const change = page.getByRole('article', { name: 'Changed' })
  const row = (field: string) => change.getByRole('row').filter({ hasText: field })
  await row('display name').locator('ins').getByText('After the change').waitFor()
  await row('display name').locator('del').getByText('Before the change').waitFor()
  await row('event types').locator('del').getByText('API_CREATED', { exact: true }).waitFor()
  await row('event types').locator('ins').getByText('TEST', { exact: true }).waitFor()
  await change.getByText('Administrator').waitFor()
  await page.getByRole('article', { name: 'Created' }).waitFor()
  await checkPage(page, 'webhook-history')
  await page.getByRole('tab', { name: 'Overview' }).click()
  await page.getByRole('heading', { name: 'Details' }).waitFor()
  await checkPage(page, 'webhook')
})

test('actions that the session does not allow are absent', async ({ page }) => {
  const { id, displayName } = await createWebhook()
  await signInWithScopes(page, '/webhooks', ['WEBHOOKS_READ'])
  await page.getByRole('searchbox', { name: 'Search webhooks' }).fill(displayName)
  await page.getByRole('link', { name: displayName }).click()
  await page.getByRole('heading', { name: 'Details' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/console/webhooks/${id}`)
  for (const name of ['Edit', 'Deactivate', 'Delete', 'Rotate the secret', 'Send a test delivery'])
    expect(await page.getByText(name, { exact: true }).count()).toBe(0)
})

test('the page of a deleted webhook has its history', async ({ page }) => {
  const { id } = await createWebhook()
  await request('DELETE', `/webhooks/${id}`)
  await signIn(page, `/webhooks/${id}`)
  await page.getByRole('alert', { name: /There is no such webhook/ }).waitFor()
  await page.getByRole('article', { name: 'Deleted' }).waitFor()
  await page.getByRole('article', { name: 'Created' }).waitFor()
})

test('the page of a webhook that another person deletes meanwhile has its history and nothing to change', async ({
  page,
}) => {
  const { id, displayName } = await createWebhook()
  await page.clock.install()
  await signIn(page, `/webhooks/${id}`)
  await page.getByRole('heading', { name: 'Signing secret' }).waitFor()
  await request('DELETE', `/webhooks/${id}`)
  await page.clock.fastForward('00:11')
  await page.getByRole('alert', { name: /There is no such webhook/ }).waitFor()
  await page.getByRole('article', { name: 'Deleted' }).waitFor()
  await page.getByRole('heading', { level: 1, name: displayName }).waitFor()
  expect(await page.getByRole('tab').count()).toBe(0)
  expect(await page.getByRole('button', { name: /Deactivate|Transfer|Delete|Rotate|Send/ }).count()).toBe(0)
})

test('the page of a webhook that does not exist says so', async ({ page }) => {
  await signIn(page, `/webhooks/${randomUUID()}`)
  await page.getByRole('alert', { name: /There is no such webhook/ }).waitFor()
  await checkPage(page, 'webhook-missing')
})

test('values of a URL that webhooks cannot use are left out', async ({ page }) => {
  const { id, displayName } = await createWebhook()
  await signIn(page, '/webhooks?sort=shoes&state=lost&search=5')
  await page.getByRole('searchbox', { name: 'Search webhooks' }).fill(displayName)
  await page.getByText('1 webhook', { exact: true }).waitFor()
  await page.goto(`${url}/console/webhooks/${id}?tab=shoes`)
  await page.getByRole('heading', { name: 'Signing secret' }).waitFor()
})

test('the search field of webhooks is empty after all webhooks are shown', async ({ page }) => {
  await createWebhook()
  await signIn(page, '/webhooks')
  const field = page.getByRole('searchbox', { name: 'Search webhooks' })
  await field.fill(randomUUID())
  await page.getByRole('button', { name: 'Show all webhooks' }).click()
  await expect.poll(() => field.inputValue()).toBe('')
})

test('a creation that is left asks before it discards what was typed', async ({ page }) => {
  await signIn(page, '/webhooks/new')
  await page.getByRole('button', { name: 'Continue' }).waitFor()
  await page.getByRole('checkbox', { name: 'All event types of: APIs' }).check()
  await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click()
  await page.getByRole('dialog').getByText('Keep editing', { exact: true }).click()
  await page.getByRole('checkbox', { name: 'All event types of: APIs', checked: true }).waitFor()
})
