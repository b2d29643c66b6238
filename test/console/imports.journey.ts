import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { checkPage, dropFiles, fitsPhone, heading, isAt, loseResponses, open, test } from './src/browser.ts'
import { openReceiver } from './src/receiver.ts'
import { request, unique } from './src/service.ts'

const documentOf = (title: string, version = '1.0') =>
  `openapi: 3.1.0\ninfo: {title: ${title}, version: "${version}"}\npaths: {}\n`

/** Drops files on the page of imports. */
const drop = (page: Page, files: Parameters<typeof dropFiles>[2]) => dropFiles(page, 'Import', files)

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const status = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()
const named = async (name: string) => (await request('GET', `/apis?name=${name}`)).content

test('dropped documents are imported after their plans are shown; the same again is unchanged', async ({
  page,
}) => {
  const [first, second] = [unique('import'), unique('import')]
  await open(page, '/apis')
  await page.getByRole('link', { name: 'Import', exact: true }).click()
  await heading(page, 'Import APIs').waitFor()
  await checkPage(page)
  await drop(page, {
    'first.yaml': documentOf(first),
    'broken.yaml': 'openapi: 3.1.0\ninfo: {title: [\n',
    'second.yaml': documentOf(second),
  })
  await status(page, '2 new APIs, 1 refused')
  await row(page, 'first.yaml').getByText('New API').waitFor()
  await row(page, 'first.yaml').getByText('new version 1.0, new document').waitFor()
  await row(page, 'broken.yaml')
    .getByText(/^Line \d/)
    .first()
    .waitFor()
  expect(await named(first)).toEqual([])
  await checkPage(page)
  await fitsPhone(page)
  await button(page, 'Import 2 documents')
  await status(page, '2 imported, 1 refused')
  await button(page, 'Clear the list')
  await drop(page, { 'first.yaml': documentOf(first), 'second.yaml': documentOf(second, '2.0') })
  await status(page, '1 new version, 1 unchanged')
  await row(page, 'second.yaml').getByText('new version 2.0').waitFor()
  await loseResponses(page, 'POST', '/apis/import')
  await button(page, 'Import the document')
  await row(page, 'second.yaml').getByText('The service cannot be reached').waitFor()
  await page.unrouteAll()
  const answered = page.waitForResponse(response => isAt('/apis/import')(new URL(response.url())))
  await button(page, 'Import the document')
  expect((await answered).headers()).toMatchObject({ 'idempotency-replayed': 'true' })
  await row(page, 'second.yaml').getByText('Updated', { exact: true }).waitFor()
  await page.getByRole('link', { name: second }).click()
  await heading(page, second).waitFor()
})

test('an import is cancelled: what was not begun stays to be imported', async ({ page }) => {
  const names = ['a', 'b', 'c'].map(letter => unique(letter))
  await open(page, '/apis/import')
  await drop(page, Object.fromEntries(names.map(name => [name, documentOf(name)])))
  await status(page, '3 new APIs')
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route(isAt('/apis/import'), async route => {
    await released
    await route.continue()
  })
  const sent = page.waitForRequest(request => isAt('/apis/import')(new URL(request.url())))
  await button(page, 'Import 3 documents')
  await sent
  await page.getByLabel('Breadcrumbs').getByRole('link').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stay' }).last().click()
  await button(page, 'Cancel')
  release()
  await status(page, '1 imported, 2 to import')
  await page.unrouteAll({ behavior: 'wait' })
  await button(page, 'Import 2 documents')
  await status(page, '3 imported')
})

test('many documents are imported by a job, which is listed with its results', async ({ page }) => {
  const name = unique('many')
  const files = Array.from({ length: 21 }, (_, index) => [`${index}.yaml`, documentOf(name, `${index}`)])
  await open(page, '/apis/import')
  await drop(page, Object.fromEntries(files))
  await status(page, '1 new API, 20 new versions')
  await button(page, 'Import 21 documents')
  await heading(page, 'Import of 21 items').waitFor()
  await status(page, '21 succeeded, 0 failed')
  await checkPage(page)
  await fitsPhone(page)
  await page.getByRole('button', { name: 'Page 2', exact: true }).click()
  await expect.poll(() => page.getByRole('table', { name: 'Results' }).getByRole('row').count()).toBe(2)
  await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Jobs' }).click()
  await heading(page, 'Jobs').waitFor()
  const job = page.getByRole('table', { name: 'Jobs' }).getByRole('row').filter({ hasText: '21 succeeded' })
  await job.getByText('Completed').waitFor()
  await checkPage(page)
  await fitsPhone(page)
})

test('many documents that are too large for one request are imported one by one', async ({ page }) => {
  const name = unique('large')
  const documents = Array.from(
    { length: 20 },
    (_, n) => [`${100 + n}.yaml`, documentOf(name, `${n}`)] as const,
  )
  const large = { openapi: '3.1.0', info: { title: name, version: 'large' }, paths: {} }
  await open(page, '/apis/import')
  // In a request of many, each line break takes two bytes.
  const text = { content: JSON.stringify(large), padWith: '\n', size: 10_500_000 }
  await drop(page, { ...Object.fromEntries(documents), 'large.json': text })
  for (const [file] of documents) await row(page, file).getByText('New version').first().waitFor()
  await status(page, '1 new API, 20 new versions')
  await button(page, 'Import 21 documents')
  for (const [file] of documents)
    await row(page, file).getByText('Created', { exact: true }).first().waitFor()
  await status(page, '21 imported')
})

test('a document at a URL is checked and imported by jobs, and one that cannot be read says why', async ({
  page,
}) => {
  const name = unique('linked')
  const receiver = await openReceiver(() => ({ status: 200, body: documentOf(name) }))
  await open(page, '/apis/import')
  const url = page.getByLabel('Or the URL of a document')
  await url.fill(`${receiver.url}openapi.yaml`)
  await url.press('Enter')
  await row(page, receiver.url).getByText('New API').waitFor()
  await url.fill('http://127.0.0.1:9/missing.yaml')
  await button(page, 'Check')
  await row(page, ':9/missing.yaml').getByText('Refused', { exact: true }).waitFor()
  await button(page, 'Import the document')
  await row(page, receiver.url).getByText('Created', { exact: true }).waitFor()
  await page.getByRole('link', { name }).click()
  await heading(page, name).waitFor()
})
