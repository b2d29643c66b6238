import type { Locator, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { checkPage, request, signIn, test, url } from './src/browser.ts'

const ENVIRONMENT = '9c1c3a52-7d0e-4a53-8a3e-0d9b9f0f7c21'
/** A PNG of one pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

let created = 0

/** Creates an API with a name of its own. It is deleted after the test. */
async function makeApi(fields: Record<string, unknown> = {}) {
  created += 1
  const name = `page-${process.pid}-${created}`
  const displayName = `Page ${created}`
  const api = await request('POST', '/apis', {
    name,
    displayName,
    status: 'ACTIVE',
    tags: ['old'],
    ...fields,
  })
  removeAfterTest(`/apis/${api.id}`)
  return api
}

/** Deletes a record after the test, unless the test has deleted it. */
const removeAfterTest = (path: string) =>
  onTestFinished(async () => {
    await request('DELETE', path).catch(() => {})
  })

const change = (
  { name, displayName, status, tags }: Awaited<ReturnType<typeof makeApi>>,
  fields: object,
) => ({
  name,
  displayName,
  status,
  tags,
  ...fields,
})

/** Opens a page of the console in the session of the tab, without the login. */
async function open(page: Page, path: string) {
  await page.goto(`${url}/console${path}`)
}

test('a new API is created with the errors of the service at the fields', async ({ page }) => {
  await signIn(page, '/apis/new')
  await page.getByRole('heading', { name: 'New API', level: 1 }).waitFor()
  const taken = await makeApi()
  const button = page.getByRole('button', { name: 'Create API' })
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  await page.getByLabel('Display name').fill('Weather')
  await page.getByRole('combobox', { name: 'Tags' }).fill('climate')
  await page.keyboard.press('Enter')
  await page.getByLabel('Description').fill('x'.repeat(1001))
  await button.click()
  await page.getByRole('alert', { name: /The API is not created/ }).waitFor()
  await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true')
  await expect.poll(() => page.locator(':focus').getAttribute('id')).toBe(await name.getAttribute('id'))
  await page.getByText('must be at most 1000 characters').last().waitFor()
  await checkPage(page, 'api-new')
  await page.getByLabel('Description').fill('Weather of today')
  await name.fill(taken.name)
  await button.click()
  await page.locator('.mantine-TextInput-error', { hasText: 'Another API has this name' }).waitFor()
  await name.fill(`${taken.name}-weather`)
  await button.click()
  await page.getByRole('heading', { name: 'Weather', level: 1 }).waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1)
  removeAfterTest(`/apis/${id}`)
  expect(await request('GET', `/apis/${id}`)).toMatchObject({
    name: `${taken.name}-weather`,
    displayName: 'Weather',
    description: 'Weather of today',
    tags: ['climate'],
    status: 'ACTIVE',
    url: null,
    ownerDisplayName: 'Administrator',
  })
})

test('a creation whose response was lost takes effect once', async ({ page }) => {
  const { name } = await makeApi()
  await signIn(page, '/apis/new')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(`${name}-once`)
  await page.getByLabel('Display name').fill('Once')
  await page.route('**/apis', async route => {
    if (route.request().method() !== 'POST') return route.fallback()
    await route.fetch()
    await route.abort()
  })
  await page.getByRole('button', { name: 'Create API' }).click()
  await page.getByRole('alert', { name: /The service cannot be reached/ }).waitFor()
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe('Once')
  await page.unroute('**/apis')
  await page.getByRole('button', { name: 'Create API' }).click()
  await page.getByRole('heading', { name: 'Once', level: 1 }).waitFor()
  const { content } = await request('GET', `/apis?name=${name}-once`)
  for (const { id } of content) removeAfterTest(`/apis/${id}`)
  expect(content).toHaveLength(1)
})

test('input that is not saved is not lost by leaving the form', async ({ page }) => {
  await signIn(page, '/apis/new')
  await page.getByLabel('Display name').fill('Precious')
  const areas = page.getByRole('navigation', { name: 'Areas' })
  await areas.getByText('APIs').click()
  const dialog = page.getByRole('dialog', { name: 'Discard your changes?' })
  await dialog.getByRole('button', { name: 'Keep editing' }).last().click()
  await dialog.waitFor({ state: 'hidden' })
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe('Precious')
  await areas.getByText('APIs').click()
  await dialog.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('heading', { name: 'APIs', level: 1 }).waitFor()
})

test('an API is edited, and fields without a value become null', async ({ page }) => {
  const api = await makeApi({ description: 'Old text', url: '/old' })
  await signIn(page, `/apis/${api.id}`)
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Description').fill('New text')
  await page.getByLabel('Base URL path').fill('')
  await page.getByLabel('Inactive').check()
  await checkPage(page, 'api-edit')
  await page.getByRole('button', { name: 'Save' }).click()
  // The field of the form contains the text too.
  await page.getByRole('heading', { name: api.displayName, level: 1, exact: true }).waitFor()
  await page.getByText('New text').waitFor()
  const saved = await request('GET', `/apis/${api.id}`)
  expect(saved).toMatchObject({ description: 'New text', url: null, status: 'INACTIVE', owner: api.owner })
})

test('changes of two people are compared field by field, and the chosen values are saved', async ({
  page,
}) => {
  const api = await makeApi({ description: 'Base', platformType: 'ENVOY' })
  await signIn(page, `/apis/${api.id}/edit`)
  await page.getByLabel('Description').fill('Mine')
  await page.getByLabel('Base URL path').fill('/mine')
  await request('PUT', `/apis/${api.id}`, change(api, { description: 'Theirs', platformType: 'KONG' }))
  await page.getByRole('button', { name: 'Save' }).click()
  const dialog = page.getByRole('dialog', { name: 'The API has changed since you opened it' })
  const description = dialog.getByRole('radiogroup', { name: /^Description/ })
  await expect.poll(() => description.textContent()).toMatch(/Before\s*Base\s*Mine\s*Mine\s*Theirs\s*Theirs/)
  const save = dialog.getByRole('button', { name: 'Save the chosen values' })
  await expect.poll(() => save.isDisabled()).toBe(true)
  const chosen = (name: RegExp, choice: string) =>
    dialog.getByRole('radiogroup', { name }).getByLabel(choice).isChecked()
  await expect.poll(() => chosen(/^Base URL path/, 'Mine')).toBe(true)
  await expect.poll(() => chosen(/^Platform type/, 'Theirs')).toBe(true)
  await checkPage(page, 'api-conflict')
  await description.getByLabel('Mine').check()
  // A third change, while the person chooses.
  await request('PUT', `/apis/${api.id}`, change(api, { description: 'Third', platformType: 'KONG' }))
  await save.click()
  await description.getByText('Third').waitFor()
  await description.getByLabel('Mine').check()
  await save.click()
  await page.getByRole('heading', { name: api.displayName, level: 1, exact: true }).waitFor()
  const saved = await request('GET', `/apis/${api.id}`)
  expect(saved).toMatchObject({ description: 'Mine', platformType: 'KONG', url: '/mine' })
})

test('a deployment while the form is open is no conflict', async ({ page }) => {
  const api = await makeApi()
  await signIn(page, `/apis/${api.id}/edit`)
  await page.getByLabel('Description').fill('Edited')
  await deployed(api.id)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: api.displayName, level: 1, exact: true }).waitFor()
  expect(await request('GET', `/apis/${api.id}`)).toMatchObject({ description: 'Edited' })
})

/** Deploys an API and waits for the end of the job. */
async function deployed(id: string) {
  await request('PUT', `/environments/${ENVIRONMENT}/apis/${id}`)
  await expect.poll(async () => (await request('GET', `/apis/${id}`)).deploymentStatus).toBe('DEPLOYED')
}

test('the page shows the fields of an API', async ({ page }) => {
  const api = await makeApi({
    description: 'All about <b>pages</b>',
    tags: ['finance', 'public'],
    platformType: 'ENVOY',
    url: '/pages',
    gitUrl: 'https://git.example.com/pages.git',
  })
  await signIn(page, `/apis/${api.id}`)
  await page.getByRole('heading', { name: api.displayName, level: 1 }).waitFor()
  for (const text of ['All about <b>pages</b>', 'finance', 'public', 'ENVOY', '/pages', 'Not deployed'])
    expect(await page.getByText(text, { exact: true }).count(), text).toBe(1)
  const link = page.getByRole('link', { name: 'https://git.example.com/pages.git' })
  await expect.poll(() => link.getAttribute('rel')).toBe('noreferrer')
  await checkPage(page, 'api-details')
})

test('a repository URL that is a script is not a link', async ({ page }) => {
  const api = await makeApi({ gitUrl: 'javascript:alert(1)' })
  await signIn(page, `/apis/${api.id}`)
  await page.getByText('javascript:alert(1)').waitFor()
  expect(await page.locator('a[href^="javascript"]').count()).toBe(0)
})

test('an image is dropped on the page, shown, replaced and deleted', async ({ page }) => {
  const api = await makeApi()
  await signIn(page, `/apis/${api.id}`)
  await drop(page, 'pixel.png', 'image/png', PNG)
  const image = page.getByRole('img', { name: `Image of ${api.displayName}` })
  await image.waitFor()
  await expect.poll(() => image.getAttribute('src')).toMatch(/^blob:/)
  await expect.poll(() => widthOf(image)).toBe(1)
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"><rect width="7" height="7"/></svg>'
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'seven.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(svg) })
  await expect.poll(() => widthOf(image)).toBe(7)
  await checkPage(page, 'api-image')
  await page.getByRole('button', { name: 'Delete image' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete image' }).click()
  await page.getByText('No image', { exact: true }).waitFor()
  expect(await request('GET', `/apis/${api.id}`)).toMatchObject({ hasImage: false })
})

test('a file that cannot be an image is refused before the upload, and by the service after it', async ({
  page,
}) => {
  const api = await makeApi()
  await signIn(page, `/apis/${api.id}`)
  const uploads: string[] = []
  page.on('request', sent => sent.method() === 'PUT' && uploads.push(sent.url()))
  await drop(page, 'notes.txt', 'text/plain', btoa('text'))
  const alert = page.getByRole('alert')
  await alert.getByText('notes.txt is text/plain').waitFor()
  await drop(page, 'large.png', 'image/png', btoa('x'.repeat(5 * 1_048_576 + 1)))
  await alert.getByText('The image is too large').waitFor()
  expect(uploads).toEqual([])
  await drop(page, 'text.png', 'image/png', btoa('this is no image'))
  await alert.getByText('Request id').waitFor()
  await alert.getByText(/^The image is not saved: The file is not PNG, JPEG, GIF, WebP or SVG/).waitFor()
  expect(uploads).toHaveLength(1)
})

/** Width of a shown image in its own pixels. */
const widthOf = (image: Locator) =>
  image.evaluate(element => (element as unknown as { naturalWidth: number }).naturalWidth)

/** Drops a file on the image of an API. */
async function drop(page: Page, name: string, type: string, base64: string) {
  const dataTransfer = await page.evaluateHandle(`(() => {
    const bytes = Uint8Array.from(atob('${base64}'), letter => letter.charCodeAt(0))
    const transfer = new DataTransfer()
    transfer.items.add(new File([bytes], '${name}', { type: '${type}' }))
    return transfer
  })()`)
  const zone = page.getByRole('region', { name: 'Image' })
  await zone.dispatchEvent('dragover', { dataTransfer })
  await zone.dispatchEvent('drop', { dataTransfer })
}

test('versions are added, edited and deleted, and show their history', async ({ page }) => {
  const api = await makeApi()
  await signIn(page, `/apis/${api.id}?tab=versions`)
  await page.getByRole('heading', { name: 'No versions yet' }).waitFor()
  await page.getByRole('button', { name: 'Add version' }).click()
  const adding = page.getByRole('dialog', { name: 'Add a version' })
  await adding.getByRole('button', { name: 'Add version' }).click()
  await adding.locator('.mantine-TextInput-error', { hasText: 'must not be empty' }).waitFor()
  await adding.getByRole('textbox', { name: 'Name', exact: true }).fill('1.2.0')
  await adding.getByRole('button', { name: 'Add version' }).click()
  await adding.waitFor({ state: 'hidden' })
  await act('Edit')
  const editing = page.getByRole('dialog', { name: 'Edit version 1.2.0' })
  await editing.getByLabel('Status').selectOption('DEPRECATED')
  await editing.getByRole('button', { name: 'Save' }).click()
  await editing.waitFor({ state: 'hidden' })
  await page.getByText('Deprecated').waitFor()
  await checkPage(page, 'api-versions')
  await act('History')
  const history = page.getByRole('dialog', { name: 'History of version 1.2.0' })
  await history.getByText('Version changed').waitFor()
  await expect
    .poll(() => history.getByRole('listitem').first().textContent())
    .toMatch(/status\s*ACTIVE\s*DEPRECATED/)
  await checkPage(page, 'api-version-history')
  await page.keyboard.press('Escape')
  await act('Delete')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete version' }).click()
  await page.getByRole('heading', { name: 'No versions yet' }).waitFor()
  async function act(action: string) {
    await page.getByRole('button', { name: 'Actions for version 1.2.0' }).click()
    await page.getByRole('menuitem', { name: action }).click()
  }
})

test('changes of two people to a version are compared', async ({ page }) => {
  const api = await makeApi()
  const version = await request('POST', `/apis/${api.id}/versions`, { name: '1.0' })
  await signIn(page, `/apis/${api.id}?tab=versions`)
  await page.getByRole('button', { name: 'Actions for version 1.0' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  const editing = page.getByRole('dialog', { name: 'Edit version 1.0' })
  await editing.getByLabel('Description').fill('Mine')
  const path = `/apis/${api.id}/versions/${version.id}`
  await request('PUT', path, { name: '1.0', displayName: '1.0', description: 'Theirs', status: 'RETIRED' })
  await editing.getByRole('button', { name: 'Save' }).click()
  const dialog = page.getByRole('dialog', { name: 'The version has changed since you opened it' })
  await dialog
    .getByRole('radiogroup', { name: /^Description/ })
    .getByLabel('Mine')
    .check()
  await dialog.getByRole('button', { name: 'Save the chosen values' }).click()
  await editing.waitFor({ state: 'hidden' })
  expect(await request('GET', path)).toMatchObject({ description: 'Mine', status: 'RETIRED' })
})

test('a version that another person changes meanwhile is not deleted', async ({ page }) => {
  const api = await makeApi()
  const version = await request('POST', `/apis/${api.id}/versions`, { name: '1.0' })
  await signIn(page, `/apis/${api.id}?tab=versions`)
  await page.getByRole('button', { name: 'Actions for version 1.0' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const path = `/apis/${api.id}/versions/${version.id}`
  await request('PUT', path, { name: '1.0', displayName: 'Theirs', status: 'ACTIVE' })
  await page.getByRole('dialog').getByRole('button', { name: 'Delete version' }).click()
  await page.getByRole('alert', { name: 'It has changed since it was listed' }).waitFor()
  expect(await request('GET', path)).toMatchObject({ displayName: 'Theirs' })
})

test('an API is deployed and undeployed, and the page follows the job', async ({ page }) => {
  const api = await makeApi()
  await signIn(page, `/apis/${api.id}?tab=deployments`)
  const environment = page.getByRole('combobox', { name: 'Environment' })
  await environment.fill('production')
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.getByText('must be a UUID').waitFor()
  await environment.fill(ENVIRONMENT)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  const row = page.getByRole('row', { name: ENVIRONMENT })
  await row.getByText(/^Deployed/).waitFor()
  await page.getByText('No job is running').waitFor()
  await checkPage(page, 'api-deployments')
  await row.getByRole('button', { name: /^Undeploy/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Undeploy' }).click()
  await page.getByRole('heading', { name: 'Not deployed' }).waitFor()
})

test('a running job is followed until it ends', async ({ page }) => {
  const api = await makeApi()
  await deployed(api.id)
  const { content } = await request('GET', `/apis/${api.id}/history?sort=timestamp,asc`)
  const started = content.find(
    ({ operation }: { operation: string }) => operation === 'API_DEPLOYMENT_STARTED',
  )
  // The job ends at once in one process, so that the page first gets the state of the time at which it ran.
  const reads = new RegExp(`/apis/${api.id}\\?`)
  await page.route(reads, route =>
    route.continue({ url: `${route.request().url()}&at=${started.timestamp}` }),
  )
  await signIn(page, `/apis/${api.id}?tab=deployments`)
  await page.getByText('One job is running').waitFor()
  await page.getByText(/^Deploying, started/).waitFor()
  await checkPage(page, 'api-deployment-running')
  await page.getByRole('button', { name: `Cancel job of ${ENVIRONMENT}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel job' }).click()
  await page
    .getByRole('alert', { name: /No deployment job of this API and environment is running/ })
    .waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.unroute(reads)
  await page
    .getByRole('row', { name: ENVIRONMENT })
    .getByText(/^Deployed/)
    .waitFor()
  await page.getByText('No job is running').waitFor()
})

test('the active webhooks that ask for events of APIs are listed', async ({ page }) => {
  const api = await makeApi()
  const webhook = async (displayName: string, active: boolean, eventTypes: string[]) => {
    const { id } = await request('POST', '/webhooks', {
      displayName,
      active,
      eventTypes,
      url: 'http://127.0.0.1:9/',
    })
    removeAfterTest(`/webhooks/${id}`)
  }
  await webhook('Asks for APIs', true, ['API_UPDATED', 'SUBSCRIPTION_CREATED'])
  await webhook('Asks for subscriptions', true, ['SUBSCRIPTION_CREATED'])
  await webhook('Is inactive', false, ['API_UPDATED'])
  await signIn(page, `/apis/${api.id}?tab=webhooks`)
  await page.getByRole('row', { name: 'Asks for APIs' }).getByText('API_UPDATED').waitFor()
  expect(await page.getByText('Asks for subscriptions').count()).toBe(0)
  expect(await page.getByText('Is inactive').count()).toBe(0)
  await checkPage(page, 'api-webhooks')
})

test('the history shows the differences of each field, and the slider the state at a time', async ({
  page,
}) => {
  const api = await makeApi({ description: 'First' })
  await request('PUT', `/apis/${api.id}`, change(api, { description: 'Second', tags: ['old', 'new'] }))
  await request('POST', `/apis/${api.id}/versions`, { name: '2.0' })
  await signIn(page, `/apis/${api.id}?tab=history`)
  const changed = page.getByRole('listitem').filter({ hasText: /^Changed/ })
  await changed.waitFor()
  await expect.poll(() => changed.locator('del').allInnerTexts()).toEqual(['First'])
  await expect.poll(() => changed.locator('ins').allInnerTexts()).toEqual(['Second', 'new'])
  await checkPage(page, 'api-history')
  const slider = page.getByRole('slider', { name: 'Time' })
  await expect.poll(() => slider.getAttribute('aria-valuetext')).toBe('Now')
  await slider.focus()
  await page.keyboard.press('ArrowLeft')
  const state = page.getByRole('region', { name: 'State at the chosen time' })
  await state.getByText('2.0').waitFor()
  await page.keyboard.press('Home')
  await state.getByRole('row', { name: 'description First Second' }).waitFor()
  await state.getByRole('row', { name: 'tags old old, new' }).waitFor()
  await expect.poll(() => state.getByText('2.0').count()).toBe(0)
  expect(new URL(page.url()).searchParams.get('at')).toBe(api.createdAt)
  await checkPage(page, 'api-history-past')
  await page.reload()
  await state.getByRole('row', { name: 'description First Second' }).waitFor()
})

test('a tab and a time that do not exist are left out of the address', async ({ page }) => {
  const api = await makeApi()
  await signIn(page, `/apis/${api.id}?tab=history&at=soon`)
  await page.getByText('The API as it is now').waitFor()
  await page.goto(`${url}/console/apis/${api.id}?tab=none`)
  await page.getByRole('heading', { name: 'Details' }).waitFor()
})

test('a state of the past is restored after a confirmation that shows the differences', async ({ page }) => {
  const api = await makeApi({ description: 'First' })
  await request('PUT', `/apis/${api.id}`, change(api, { description: 'Second' }))
  await signIn(page, `/apis/${api.id}?tab=history&at=${api.createdAt}`)
  await page.getByRole('button', { name: 'Restore this state' }).click()
  const dialog = page.getByRole('dialog', { name: 'Restore this state?' })
  await expect.poll(() => dialog.locator('del, ins').allInnerTexts()).toEqual(['Second', 'First'])
  await checkPage(page, 'api-restore')
  // Another person changes the API in the meantime: the dialog then shows the differences to that.
  await request('PUT', `/apis/${api.id}`, change(api, { description: 'Third' }))
  await dialog.getByRole('button', { name: 'Restore' }).click()
  await dialog.getByRole('alert', { name: /The resource has changed/ }).waitFor()
  await dialog.getByText('Third').waitFor()
  await dialog.getByRole('button', { name: 'Restore' }).click()
  await page.getByRole('listitem').filter({ hasText: 'Restored' }).waitFor()
  expect(await request('GET', `/apis/${api.id}`)).toMatchObject({ description: 'First' })
})

test('the page of an API that another person deletes meanwhile has its history and nothing to change', async ({
  page,
}) => {
  const api = await makeApi()
  await page.clock.install()
  await signIn(page, `/apis/${api.id}`)
  await page.getByRole('tab', { name: 'Versions' }).waitFor()
  await request('DELETE', `/apis/${api.id}`)
  // A tab reads again what is older than some seconds when it is shown again.
  await page.clock.fastForward('00:10')
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
  await page.getByRole('heading', { name: 'There is no such API' }).waitFor()
  await page.getByRole('article', { name: 'Deleted' }).waitFor()
  expect(await page.getByRole('tab').count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
})

test('an API is deleted after its name was typed, and its history stays', async ({ page }) => {
  const api = await makeApi()
  await deployed(api.id)
  await signIn(page, `/apis/${api.id}`)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: `Delete ${api.displayName}?` })
  const button = dialog.getByRole('button', { name: 'Delete API' })
  await expect.poll(() => button.isDisabled()).toBe(true)
  await dialog.getByLabel(/to confirm/).fill(api.name)
  await checkPage(page, 'api-delete')
  await button.click()
  await page.getByRole('heading', { name: 'APIs', level: 1 }).waitFor()
  await open(page, `/apis/${api.id}`)
  await page.getByRole('heading', { name: 'There is no such API' }).waitFor()
  await page.getByRole('listitem').filter({ hasText: 'Deleted' }).waitFor()
  await checkPage(page, 'api-deleted')
})

test('a caller who may only read sees no actions', async ({ page }) => {
  const api = await makeApi()
  await request('POST', `/apis/${api.id}/versions`, { name: '1.0' })
  const { id, token } = await request('POST', '/accessTokens', { name: api.name, scopes: ['API_READ'] })
  removeAfterTest(`/accessTokens/${id}`)
  await page.goto(`${url}/console/apis/${api.id}`)
  await page.getByText('Access token', { exact: true }).click()
  await page.getByRole('textbox', { name: 'Access token' }).fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: api.displayName, level: 1 }).waitFor()
  expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
  await expect
    .poll(() => page.getByRole('link', { name: 'APIs', exact: true }).first().isVisible())
    .toBe(true)
  expect(await page.getByRole('button', { name: /Delete|Choose image/ }).count()).toBe(0)
  expect(await page.getByRole('tab', { name: 'Webhooks' }).count()).toBe(0)
  await page.getByRole('tab', { name: 'Versions' }).click()
  await page.getByRole('button', { name: 'Actions for version 1.0' }).click()
  await expect.poll(() => page.getByRole('menuitem').allInnerTexts()).toEqual(['History'])
  for (const form of [`${api.id}/edit`, 'new']) {
    await page.goto(`${url}/console/apis/${form}`)
    await page.getByRole('heading', { name: 'You have no access to the forms of APIs' }).waitFor()
  }
})

test('a page whose API cannot be read says so and can be read again', async ({ page }) => {
  const api = await makeApi()
  await signIn(page)
  const unavailable = JSON.stringify({
    code: 'unavailable',
    title: 'A part of the service is unavailable',
    detail: '',
  })
  const reads = new RegExp(`/apis/${api.id}\\?`)
  await page.route(reads, route =>
    route.fulfill({ status: 503, contentType: 'application/problem+json', body: unavailable }),
  )
  await open(page, `/apis/${api.id}`)
  await page.getByRole('alert', { name: /A part of the service is unavailable/ }).waitFor()
  await checkPage(page, 'api-unavailable')
  await page.unroute(reads)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: api.displayName, level: 1 }).waitFor()
})
