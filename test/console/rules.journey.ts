import { expect } from 'vitest'
import { checkPage, fitsPhone, heading, open, test } from './src/browser.ts'
import { createApi, createUser, logIn, request, tokenWith, unique, url } from './src/service.ts'

const DOCUMENT = 'openapi: 3.1.0\ninfo: {title: Pets, version: "1"}\npaths: {}\n'
const RULES =
  'rules:\n  rule/title:\n    subject: {type: Info, property: title}\n    assertions: {pattern: ^A}\n'

test('a rule set is created after its fault and a preview were shown, gives a document a score and findings, and is deleted', async ({
  page,
}) => {
  const api = await createApi()
  const version = await request('POST', `/apis/${api.id}/versions`, { name: '1.0', status: 'ACTIVE' })
  const path = `${url}/apis/${api.id}/versions/${version.id}/documents/pets.yaml`
  const headers = { authorization: await tokenWith(['API_READ', 'API_WRITE']) }
  expect((await fetch(path, { method: 'PUT', headers, body: DOCUMENT })).status).toBe(201)
  const name = unique('House rules')
  await open(page, '/rule-sets')
  await page.getByRole('table', { name: 'Rule sets' }).getByText('Built in').waitFor()
  await checkPage(page)
  await page.getByRole('link', { name: 'Create rule set' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByRole('textbox', { name: 'Rules' }).fill('extends: [https://example.com/rules.yaml]')
  await page.getByRole('button', { name: 'Create rule set' }).click()
  await page.getByText(/^Line 1: extends may name only built-in sets/).waitFor()
  await fitsPhone(page)
  await page.getByRole('textbox', { name: 'Rules' }).fill('rules: {no-such-rule: error}')
  await page.getByRole('button', { name: 'Create rule set' }).click()
  await expect.poll(() => page.getByText('no rule no-such-rule').count()).toBe(1)
  expect(await page.getByRole('main').getByRole('alert').count()).toBe(0)
  await page.getByRole('textbox', { name: 'Rules' }).fill(RULES)

  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByLabel('API', { exact: true }).and(page.locator('input')).first().fill(api.name)
  await page.getByRole('option', { name: api.name }).click()
  await preview.getByRole('button', { name: 'Show the preview' }).click()
  await preview.getByText(/^Score \d+ of 100: this set finds 1 error, 0 warnings$/).waitFor()
  await preview.getByRole('row').filter({ hasText: '(rule/title)' }).waitFor()
  await checkPage(page)
  await fitsPhone(page)
  expect(await preview.getByLabel('Version').locator('option:checked').textContent()).toBe('1.0')
  await page.getByRole('textbox', { name: 'Rules' }).fill('rules: {no-such-rule: error}')
  await preview.getByText('The rules have changed since.').waitFor()
  await preview.getByRole('button', { name: 'Show the preview' }).click()
  await preview.getByText(/^Line 1: .*no-such-rule/).waitFor()
  await page.getByRole('textbox', { name: 'Rules' }).fill(RULES)
  const chooser = page.getByLabel('Add a rule').and(page.locator('input')).first()
  await chooser.fill('no contact')
  await checkPage(page)
  await page.getByRole('option', { name: /^info-contact/ }).click()
  expect(await page.getByRole('textbox', { name: 'Rules' }).inputValue()).toContain('  info-contact: warn\n')
  await page.getByRole('button', { name: 'Create rule set' }).click()
  await heading(page, name).waitFor()
  // The preview is still of the same API.
  await preview.getByRole('button', { name: 'Show the preview' }).waitFor()
  await page.getByText(/^Applied:\s*To (all [\d,]+ documents|the only document)$/).waitFor()
  const ruleSet = page.url()

  const found = async () =>
    JSON.stringify(await request('GET', `${new URL(path).pathname.replace('/manage', '')}/findings`))
  await expect.poll(found).toContain(name)
  await open(page, `/apis/${api.id}?tab=documentation`)
  await page.getByRole('button', { name: /^Score \d+ of 100$/ }).click()
  await page.getByText(`rule/title in ${name}`).first().waitFor()

  await open(page, '/apis')
  await page.getByRole('combobox', { name: 'Order' }).selectOption('With findings, lowest score first')
  await page
    .getByRole('row')
    .filter({ hasText: api.name })
    .getByText(/^Score \d+ of 100$/)
    .waitFor()

  await page.goto(ruleSet)
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete rule set' }).click()
  await heading(page, 'Rule sets').waitFor()
  await expect.poll(() => page.getByRole('link', { name }).count()).toBe(0)
})

test('a person who may not write rule sets reads them', async ({ page }) => {
  await open(page, '/rule-sets', await logIn(await createUser()))
  expect(await page.getByRole('link', { name: 'Create rule set' }).count()).toBe(0)
  await page.getByRole('table', { name: 'Rule sets' }).getByRole('link').first().click()
  await page.getByRole('region', { name: 'Rules', exact: true }).waitFor()
  expect(await page.getByRole('textbox', { name: 'Rules' }).count()).toBe(0)
  const rules = page.getByRole('table', { name: 'Rules in effect' }).getByRole('row')
  await rules.filter({ hasText: 'No license in info' }).first().waitFor()
  expect(await rules.filter({ hasText: 'A rule of this set' }).allTextContents()).toEqual([])
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
})

test('the service knows all rules that the form offers', async ({ page }) => {
  await open(page, '/rule-sets/new')
  await page.getByLabel('Add a rule').and(page.locator('input')).first().click()
  await page.getByRole('option').first().waitFor()
  const names = await page
    .getByRole('option')
    .evaluateAll(options =>
      options.map(({ firstElementChild: texts }) => texts?.firstElementChild?.textContent),
    )
  expect(names.length).toBeGreaterThan(60)
  // These need options, which the form adds.
  for (const name of ['request-mime-type', 'response-mime-type', 'response-contains-header']) {
    await page.getByLabel('Add a rule').and(page.locator('input')).first().fill(name)
    await page.getByRole('option').click()
  }
  const typed = await page.getByRole('textbox', { name: 'Rules' }).inputValue()
  const others = names.filter(name => !typed.includes(`${name}:`) && name !== 'response-contains-property')
  const content = `${typed}${others.map(name => `  ${name}: warn\n`).join('')}`
  const { id } = await request('POST', '/ruleSets', { name: unique('All'), content, enabled: false })
  await request('DELETE', `/ruleSets/${id}`)
})
