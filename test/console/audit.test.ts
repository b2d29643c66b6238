import { randomUUID } from 'node:crypto'
import type { Download, Page } from 'playwright-core'
import { expect, inject } from 'vitest'
import { as, createAccount } from './src/accounts.ts'
import { checkPage, readInPagesOf, request, signIn, test, url } from './src/browser.ts'
import { startProxy } from './src/proxy.ts'

const INPUT = { url: 'https://example.com/before', status: 'ACTIVE', tags: ['audit'] }

/** The fields of an entry that tests read. */
interface AuditEntry {
  id: string
  action: string
  timestamp: string
}

/** An API with two entries in the audit log. */
async function changedApi() {
  const name = `audit-${randomUUID()}`
  const api = await request('POST', '/apis', { name, displayName: 'Before', ...INPUT })
  await request('PUT', `/apis/${api.id}`, {
    name,
    displayName: 'After',
    ...INPUT,
    url: 'https://example.com/after',
  })
  return api
}

const entries = (page: Page) => page.getByRole('listbox', { name: 'Entries' }).getByRole('option')

test('an entry shows the old and the new value of each changed field, and what proves it', async ({
  page,
}) => {
  const api = await changedApi()
  await signIn(page, `/audit?resource=${api.id}`)
  await entries(page).filter({ hasText: 'API_UPDATED' }).click()
  const entry = page.getByRole('region', { name: 'Selected entry' })
  const change = entry.getByRole('listitem').filter({ hasText: 'displayName' })
  await expect.poll(() => change.locator('del').textContent()).toContain('Before')
  await expect.poll(() => change.locator('ins').textContent()).toContain('After')
  expect(await entry.getByRole('listitem').filter({ hasText: 'tags' }).count()).toBe(0)
  await entry.getByText('Not covered by a signed day yet').waitFor()
  await expect
    .poll(() => entry.getByRole('link', { name: 'API', exact: true }).getAttribute('href'))
    .toBe(`/console/apis/${api.id}`)
  await checkPage(page, 'audit')
})

test('the filters of the audit log and the selected entry survive a reload', async ({ page }) => {
  const api = await changedApi()
  await signIn(page, '/audit')
  await page.getByRole('combobox', { name: 'Resource' }).fill(api.id)
  await page.getByRole('combobox', { name: 'Action' }).fill('API_CREATED')
  await page.getByLabel('User', { exact: true }).fill('admin')
  await expect.poll(() => new URL(page.url()).searchParams.get('user')).toBe('admin')
  await page.getByText('1 entry', { exact: true }).waitFor()
  await page.getByRole('listbox', { name: 'Entries' }).press('ArrowDown')
  await page.getByRole('region', { name: 'Selected entry' }).waitFor()
  await page.reload()
  await page.getByText('1 entry', { exact: true }).waitFor()
  const entry = page.getByRole('region', { name: 'Selected entry' })
  await entry.getByRole('heading', { name: 'API_CREATED' }).waitFor()
  await expect.poll(() => page.getByRole('combobox', { name: 'Action' }).inputValue()).toBe('API_CREATED')
  const query = new URL(page.url()).searchParams
  expect([query.get('resource'), query.get('user')]).toEqual([api.id, 'admin'])
})

test('a year that is typed digit by digit changes no other part of a time, and reads nothing meanwhile', async ({
  page,
}) => {
  const browser = await page.context().newCDPSession(page)
  // Its offset in early years has minutes and seconds.
  await browser.send('Emulation.setTimezoneOverride', { timezoneId: 'Europe/Berlin' })
  await signIn(page, '/audit')
  const from = page.getByLabel('From', { exact: true })
  await from.fill('2026-11-20T10:00:05')
  await expect.poll(() => new URL(page.url()).searchParams.get('from')).toBe('2026-11-20T09:00:05.000Z')
  const asked: (string | null)[] = []
  page.on('request', request => asked.push(new URL(request.url()).searchParams.get('from')))
  await from.focus()
  for (const key of ['ArrowRight', 'ArrowRight', '2', '0', '2', '5']) await page.keyboard.press(key)
  await expect.poll(() => new URL(page.url()).searchParams.get('from')).toBe('2025-11-20T09:00:05.000Z')
  expect(await from.inputValue()).toBe('2025-11-20T10:00:05')
  expect(asked.filter(at => at?.startsWith('00'))).toEqual([])
})

test('an entry is found among all entries of its time', async ({ page }) => {
  const api = await changedApi()
  for (const environment of [randomUUID(), randomUUID()]) {
    await request('PUT', `/environments/${environment}/apis/${api.id}`)
    const deployments = () => request('GET', `/apis/${api.id}?includeDeployedOn=true`)
    await expect.poll(async () => JSON.stringify(await deployments())).toContain(environment)
  }
  await request('DELETE', `/apis/${api.id}?undeploy=true`)
  const latest = async (): Promise<AuditEntry[]> => {
    const { content } = await request('GET', `/auditLog?resource=${api.id}&sort=timestamp,desc`)
    return content.filter(({ timestamp }: AuditEntry) => timestamp === content[0].timestamp)
  }
  // All entries of one request have the same time.
  await expect.poll(async () => (await latest()).length).toBe(3)
  await readInPagesOf(page, 1, '/auditLog')
  for (const { id, action, timestamp } of await latest()) {
    await signIn(page, `/audit?resource=${api.id}&entry=${id}&at=${timestamp}`)
    const entry = page.getByRole('region', { name: 'Selected entry' })
    await entry.getByRole('heading', { name: action }).waitFor()
  }
})

test('an entry of an erased user has the id of the user', async ({ page }) => {
  const { id, authorization } = await createAccount('GLOBAL_ADMIN')
  const fields = { name: `erased-${randomUUID()}`, displayName: 'By an erased user', ...INPUT }
  const api = (await (await as(authorization, 'POST', '/apis', fields)).json()) as { id: string }
  await request('POST', `/users/${id}/erase`)
  await signIn(page, `/audit?resource=${api.id}`)
  await entries(page)
    .filter({ hasText: `Erased or unknown user ${id}` })
    .click()
  const entry = page.getByRole('region', { name: 'Selected entry' })
  await entry.getByText(`Erased or unknown user ${id}`).waitFor()
})

test('all entries can be reached while few are in the page', async ({ page }) => {
  await signIn(page, '/audit?resource=API&sort=timestamp,asc')
  await entries(page).first().waitFor()
  await page.getByRole('listbox', { name: 'Entries' }).evaluate(list => list.scrollTo(0, list.scrollHeight))
  const last = entries(page).last()
  const total = Number(await last.getAttribute('aria-setsize'))
  expect(total).toBeGreaterThan(2_600)
  await page.locator(`[aria-posinset="${total}"]`).getByText('API_').waitFor()
  await expect.poll(() => entries(page).count()).toBeLessThan(60)
})

/** Exports with the dialog. */
async function exported(page: Page, format: string): Promise<Download> {
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await page.getByRole('radio', { name: format }).check()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Start the export' }).click()
  return download
}

const textOf = async (download: Download) => {
  const bytes = await download.createReadStream().then(async stream => Buffer.concat(await stream.toArray()))
  return bytes.toString()
}

/** The same export without the console. */
async function exportOf(query: string) {
  const response = await fetch(`${url}/auditLog/export?${query}`, {
    headers: { authorization: inject('authorization') },
  })
  return response.text()
}

/** Lines without those that are signed for each export, and without the hashes of entries that were added since. */
const recordsOf = (text: string) =>
  text.split(/\r?\n/).filter(line => line.includes('API_') && !line.includes('trailer'))

test.for(['NDJSON', 'CSV', 'CEF'])(
  'an export as %s has the entries that the filters let through',
  async (format, { page }) => {
    const api = await changedApi()
    await signIn(page, `/audit?resource=${api.id}`)
    const download = await exported(page, format)
    const text = await textOf(download)
    expect(download.suggestedFilename()).toMatch(new RegExp(`^audit-log-[0-9-]+\\.${format.toLowerCase()}$`))
    expect(recordsOf(text)).toEqual(
      recordsOf(await exportOf(`resource=${api.id}&format=${format.toLowerCase()}`)),
    )
    expect(recordsOf(text).filter(line => line.includes(api.id)).length).toBe(2)
    await page.getByText(/^Complete\. The file was saved/).waitFor()
    if (format === 'CSV') await checkPage(page, 'audit-export')
  },
)

test('an export can be cancelled', async ({ page, onTestFinished }) => {
  const proxy = await startProxy()
  onTestFinished(proxy.close)
  await signIn(page, `${proxy.url}/console/audit`)
  await entries(page).first().waitFor()
  proxy.holdAfter(3_000_000)
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await page.getByRole('button', { name: 'Start the export' }).click()
  await page.getByText(/^Receiving: [1-9]/).waitFor()
  await page.getByRole('button', { name: 'Cancel the export' }).click()
  await page.getByText(/^Cancelled\. Nothing was saved/).waitFor()
})

test('an export that was cut off continues after its last trailer', async ({ page, onTestFinished }) => {
  const proxy = await startProxy()
  onTestFinished(proxy.close)
  await signIn(page, `${proxy.url}/console/audit`)
  await entries(page).first().waitFor()
  // The first trailer is after 5,000 entries, of about 1 KB each.
  proxy.cutAfter(6_500_000)
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await page.getByRole('button', { name: 'Start the export' }).click()
  await page.getByRole('alert', { name: /The export is incomplete/ }).waitFor()
  proxy.mend()
  const continued = page.waitForRequest(sent => sent.url().includes('trailer='))
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Try again' }).click()
  await continued
  const numbers = [...(await textOf(await download)).matchAll(/^\{"chainHash":"\w+","number":(\d+),/gm)].map(
    ([, number]) => Number(number),
  )
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  expect(numbers.length).toBeGreaterThan(5_000)
})

test('the page of proofs shows what the head of the chain covers, and saves it', async ({ page }) => {
  await signIn(page, '/audit')
  await page.getByRole('link', { name: 'Proofs' }).click()
  await page
    .getByRole('note')
    .getByText(/No day is signed yet.*The signed head covers all/s)
    .waitFor()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save the head' }).click()
  const { head } = JSON.parse(await textOf(await download))
  await page.getByText(`Record ${head.number}, position`).waitFor()
  await expect.poll(() => page.getByText(head.chainHash, { exact: true }).count()).toBe(1)
  await checkPage(page, 'audit-proofs')
})

test('a day whose root is not valid is named as broken, for the day and for its entries', async ({
  page,
}) => {
  const api = await changedApi()
  const { head } = await request('GET', '/auditLog/proofs')
  const start = { number: 0, position: '', chainHash: '0'.repeat(64) }
  const root = {
    ...head,
    day: '2026-11-21',
    count: head.number,
    first: start,
    last: head,
    before: start,
    after: head,
  }
  const proofs = { size: 50, number: 1, totalPages: 1, totalElements: 1, last: true, head }
  await page.route(
    target => target.pathname === '/auditLog/proofs',
    route => route.fulfill({ json: { ...proofs, content: [{ ...root, valid: false }] } }),
  )
  await signIn(page, `/audit?resource=${api.id}`)
  await entries(page).first().click()
  await page.getByText('The proof of 2026-11-21 is broken').waitFor()
  await page.getByRole('link', { name: 'Show the proofs' }).click()
  await page.getByRole('alert', { name: 'The chain is broken' }).getByText('2026-11-21').waitFor()
  await checkPage(page, 'audit-broken')
})

test('values of a URL that the audit log cannot use are left out', async ({ page }) => {
  await signIn(page, '/audit?sort=shoes,asc&from=soon&to=2999-01-01')
  await entries(page).first().waitFor()
  await page.goto(`${url}/console/audit/proofs?page=-1`)
  await page.getByRole('heading', { name: 'Head of the chain' }).waitFor()
})
