import { randomUUID } from 'node:crypto'
import type { Download, Page } from 'playwright-core'
import { expect } from 'vitest'
import {
  ADMINISTRATOR,
  checkPage,
  consoleUrl,
  hold,
  isAt,
  open,
  readInPagesOf,
  searchOf,
  test,
} from './src/browser.ts'
import { as, createApi, createUser, deploy, logIn, request, unique } from './src/service.ts'

/** The fields of an entry that tests read. */
interface AuditEntry {
  id: string
  action: string
  timestamp: string
}

/** An API with two entries in the audit log. */
async function changedApi() {
  const api = await createApi({ displayName: 'Before', url: '/before' })
  const { id, name, status, tags } = api
  await request('PUT', `/apis/${id}`, { name, status, tags, displayName: 'After', url: '/after' })
  return api
}

const entries = (page: Page) => page.getByRole('listbox', { name: 'Entries' }).getByRole('option')
const selected = (page: Page) => page.getByRole('region', { name: 'Selected entry' })

test('an entry of a version names its API', async ({ page }) => {
  const api = await createApi({ displayName: 'Tides' })
  const version = { name: '1.2.0', displayName: 'Spring release', status: 'ACTIVE' }
  const { id } = await request('POST', `/apis/${api.id}/versions`, version)
  await open(page, `/audit?resource=${id}`)
  await entries(page).getByText('Tides › Spring release').waitFor()
})

test('an entry shows the old and the new value of each changed field, and what proves it', async ({
  page,
}) => {
  const api = await changedApi()
  await open(page, `/audit?resource=${api.id}`)
  await entries(page).filter({ hasText: 'API_UPDATED' }).click()
  const change = selected(page).getByRole('listitem').filter({ hasText: 'displayName' })
  await expect.poll(() => change.locator('del').textContent()).toContain('Before')
  await expect.poll(() => change.locator('ins').textContent()).toContain('After')
  expect(await selected(page).getByRole('listitem').filter({ hasText: 'tags' }).count()).toBe(0)
  await selected(page).getByText('Not covered by a signed day yet').waitFor()
  await expect
    .poll(() => selected(page).getByRole('link', { name: 'API', exact: true }).getAttribute('href'))
    .toBe(`${new URL(consoleUrl).pathname}/apis/${api.id}`)
  await checkPage(page)
})

test('the changes of an API are found by its name', async ({ page }) => {
  const displayName = unique('Harbour')
  const api = await createApi({ displayName })
  await open(page, '/audit')
  await page.getByLabel('Search', { exact: true }).fill(displayName)
  await page.getByRole('button', { name: displayName }).click()
  await page.getByText('1 entry', { exact: true }).waitFor()
  expect(searchOf(page)).toEqual({ resource: api.id })
  await entries(page).click()
  await selected(page).waitFor()
  await entries(page).getByText('admin', { exact: true }).waitFor()
  await page.getByRole('combobox', { name: 'Action' }).fill('API_DELETED')
  await page.getByRole('heading', { name: 'No entry matches' }).waitFor()
  expect(await selected(page).count()).toBe(0)
})

test('the filters of the audit log and the selected entry survive a reload', async ({ page }) => {
  const api = await changedApi()
  await open(page, '/audit')
  await page.getByRole('combobox', { name: 'Resource' }).fill(api.id)
  await page.getByRole('combobox', { name: 'Action' }).fill('API_CREATED')
  await page.getByLabel('User', { exact: true }).fill('admin')
  await expect.poll(() => searchOf(page).user).toBe('admin')
  await page.getByText('1 entry', { exact: true }).waitFor()
  await page.getByRole('listbox', { name: 'Entries' }).press('ArrowDown')
  await selected(page).waitFor()
  await page.reload()
  await page.getByText('1 entry', { exact: true }).waitFor()
  await selected(page).getByRole('heading', { name: 'API_CREATED' }).waitFor()
  await expect.poll(() => page.getByRole('combobox', { name: 'Action' }).inputValue()).toBe('API_CREATED')
  expect(searchOf(page)).toMatchObject({ resource: api.id, user: 'admin' })
})

test('a date alone is the start or the end of its day, and its year is typed digit by digit', async ({
  page,
}) => {
  await open(page, '/audit')
  const field = (name: string) => page.getByLabel(name, { exact: true })
  const [from, time] = [field('From (UTC): date'), field('From (UTC): time')]
  await from.fill('2026-11-20')
  await expect.poll(() => searchOf(page).from).toBe('2026-11-20T00:00:00.000Z')
  await time.fill('10:00:05')
  await expect.poll(() => searchOf(page).from).toBe('2026-11-20T10:00:05.000Z')
  const asked: (string | null)[] = []
  page.on('request', request => asked.push(new URL(request.url()).searchParams.get('from')))
  await from.focus()
  for (const key of ['ArrowRight', 'ArrowRight', '2', '0', '2', '5']) await page.keyboard.press(key)
  await expect.poll(() => searchOf(page).from).toBe('2025-11-20T10:00:05.000Z')
  expect([await from.inputValue(), await time.inputValue()]).toEqual(['2025-11-20', '10:00:05'])
  expect(asked.filter(at => at?.startsWith('00'))).toEqual([])
  await field('Until (UTC): date').fill('2026-11-21')
  await expect.poll(() => searchOf(page).to).toBe('2026-11-21T23:59:59.999Z')
  await from.focus()
  await page.keyboard.press('Backspace')
  await time.focus()
  await field('Until (UTC): time').focus()
  await page.getByText('Enter the whole date').waitFor()
  expect(searchOf(page).from).toBe('2025-11-20T10:00:05.000Z')
})

test('an entry is found among all entries of its time, which are those of one request', async ({ page }) => {
  const api = await changedApi()
  for (const environment of [randomUUID(), randomUUID()]) await deploy(api.id, environment)
  await request('DELETE', `/apis/${api.id}?undeploy=true`)
  const latest = async (): Promise<AuditEntry[]> => {
    const { content } = await request('GET', `/auditLog?resource=${api.id}&sort=timestamp,desc`)
    return content.filter(({ timestamp }: AuditEntry) => timestamp === content[0].timestamp)
  }
  await expect.poll(async () => (await latest()).length).toBe(3)
  await readInPagesOf(page, 1, '/auditLog')
  for (const { id, action, timestamp } of await latest()) {
    await open(page, `/audit?resource=${api.id}&entry=${id}&at=${timestamp}`)
    await selected(page).getByRole('heading', { name: action }).waitFor()
  }
})

test('an entry of an erased user has the id of the user', async ({ page }) => {
  const user = await createUser('GLOBAL_ADMIN')
  const fields = {
    name: `erased-${user.username}`,
    displayName: 'By an erased user',
    status: 'ACTIVE',
    tags: [],
  }
  const api = await request('POST', '/apis', fields, await logIn(user))
  await request('POST', `/users/${user.id}/erase`)
  await open(page, `/audit?resource=${api.id}`)
  await entries(page)
    .filter({ hasText: `Erased or unknown user ${user.id}` })
    .click()
  await selected(page).getByText(`Erased or unknown user ${user.id}`).first().waitFor()
})

test('all entries can be reached while few are in the page', async ({ page }) => {
  await open(page, '/audit?resource=API&sort=timestamp,asc')
  await entries(page).first().waitFor()
  await page.getByRole('listbox', { name: 'Entries' }).evaluate(list => list.scrollTo(0, list.scrollHeight))
  const total = Number(await entries(page).last().getAttribute('aria-setsize'))
  expect(total).toBeGreaterThan(300)
  await page.locator(`[aria-posinset="${total}"]`).getByText('API_').waitFor()
  await expect.poll(() => entries(page).count()).toBeLessThan(60)
})

/** Starts an export with the dialog. */
async function startExport(page: Page, format = 'NDJSON') {
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await page.getByRole('radio', { name: format }).check()
  await page.getByRole('button', { name: 'Start the export' }).click()
}

const textOf = async (download: Download) => {
  const stream = await download.createReadStream()
  return Buffer.concat(await stream.toArray()).toString()
}

/** Lines without those that are signed for each export, and without the hashes of entries that were added since. */
const recordsOf = (text: string) =>
  text.split(/\r?\n/).filter(line => line.includes('API_') && !line.includes('trailer'))

test('an export has the entries that the filters let through, can be cancelled, and continues when it was cut off', async ({
  page,
}) => {
  const api = await changedApi()
  const query = `resource=${api.id}&format=csv`
  const whole = await (await as(ADMINISTRATOR, 'GET', `/auditLog/export?${query}`)).text()
  await open(page, `/audit?resource=${api.id}`)

  await hold(page, 'GET', '/auditLog/export')
  await startExport(page)
  await page.getByRole('button', { name: 'Cancel the export' }).click()
  await page.getByText(/^Cancelled\. Nothing was saved/).waitFor()
  await page.unrouteAll()
  await page.keyboard.press('Escape')

  await page.route(isAt('/auditLog/export'), route =>
    route.fulfill({ contentType: 'text/csv', body: whole.slice(0, whole.length / 2) }),
  )
  await startExport(page, 'CSV with proofs')
  await page.getByRole('alert', { name: /The export is incomplete/ }).waitFor()
  await page.unrouteAll()
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Try again' }).click()
  const download = await saving
  const text = await textOf(download)
  expect(download.suggestedFilename()).toMatch(/^audit-log-to-[0-9-]+\.csv$/)
  expect(recordsOf(text)).toEqual(recordsOf(whole))
  expect(recordsOf(text).filter(line => line.includes(api.id)).length).toBe(2)
  await page.getByText(/^Complete\. The file was saved/).waitFor()
})

test('the page of proofs shows what the head of the chain covers, and saves it', async ({ page }) => {
  await open(page, '/audit')
  await page.getByRole('link', { name: 'Proofs' }).click()
  await page
    .getByRole('note')
    // After a midnight the service has signed a day.
    .getByText(/(No day is signed yet.*covers all|cover the records 1 to.*covers the) [\d,]+ records/s)
    .waitFor()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save the head' }).click()
  const { head } = JSON.parse(await textOf(await download))
  await page.getByText(`Record ${head.number.toLocaleString('en')}, position`).waitFor()
  await expect.poll(() => page.getByText(head.chainHash, { exact: true }).count()).toBe(1)
})

test('a day whose root is not valid is named as broken, for the day and for its entries', async ({
  page,
}) => {
  const api = await changedApi()
  const { head } = await request('GET', '/auditLog/proofs')
  const start = { number: 0, position: '', chainHash: '0'.repeat(64) }
  const ends = { first: start, last: head, before: start, after: head }
  const root = { ...head, ...ends, day: '2026-11-21', count: head.number, valid: false }
  const proofs = { size: 50, number: 1, totalPages: 1, totalElements: 1, last: true, head, content: [root] }
  await page.route(isAt('/auditLog/proofs'), route => route.fulfill({ json: proofs }))
  await open(page, `/audit?resource=${api.id}`)
  await entries(page).first().click()
  await page.getByText('The proof of 2026-11-21 is broken').waitFor()
  await page.getByRole('link', { name: 'Show the proofs' }).click()
  await page.getByRole('alert', { name: 'The chain is broken' }).getByText('2026-11-21').waitFor()
  await checkPage(page)
})
