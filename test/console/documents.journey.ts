import { randomUUID } from 'node:crypto'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import {
  ADMINISTRATOR,
  checkFrame,
  checkPage,
  dropFiles,
  fitsPhone,
  heading,
  isFocused,
  open,
  searchOf,
  test,
} from './src/browser.ts'
import { grid } from './src/measure.ts'
import { openReceiver } from './src/receiver.ts'
import { createApi, request, tokenWith, url } from './src/service.ts'

const STORE = `openapi: 3.1.0
info: {title: Pet store, version: "1", description: "Sells [animals](https://pets.example/about)"}
servers: [{url: SERVER}]
tags: [{name: pets}, {name: homes}]
paths:
  /pets:
    get: {tags: [pets], operationId: listPets, summary: List all pets, responses: {"200": {description: ok}}}
  /pets/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {tags: [pets], deprecated: true, summary: Get a pet, responses: {"200": {description: ok}}}
    delete: {tags: [homes], summary: Give a pet away, responses: {"204": {description: gone}}}
`
/** Markup and URLs that run scripts or load something in pages that do not expect them. */
const hostileText = (host: string) => `<script>parent.hacked = 1</script>
<img src="${host}a.png" onerror="parent.hacked = 1" alt="A picture">
<iframe src="${host}b"></iframe><object data="${host}c"></object>
<svg onload="parent.hacked = 1"><style>@import url(${host}d)</style></svg>
<link rel="stylesheet" href="${host}e"><meta http-equiv="refresh" content="0; url=${host}f">
<form action="${host}g"><button autofocus onfocus="parent.hacked = 1">b</button></form>
<base href="${host}"><p style="background: url(${host}h)">x</p>

[a link](javascript:parent.hacked=1) <a href="javascript:parent.hacked=1">another</a>
![an image](${host}i.png)
`

/** Creates an API with a version. */
async function createVersion() {
  const api = await createApi()
  const version = await request('POST', `/apis/${api.id}/versions`, { name: '1.0', status: 'ACTIVE' })
  return { api, documents: `/apis/${api.id}/versions/${version.id}/documents` }
}

/** Stores a document, without the console. */
async function put(path: string, content: string) {
  const headers = { authorization: ADMINISTRATOR }
  // It answers 503 while too many documents are checked.
  const store = async () => (await fetch(`${url}${path}`, { method: 'PUT', headers, body: content })).status
  await expect.poll(store).toBeLessThan(300)
}

const openDocuments = (page: Page, api: { id: string }, search = '') =>
  open(page, `/apis/${api.id}?tab=documentation${search}`)

/** Drops files on the place for documents. */
const drop = (page: Page, files: Parameters<typeof dropFiles>[2]) => dropFiles(page, 'Documents', files)

const shown = (page: Page, name: string) => page.frameLocator(`iframe[title="Document ${name}"]`)
const tab = (page: Page, name: string | RegExp) => page.getByRole('tab', { name })

test('a dropped document is shown in its reference, and its operations are listed, found and opened', async ({
  page,
}) => {
  const { api, documents } = await createVersion()
  await openDocuments(page, api)
  await page.getByRole('heading', { name: 'No document yet: drop a file here' }).waitFor()
  await checkPage(page)
  await fitsPhone(page)
  await drop(page, { 'pet store.yaml': STORE })
  await page.getByText(/^pet-store\.yaml is stored in version \S/).waitFor()
  const reference = shown(page, 'pet-store.yaml')
  await reference.getByRole('heading', { name: 'Pet store' }).waitFor()
  expect(await request('GET', documents)).toMatchObject({
    content: [{ name: 'pet-store.yaml', kind: 'openapi', primary: true }],
  })
  await checkPage(page)
  await fitsPhone(page)

  await reference.getByRole('link', { name: 'animals' }).click()
  const leaving = page.getByRole('dialog', { name: 'Open pets.example?' })
  expect(await leaving.getByRole('link').getAttribute('href')).toBe('https://pets.example/about')
  await leaving.getByRole('button', { name: 'Cancel' }).click()

  await tab(page, '3 operations').click()
  const operations = page.getByRole('tabpanel', { name: '3 operations' }).getByRole('button')
  await expect.poll(() => operations.count()).toBe(3)
  await page.getByRole('status').getByText('3 operations, sorted by path').waitFor()
  const methods = await page.getByLabel('Method').getByRole('option').allTextContents()
  expect(methods).not.toContain('SEND')
  await checkPage(page)
  await fitsPhone(page)
  await page.getByRole('searchbox', { name: 'Search' }).fill('away')
  await expect.poll(() => operations.allTextContents()).toEqual([expect.stringContaining('/pets/{id}')])
  await operations.first().click()
  expect(searchOf(page)).toMatchObject({ operation: 'DELETE /pets/{id}', q: 'away' })
  await expect
    .poll(() => reference.getByRole('heading', { name: 'Give a pet away' }).evaluate(inView))
    .toBe(true)
  await tab(page, 'Details').click()
  await page.getByRole('link', { name: /^Score \d+ of 100$/ }).waitFor()
  expect(await page.getByRole('region', { name: 'Next step' }).count()).toBe(0)
  await page.getByRole('link', { name: 'pet-store.yaml' }).click()
  await reference.getByRole('heading', { name: 'Pet store' }).waitFor()
  await page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name: 'APIs' }).click()
  await page.getByRole('combobox', { name: 'Search APIs' }).fill('pets give away')
  await grid(page).getByRole('row').nth(1).getByText(api.displayName).waitFor()
})

test('an operation is found in the catalogue, in the palette and in the list of operations, and opened in its document', async ({
  page,
}) => {
  const word = `w${randomUUID().slice(0, 8)}`
  const { api, documents } = await createVersion()
  await put(`${documents}/store.yaml`, STORE.replace('Give a pet away', `Give a ${word} away`))
  const opened = async () => {
    await expect.poll(() => searchOf(page).operation).toBe('DELETE /pets/{id}')
    await heading(page, api.displayName).waitFor()
  }
  for (const list of ['apis', 'operations'])
    await expect.poll(async () => (await request('GET', `/${list}?q=${word}`)).totalElements).toBe(1)
  await open(page, `/apis?search=${word}`)
  await grid(page).getByRole('link', { name: 'DELETE /pets/{id}' }).click()
  await opened()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find a page, an action or a record' }).fill(word)
  await page.getByRole('option', { name: `Give a ${word} away` }).waitFor()
  await page.keyboard.press('Enter')
  await opened()
  await open(page, `/operations?q=${word}`)
  const found = page.getByRole('list', { name: 'Operations' }).getByRole('listitem')
  await page.getByRole('status').getByText('1 operation with all words, best match first').waitFor()
  await found.getByRole('link', { name: api.displayName }).waitFor()
  await expect.poll(() => found.allTextContents()).toEqual([expect.stringMatching(/DELETE.*1\.0$/)])
  await checkPage(page)
  await fitsPhone(page)
  await found.getByRole('link', { name: '/pets/{id}' }).click()
  await opened()
})

const inView = (element: { getBoundingClientRect(): { top: number } }) => {
  const { top } = element.getBoundingClientRect()
  const { innerHeight } = globalThis as unknown as { innerHeight: number }
  return top >= 0 && top < innerHeight
}

test('a request of a document is sent to the host that the person has confirmed, without the session', async ({
  page,
}) => {
  const receiver = await openReceiver()
  const { api, documents } = await createVersion()
  await put(`${documents}/store.yaml`, STORE.replace('SERVER', receiver.url.replace(/\/$/, '')))
  await openDocuments(page, api)
  const reference = shown(page, 'store.yaml')
  await reference
    .getByRole('link', { name: /List all pets/ })
    .first()
    .click()
  await reference
    .getByRole('button', { name: /^Test Request/ })
    .first()
    .click()
  const send = reference.getByRole('button', { name: /^Send/ }).first()
  await send.click()
  const asked = page.getByRole('dialog', { name: `Send a request to ${new URL(receiver.url).host}?` })
  await asked.getByText(`GET ${receiver.url}pets`).waitFor()
  await checkPage(page)
  expect(receiver.received).toEqual([])
  await asked.getByRole('button', { name: 'Cancel' }).click()
  await asked.waitFor({ state: 'hidden' })
  expect(receiver.received).toEqual([])
  await send.click()
  await asked.getByRole('button', { name: 'Send' }).click()
  await expect.poll(() => receiver.received.length).toBe(1)
  const [{ headers } = { headers: {} }] = receiver.received
  expect(headers).toMatchObject({ origin: 'null' })
  expect(headers).not.toHaveProperty('authorization')
  expect(headers).not.toHaveProperty('referer')
  await send.click()
  await expect.poll(() => receiver.received.length).toBe(2)
})

test('a hostile document runs nothing, loads nothing of other hosts, and reaches neither session nor service', async ({
  page,
}) => {
  const { api, documents } = await createVersion()
  const { url: host, received } = await openReceiver()
  const text = hostileText(host)
  await put(`${documents}/a.md`, `# Hostile\n\n${text}`)
  const info = {
    title: 'Hostile',
    version: '1',
    description: text,
    contact: { url: 'javascript:parent.hacked=1' },
  }
  const get = {
    summary: 'Hostile',
    description: text,
    responses: { 200: { $ref: `${host}r.json#/a` } },
  }
  const hostile = { openapi: '3.1.0', info, servers: [{ url: host }], paths: { '/a': { get } } }
  await put(`${documents}/b.json`, JSON.stringify(hostile))
  for (const name of ['a.md', 'b.json']) {
    await openDocuments(page, api, `&document=${name}`)
    await shown(page, name).getByRole('heading', { name: 'Hostile' }).first().waitFor()
    await page.getByText('Reading').waitFor({ state: 'hidden' })
    for (const link of await shown(page, name).locator('a[href^="javascript:" i]').all())
      await link.click({ force: true })
    const frame = page.frames().find(frame => frame.url().includes('/frames/document'))
    const reached = await frame?.evaluate(async service => {
      const { parent, document, origin } = globalThis as unknown as {
        parent: { sessionStorage: unknown; document: unknown }
        document: { cookie: string }
        origin: string
      }
      const tried = [
        () => parent.sessionStorage,
        () => parent.document,
        () => document.cookie,
        () => fetch(`${service}/health/live`),
        // In a task of its own, because the policy does not apply to what the test evaluates.
        () => new Promise(resolve => setTimeout(resolve)).then(() => new Function('return 1')()),
      ]
      const results = await Promise.allSettled(tried.map(async attempt => attempt()))
      return [origin, ...results.map(({ status }) => status)]
    }, url)
    expect(reached).toEqual(['null', ...Array(5).fill('rejected')])
    expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false)
  }
  expect(received).toEqual([])
})

test('a document with wrong syntax is refused with its lines, and one that breaks rules is stored with findings', async ({
  page,
}) => {
  const { api } = await createVersion()
  await openDocuments(page, api)
  await drop(page, { 'store.yaml': `${STORE}components: {schemas: [}\n` })
  const refused = page.getByRole('alert', { name: /^store.yaml is not stored/ })
  const source = refused.getByRole('region', { name: 'Source of store.yaml' })
  await source.getByText('components: {schemas: [}').waitFor()
  await expect.poll(() => source.getByText(/^ ?Column \d+:/).count()).toBeGreaterThan(0)
  await checkPage(page)
  await fitsPhone(page)
  await drop(page, { 'a.txt': 'a', 'b.txt': 'b' })
  await page.getByRole('alert', { name: /One document at a time/ }).waitFor()

  await drop(page, { 'store.yaml': STORE.replace('info: {title: Pet store, ', 'info: {') })
  await tab(page, 'Findings').click()
  await page.getByRole('region', { name: 'Source of store.yaml' }).getByText(/title/).first().waitFor()
  await page.getByRole('button', { name: 'info' }).first().waitFor()
  await checkPage(page)
  await fitsPhone(page)

  // JSON on one line gets a line for each value, and a click on a place scrolls to it.
  const get = { responses: { 200: { description: 'x'.repeat(200) } } }
  const paths = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`/p${n}`, { get }]))
  const long = { openapi: '3.1.0', info: { title: 'Long', version: '1' }, paths }
  await drop(page, { 'long.json': JSON.stringify(long) })
  await expect.poll(() => searchOf(page).document).toBe('long.json')
  await page.getByRole('button', { name: /^Score \d+ of 100$/ }).click()
  await page.getByText('Shown with a line for each value.').waitFor()
  const rule = page.getByRole('listitem').filter({ hasText: 'operation-summary in Recommended' })
  await rule.getByText('40 places').waitFor()
  await rule.getByRole('button', { name: 'Show all 40' }).click()
  await rule.getByRole('button', { name: 'GET /p39 › summary' }).click()
  await page.getByRole('region', { name: 'Source of long.json' }).getByText('"/p39"').waitFor()
  await fitsPhone(page)
})

test('a document is replaced as it was seen, made primary, downloaded and deleted with the keyboard', async ({
  page,
}) => {
  const { api, documents } = await createVersion()
  await put(`${documents}/a.md`, '# First')
  await put(`${documents}/b.graphql`, 'type Query { pets: [Pet] }\ntype Pet { name: String }\n')
  await openDocuments(page, api)
  await shown(page, 'a.md').getByRole('heading', { name: 'First' }).waitFor()
  await put(`${documents}/a.md`, '# Theirs')
  await drop(page, { 'a.md': '# Mine' })
  const replacing = page.getByRole('dialog', { name: 'Replace a.md?' })
  await replacing.getByRole('button', { name: 'Replace' }).click()
  await page.getByRole('alert', { name: /^a.md is not stored/ }).waitFor()
  await page.reload()
  await shown(page, 'a.md').getByRole('heading', { name: 'Theirs' }).waitFor()
  await drop(page, { 'a.md': '# Mine' })
  await replacing.getByRole('button', { name: 'Replace' }).click()
  await shown(page, 'a.md').getByRole('heading', { name: 'Mine' }).waitFor()

  await page.getByRole('combobox', { name: 'Document' }).selectOption('b.graphql')
  await shown(page, 'b.graphql').getByText('Query', { exact: true }).waitFor()
  const actions = page.getByRole('button', { name: 'Actions for b.graphql' })
  await act(actions, 'Make primary')
  await page.getByRole('option', { name: 'b.graphql (primary)' }).waitFor({ state: 'attached' })
  const saved = page.waitForEvent('download')
  await act(actions, 'Download')
  expect((await saved).suggestedFilename()).toBe('b.graphql')
  await act(actions, 'Delete')
  const deleting = page.getByRole('dialog', { name: 'Delete b.graphql?' })
  await expect.poll(() => isFocused(deleting.getByRole('button', { name: 'Cancel' }))).toBe(true)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await shown(page, 'a.md').getByRole('heading', { name: 'Mine' }).waitFor()
  expect(await request('GET', documents)).toMatchObject({ content: [{ name: 'a.md', primary: true }] })
})

test('events, text and code are shown without a finding of axe, in both themes', async ({ page }) => {
  const { api, documents } = await createVersion()
  const kinds = {
    'events.yaml': 'asyncapi: 3.0.0\ninfo: {title: Orders, version: "1"}\nchannels: {o: {address: orders}}\n',
    'read.md': '# Orders\n\n| a | b |\n|---|---|\n| `c` | [d](#orders) |\n',
    'orders.proto': 'syntax = "proto3";\n// Orders.\nmessage Order { string id = 1; }\n',
  }
  for (const [name, content] of Object.entries(kinds)) {
    await put(`${documents}/${name}`, content)
    await openDocuments(page, api, `&document=${name}`)
    await shown(page, name)
      .getByText(/orders/i)
      .first()
      .waitFor()
    const frame = page.frames().find(frame => frame.url().includes('/frames/document'))
    expect(frame).toBeDefined()
    if (frame) await checkFrame(page, frame)
  }
})

/** Chooses an entry of a menu with the keyboard. */
async function act(button: Locator, name: string) {
  await button.focus()
  await button.press('Enter')
  const item = button.page().getByRole('menuitem', { name, exact: true })
  await item.focus()
  await item.press('Enter')
}

test('limits are explained, and a person who may only read can change nothing', async ({ page }) => {
  const { api, documents } = await createVersion()
  for (let number = 1; number <= 20; number++) await put(`${documents}/n${number}.txt`, `${number}`)
  await openDocuments(page, api)
  await page.getByText('The console does not show documents of this kind').waitFor()
  await drop(page, { 'one-more.txt': 'x' })
  await page.getByRole('alert', { name: /maximum number of documents/ }).waitFor()
  await page.getByText('Delete a document of this version first').waitFor()
  await drop(page, { 'large.txt': { content: '', padWith: 'x', size: 20 * 1_048_576 + 1 } })
  await page.getByRole('alert', { name: /The document is too large/ }).waitFor()

  await openDocuments(page, api)
  const reader = await tokenWith(['API_READ'])
  await open(page, `/apis/${api.id}?tab=documentation`, reader)
  await page.getByRole('combobox', { name: 'Document' }).waitFor()
  expect(await page.getByRole('button', { name: 'Add document' }).count()).toBe(0)
  await page.getByRole('button', { name: /^Actions for/ }).click()
  await expect.poll(() => page.getByRole('menuitem').allTextContents()).toEqual(['Download'])
})

test('what changed since another version is shown, with what breaks clients on top', async ({ page }) => {
  const { api, documents } = await createVersion()
  await put(`${documents}/store.yaml`, STORE)
  const next = await request('POST', `/apis/${api.id}/versions`, { name: '2.0', status: 'ACTIVE' })
  const later = STORE.replace(/ {4}delete:.*\n/, '').replace('/pets:\n', '/toys:\n    get: {}\n  /pets:\n')
  await put(`/apis/${api.id}/versions/${next.id}/documents/store.yaml`, later)
  await open(page, `/apis/${api.id}?tab=versions`)
  await page
    .getByRole('link', { name: /^Score/ })
    .first()
    .waitFor()
  await checkPage(page)
  await fitsPhone(page)
  await page.getByRole('link', { name: 'Compare 2.0 with 1.0' }).click()
  await page.getByRole('status').getByText('2.0 breaks clients of 1.0').waitFor()
  await page.getByRole('combobox', { name: 'Compare with version' }).selectOption('The one before')
  await expect.poll(() => searchOf(page)).not.toHaveProperty('from')
  await page.getByRole('status').getByText('2.0 breaks clients of 1.0').waitFor()
  const sections = page.getByRole('region', { name: /^(Breaks clients|Compatible)$/ })
  await expect.poll(() => sections.count()).toBe(2)
  expect(await sections.first().textContent()).toContain('DELETE /pets/{id}')
  expect(searchOf(page)).toMatchObject({ view: 'changes' })
  // The two documents are beside each other, each with its own line numbers, and what breaks is below its line.
  const both = page.getByRole('region', { name: '1.0: store.yaml beside 2.0: store.yaml' })
  await sections.first().getByRole('button', { name: 'DELETE /pets/{id}' }).click()
  await expect
    .poll(() => both.textContent())
    .toMatch(/11−\s+delete: .*Breaks clients: the operation DELETE \/pets\/\{id\} was removed/)
  expect(await both.textContent()).toMatch(/6\+\s+\/toys:/)
  await checkPage(page)
  await fitsPhone(page)
  await page.getByRole('combobox', { name: 'Version', exact: true }).selectOption('1.0')
  await page.getByRole('heading', { name: 'Nothing to compare with' }).waitFor()
  await page.getByRole('combobox', { name: 'Compare with version' }).selectOption('2.0')
  await sections.first().getByText('/toys').first().waitFor()

  // A version whose only document has another name is compared with the one of the same kind.
  const last = await request('POST', `/apis/${api.id}/versions`, { name: '3.0', status: 'ACTIVE' })
  await put(`/apis/${api.id}/versions/${last.id}/documents/renamed.yaml`, STORE)
  await open(page, `/apis/${api.id}?tab=documentation&version=${last.id}&view=changes`)
  await page.getByText('2.0 has no document renamed.yaml').waitFor()
  await page.getByRole('status').getByText('3.0 breaks clients of 2.0').waitFor()
})
