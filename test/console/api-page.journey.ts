import { randomUUID } from 'node:crypto'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import {
  checkPage,
  consoleUrl,
  fitsPhone,
  heading,
  isAt,
  loseResponses,
  open,
  searchOf,
  showAgain,
  test,
} from './src/browser.ts'
import {
  createApi,
  createWebhook,
  deploy,
  removeAfterTest,
  request,
  tokenWith,
  unique,
} from './src/service.ts'

const ENVIRONMENT = '9c1c3a52-7d0e-4a53-8a3e-0d9b9f0f7c21'
/** A PNG of one pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"><rect width="7" height="7"/></svg>'

type Api = Awaited<ReturnType<typeof createApi>>

/** Changes an API as another person would. */
const change = ({ id, name, displayName, status, tags }: Api, fields: object) =>
  request('PUT', `/apis/${id}`, { name, displayName, status, tags, ...fields })

const chosen = (dialog: Locator, name: RegExp) => dialog.getByRole('radiogroup', { name })

test('a new API is created once, with the errors of the service at the fields, and asks before it is discarded', async ({
  page,
}) => {
  const taken = await createApi()
  await open(page, '/apis/new')
  const button = page.getByRole('button', { name: 'Create API' })
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  await page.getByLabel('Display name').fill('Weather of the Día')
  await expect.poll(() => name.inputValue()).toBe('weather-of-the-dia')
  await page.getByLabel('Display name').fill('Weather')
  await name.fill('')
  await page.getByRole('combobox', { name: 'Tags' }).fill('climate')
  await page.keyboard.press('Enter')
  await page.getByLabel('Description').fill('x'.repeat(1001))
  await button.click()
  await page.getByText('Name is required', { exact: true }).waitFor()
  await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true')
  await expect.poll(() => page.locator(':focus').getAttribute('id')).toBe(await name.getAttribute('id'))
  await checkPage(page)
  await fitsPhone(page)
  await name.fill(taken.name)
  await button.click()
  await page.getByText('Description must be at most 1000 characters', { exact: true }).waitFor()
  expect(await page.getByRole('main').getByRole('alert').count()).toBe(0)
  await page.getByLabel('Description').fill('Weather of today')
  await button.click()
  await page.locator('.mantine-TextInput-error', { hasText: 'Another API has this name' }).waitFor()

  const areas = page.getByRole('navigation', { name: 'Areas' })
  await areas.getByText('APIs').click()
  const leaving = page.getByRole('dialog', { name: 'Discard your changes?' })
  await leaving.getByRole('button', { name: 'Keep editing' }).last().click()
  await leaving.waitFor({ state: 'hidden' })

  const free = unique('weather')
  await name.fill(free)
  await loseResponses(page, 'POST', '/apis')
  await button.click()
  await page.getByRole('alert', { name: /The service cannot be reached/ }).waitFor()
  await page.unrouteAll()
  await button.click()
  await heading(page, 'Weather').waitFor()
  const { content } = await request('GET', `/apis?name=${free}`)
  for (const { id } of content) removeAfterTest(`/apis/${id}`)
  expect(content).toEqual([
    expect.objectContaining({
      displayName: 'Weather',
      description: 'Weather of today',
      tags: ['climate'],
      status: 'ACTIVE',
      url: null,
      ownerDisplayName: 'Administrator',
    }),
  ])

  await page.goto(`${consoleUrl}/apis/new`)
  await page.getByLabel('Display name').fill('Precious')
  await areas.getByText('APIs').click()
  await leaving.getByRole('button', { name: 'Discard' }).click()
  await heading(page, 'APIs').waitFor()
})

test('an API is edited beside a deployment, and fields without a value become null', async ({ page }) => {
  const api = await createApi({ description: 'Old text', url: '/old' })
  await open(page, `/apis/${api.id}`)
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Description').fill('New text')
  await page.getByLabel('Base URL path').fill('')
  await page.getByLabel('Inactive').check()
  // It changes the entity tag and no field of the form.
  await deploy(api.id, ENVIRONMENT)
  await page.getByRole('button', { name: 'Save' }).click()
  // The field of the form contains the text too.
  await heading(page, api.displayName).waitFor()
  await page.getByText('New text').waitFor()
  const saved = await request('GET', `/apis/${api.id}`)
  expect(saved).toMatchObject({ description: 'New text', url: null, status: 'INACTIVE', owner: api.owner })
})

test('changes of two people are compared field by field, and the chosen values are saved', async ({
  page,
}) => {
  const api = await createApi({ description: 'Base', platformType: 'ENVOY' })
  await open(page, `/apis/${api.id}/edit`)
  await page.getByLabel('Description').fill('Mine')
  await page.getByLabel('Base URL path').fill('/mine')
  await change(api, { description: 'Theirs', platformType: 'KONG' })
  await page.getByRole('button', { name: 'Save' }).click()
  const dialog = page.getByRole('dialog', { name: 'The API has changed since you opened it' })
  const description = chosen(dialog, /^Description/)
  await expect.poll(() => description.textContent()).toMatch(/Before\s*Base\s*Mine\s*Mine\s*Theirs\s*Theirs/)
  const save = dialog.getByRole('button', { name: 'Save the chosen values' })
  await expect.poll(() => save.isDisabled()).toBe(true)
  await expect
    .poll(() =>
      chosen(dialog, /^Base URL path/)
        .getByLabel('Mine')
        .isChecked(),
    )
    .toBe(true)
  await expect
    .poll(() =>
      chosen(dialog, /^Platform type/)
        .getByLabel('Theirs')
        .isChecked(),
    )
    .toBe(true)
  await checkPage(page)
  await description.getByLabel('Mine').check()
  // A third change, while the person chooses.
  await change(api, { description: 'Third', platformType: 'KONG' })
  await save.click()
  await description.getByText('Third').waitFor()
  await description.getByLabel('Mine').check()
  await save.click()
  await heading(page, api.displayName).waitFor()
  const saved = await request('GET', `/apis/${api.id}`)
  expect(saved).toMatchObject({ description: 'Mine', platformType: 'KONG', url: '/mine' })
})

test('the page answers what an API is, who owns it, where it runs and what changed last, and runs no script of it', async ({
  page,
}) => {
  const description = 'All about **pages** of <https://pages.example> <img src=x onerror="alert(1)">'
  const fields = { description, tags: ['finance', 'public'], platformType: 'ENVOY' }
  const gitUrl = 'https://git.example.com/pages.git'
  const api = await createApi({ ...fields, url: '/pages', gitUrl })
  const script = await createApi({ gitUrl: 'javascript:alert(1)' })
  await open(page, `/apis/${api.id}?tab=none`)
  await heading(page, api.displayName).waitFor()
  await expect.poll(() => page.locator('strong').allTextContents()).toEqual(['pages'])
  await page.getByText('Created by Administrator').waitFor()
  for (const text of ['No environment', 'finance', 'public', 'ENVOY', '/pages'])
    expect(await page.getByText(text, { exact: true }).count(), text).toBe(1)
  for (const name of [gitUrl, 'https://pages.example'])
    await expect.poll(() => page.getByRole('link', { name }).getAttribute('rel')).toBe('noreferrer')
  expect(await page.locator('main img').count()).toBe(0)
  await page
    .getByRole('region', { name: 'Next step' })
    .getByRole('button', { name: 'Add a version' })
    .waitFor()
  await checkPage(page)
  await fitsPhone(page)
  await page.goto(`${consoleUrl}/apis/${script.id}`)
  await page.getByText('javascript:alert(1)').waitFor()
  expect(await page.locator('a[href^="javascript"]').count()).toBe(0)
})

test('an image is dropped on the page, shown, replaced and deleted; other files are refused', async ({
  page,
}) => {
  const api = await createApi()
  await open(page, `/apis/${api.id}`)
  const uploads: string[] = []
  page.on('request', sent => sent.method() === 'PUT' && uploads.push(sent.url()))
  const alert = page.getByRole('alert')
  await drop(page, 'notes.txt', 'text/plain', btoa('text'))
  await alert.getByText('notes.txt is text/plain').waitFor()
  await drop(page, 'large.png', 'image/png', btoa('x'.repeat(5 * 1_048_576 + 1)))
  await alert.getByText('The image is too large').waitFor()
  expect(uploads).toEqual([])
  await drop(page, 'text.png', 'image/png', btoa('this is no image'))
  await alert.getByText('Request id').waitFor()
  await alert.getByText(/^The image is not saved: The file is not PNG, JPEG, GIF, WebP or SVG/).waitFor()
  expect(uploads).toHaveLength(1)

  const image = page.getByRole('img', { name: `Image of ${api.displayName}` })
  /** Width in its own pixels. */
  const width = () => image.evaluate(element => (element as unknown as { naturalWidth: number }).naturalWidth)
  await drop(page, 'pixel.png', 'image/png', PNG)
  await expect.poll(width).toBe(1)
  await expect.poll(() => image.getAttribute('src')).toMatch(/^blob:/)
  const file = { name: 'seven.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(SVG) }
  await page.locator('input[type=file]').setInputFiles(file)
  await expect.poll(width).toBe(7)
  await page.getByRole('button', { name: 'Delete image' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete image' }).click()
  await page.getByText('No image', { exact: true }).waitFor()
  expect(await request('GET', `/apis/${api.id}`)).toMatchObject({ hasImage: false })
})

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

test('versions are added, edited beside another person, and deleted, and show their history', async ({
  page,
}) => {
  const api = await createApi()
  const act = async (action: string) => {
    await page.getByRole('button', { name: 'Actions for version 1.2.0' }).click()
    await page.getByRole('menuitem', { name: action }).click()
  }
  await open(page, `/apis/${api.id}?tab=versions`)
  await page.getByRole('heading', { name: 'No versions yet' }).waitFor()
  await page.getByRole('button', { name: 'Add version' }).click()
  const adding = page.getByRole('dialog', { name: 'Add a version' })
  await adding.getByRole('button', { name: 'Add version' }).click()
  await adding.getByText('Name is required', { exact: true }).waitFor()
  await adding.getByRole('textbox', { name: 'Name', exact: true }).fill('1.2.0')
  await adding.getByRole('button', { name: 'Add version' }).click()
  await adding.waitFor({ state: 'hidden' })
  await page.getByRole('link', { name: 'Add document to 1.2.0' }).waitFor()

  const { content } = await request('GET', `/apis/${api.id}/versions`)
  const path = `/apis/${api.id}/versions/${content[0].id}`
  const changed = (fields: object) =>
    request('PUT', path, { name: '1.2.0', displayName: '1.2.0', status: 'ACTIVE', ...fields })
  await act('Edit')
  const editing = page.getByRole('dialog', { name: 'Edit version 1.2.0' })
  await editing.getByLabel('Description').fill('Mine')
  await editing.getByLabel('Status').selectOption('DEPRECATED')
  await changed({ description: 'Theirs', displayName: 'Theirs' })
  await editing.getByRole('button', { name: 'Save' }).click()
  const comparing = page.getByRole('dialog', { name: 'The version has changed since you opened it' })
  await chosen(comparing, /^Description/)
    .getByLabel('Mine')
    .check()
  await comparing.getByRole('button', { name: 'Save the chosen values' }).click()
  await editing.waitFor({ state: 'hidden' })
  await page.getByText('Deprecated').waitFor()
  expect(await request('GET', path)).toMatchObject({ description: 'Mine', displayName: 'Theirs' })

  await act('History')
  const history = page.getByRole('dialog', { name: 'History of version 1.2.0' })
  await expect
    .poll(() => history.getByRole('listitem').first().textContent())
    .toMatch(/Version 1.2.0 changed.*Status\s*Active\s*Deprecated/)
  await page.keyboard.press('Escape')
  await history.waitFor({ state: 'hidden' })

  // Another person changes it between the question and the answer.
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete version' })
  await act('Delete')
  await changed({ displayName: '1.2.0' })
  await confirm.click()
  await page.getByRole('alert', { name: 'It has changed since it was listed' }).waitFor()
  expect(await request('GET', path)).toMatchObject({ displayName: '1.2.0' })
  await page.reload()
  await act('Delete')
  await confirm.click()
  await page.getByRole('heading', { name: 'No versions yet' }).waitFor()
})

test('an API is deployed to an environment that then gets a name, and undeployed, and the page follows the job', async ({
  page,
}) => {
  const id = randomUUID()
  const api = await createApi()
  await open(page, `/apis/${api.id}?tab=deployments`)
  const environment = page.getByRole('combobox', { name: 'Environment' })
  await environment.fill('none of this name')
  await page.getByText('Nothing found').waitFor()
  await environment.fill(id)
  await page.getByRole('option', { name: id }).click()
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await confirmDeployment(page, `${api.displayName} is deployed to ${id}`)
  const name = unique('staging')
  await page.getByRole('button', { name: `Give a name to ${id}` }).click()
  const naming = page.getByRole('dialog', { name: 'Name the environment' })
  await naming.getByRole('button', { name: 'Save' }).click()
  await naming.getByText('Name is required').waitFor()
  await naming.getByRole('textbox', { name: 'Name' }).fill(name)
  await naming.getByRole('button', { name: 'Save' }).click()
  const row = page.getByRole('row', { name })
  await environment.fill(name)
  await page.getByRole('option', { name }).waitFor()
  await page.keyboard.press('Escape')
  await row.getByRole('cell', { name: 'Deployed' }).waitFor()
  await row.getByText('Administrator').waitFor()
  await checkPage(page)

  // The job ends at once in one process, so that the page first gets the state of the time at which it ran.
  const { content } = await request('GET', `/apis/${api.id}/history?sort=timestamp,asc`)
  const started = content.find((entry: { operation: string }) => entry.operation === 'API_DEPLOYMENT_STARTED')
  await page.route(isAt(`/apis/${api.id}`), route =>
    route.request().url().includes('?')
      ? route.continue({ url: `${route.request().url()}&at=${started.timestamp}` })
      : route.fallback(),
  )
  await page.reload()
  await page.getByText('One deployment is running').waitFor()
  await row.getByRole('cell', { name: 'Deploying' }).waitFor()
  await page.getByRole('button', { name: `Cancel deployment: ${name}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel deployment' }).click()
  const ended = /No deployment job of this API and environment is running/
  await page.getByRole('alert', { name: ended }).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.unrouteAll()
  await row.getByRole('cell', { name: 'Deployed' }).waitFor()
  await page.getByText('One deployment is running').waitFor({ state: 'hidden' })

  await row.getByRole('button', { name: /^Undeploy/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Undeploy' }).click()
  await page.getByRole('heading', { name: 'Not deployed' }).waitFor()
})

const confirmDeployment = async (page: Page, text: string) => {
  const dialog = page.getByRole('dialog', { name: 'Deploy the API?' })
  await dialog.getByText(text).waitFor()
  await dialog.getByRole('button', { name: 'Deploy' }).click()
}

test('a failed first deployment names its environment and the reason of the agent', async ({ page }) => {
  const api = await createApi()
  const environment = randomUUID()
  const name = unique('qa')
  await request('PUT', `/environments/${environment}`, { name })
  const failed = {
    ...{ id: randomUUID(), timestamp: new Date().toISOString(), operation: 'API_DEPLOYMENT_FAILED' },
    ...{ who: null, resourceType: 'API', resourceId: api.id, revision: 1, restoredTo: null },
    ...{ requestId: randomUUID(), changes: [] },
  }
  const data = { api, environment, job: randomUUID(), type: 'DEPLOY', message: 'no route to the gateway' }
  // The agent of one process has no failures.
  await page.route(isAt(`/apis/${api.id}`), async route => {
    const response = await route.fetch()
    return route.fulfill({
      response,
      json: { ...(await response.json()), deploymentStatus: 'DEPLOYMENT_FAILED' },
    })
  })
  await page.route(isAt(`/apis/${api.id}/history`), route =>
    route.fulfill({
      json: { content: [failed], size: 100, number: 1, totalPages: 1, totalElements: 1, last: true },
    }),
  )
  await page.route(isAt('/events'), route =>
    route.fulfill({ json: { content: [{ type: 'API_DEPLOYMENT_FAILED', data }], position: 'a' } }),
  )
  await open(page, `/apis/${api.id}?tab=deployments`)
  await page.getByText(`The deployment to ${name}`).waitFor()
  await page.getByText('The deployment agent states: no route to the gateway').waitFor()
  await checkPage(page)
})

test('an environment is created while an API is deployed, and is listed with it', async ({ page }) => {
  const api = await createApi()
  const name = unique('production')
  await open(page, `/apis/${api.id}?tab=deployments`)
  await page.getByRole('button', { name: 'New environment' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create environment' })
  await dialog.getByRole('textbox', { name: 'Name' }).fill(name)
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await confirmDeployment(page, `${api.displayName} is deployed to ${name}`)
  await page.getByRole('row', { name }).getByRole('cell', { name: 'Deployed' }).waitFor()
  await fitsPhone(page)

  await open(page, '/environments')
  const row = page.getByRole('row', { name })
  await row.getByRole('link', { name: '1 API' }).waitFor()
  await row.getByRole('button', { name: `Edit ${name}` }).click()
  const editing = page.getByRole('dialog', { name: 'Edit the environment' })
  await editing.getByRole('textbox', { name: 'Position' }).fill('0')
  await editing.getByRole('button', { name: 'Save' }).click()
  await row.getByRole('cell', { name: '0', exact: true }).waitFor()
  await checkPage(page)
  await fitsPhone(page)
  await row.getByRole('link', { name: '1 API' }).click()
  await page.getByRole('link', { name: api.displayName }).waitFor()
})

test('the active webhooks that ask for events of APIs are listed', async ({ page }) => {
  const api = await createApi()
  await createWebhook({ displayName: 'Asks for APIs', eventTypes: ['API_UPDATED', 'SUBSCRIPTION_CREATED'] })
  await createWebhook({ displayName: 'Asks for subscriptions', eventTypes: ['SUBSCRIPTION_CREATED'] })
  await createWebhook({ displayName: 'Is inactive', active: false, eventTypes: ['API_UPDATED'] })
  await open(page, `/apis/${api.id}?tab=webhooks`)
  await page.getByRole('row', { name: 'Asks for APIs' }).getByRole('cell', { name: 'API_UPDATED' }).waitFor()
  expect(await page.getByText('Asks for subscriptions').count()).toBe(0)
  expect(await page.getByText('Is inactive').count()).toBe(0)
})

test('the history shows the differences of each field, and the slider the state at a time, which is restored', async ({
  page,
}) => {
  const api = await createApi({ description: 'First' })
  await change(api, { description: 'Second', tags: ['old', 'new'] })
  await request('POST', `/apis/${api.id}/versions`, { name: '2.0' })
  await open(page, `/apis/${api.id}?tab=history`)
  const changed = page.getByRole('listitem').filter({ hasText: /^Changed/ })
  await changed.waitFor()
  await expect.poll(() => changed.locator('del').allInnerTexts()).toEqual(['First'])
  await expect.poll(() => changed.locator('ins').allInnerTexts()).toEqual(['Second', 'new'])
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
  expect(searchOf(page).at).toBe(api.createdAt)
  await checkPage(page)
  await page.reload()

  await page.getByRole('button', { name: 'Restore this state' }).click()
  const dialog = page.getByRole('dialog', { name: 'Restore this state?' })
  await expect.poll(() => dialog.locator('del, ins').allInnerTexts()).toContain('Second')
  // Another person changes the API in the meantime: the dialog then shows the differences to that.
  await change(api, { description: 'Third' })
  await dialog.getByRole('button', { name: 'Restore' }).click()
  await dialog.getByRole('alert', { name: /The resource has changed/ }).waitFor()
  await dialog.getByText('Third').waitFor()
  await dialog.getByRole('button', { name: 'Restore' }).click()
  await page.getByRole('listitem').filter({ hasText: 'Restored' }).waitFor()
  expect(await request('GET', `/apis/${api.id}`)).toMatchObject({ description: 'First' })
})

test('an API is deleted after its name was typed, and its history stays', async ({ page }) => {
  const api = await createApi()
  await deploy(api.id, ENVIRONMENT)
  await open(page, `/apis/${api.id}`)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: `Delete ${api.displayName}?` })
  const button = dialog.getByRole('button', { name: 'Delete API' })
  await expect.poll(() => button.isDisabled()).toBe(true)
  await dialog.getByLabel(/to confirm/).fill(api.name)
  await button.click()
  await heading(page, 'APIs').waitFor()
  await page.goto(`${consoleUrl}/apis/${api.id}`)
  await heading(page, `${api.displayName} was deleted`).waitFor()
  await page.getByRole('listitem').filter({ hasText: 'Deleted' }).waitFor()
})

test('the page of an API that another person deletes meanwhile has its history and nothing to change', async ({
  clocked: page,
}) => {
  const api = await createApi()
  await open(page, `/apis/${api.id}`)
  await page.getByRole('tab', { name: 'Versions' }).waitFor()
  await request('DELETE', `/apis/${api.id}`)
  await page.clock.fastForward('00:10')
  await showAgain(page)
  await heading(page, `${api.displayName} was deleted`).waitFor()
  await page.getByRole('article', { name: 'Deleted' }).waitFor()
  expect(await page.getByRole('tab').count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
})

test('a caller who may only read sees no actions', async ({ page }) => {
  const api = await createApi()
  await request('POST', `/apis/${api.id}/versions`, { name: '1.0' })
  await open(page, `/apis/${api.id}`, await tokenWith(['API_READ']))
  await heading(page, api.displayName).waitFor()
  await page.getByRole('link', { name: 'APIs', exact: true }).first().waitFor()
  expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
  expect(await page.getByRole('button', { name: /Delete|Choose image/ }).count()).toBe(0)
  expect(await page.getByRole('tab', { name: 'Webhooks' }).count()).toBe(0)
  await page.getByRole('tab', { name: 'Versions' }).click()
  await page.getByRole('button', { name: 'Actions for version 1.0' }).click()
  await expect.poll(() => page.getByRole('menuitem').allInnerTexts()).toEqual(['History'])
  for (const form of [`${api.id}/edit`, 'new']) {
    await page.goto(`${consoleUrl}/apis/${form}`)
    await page.getByRole('heading', { name: 'You have no access to the forms of APIs' }).waitFor()
  }
})
