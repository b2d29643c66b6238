import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServiceProcess } from '@gantry/standalone/testing'
import { expect, onTestFinished } from 'vitest'
import { signInByForm, test } from './src/browser.ts'

test('under BASE_PATH an address opens after the login, navigates and survives a reload', async ({
  page,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-base-path-'))
  const service = await startServiceProcess(folder, { BASE_PATH: '/manage' })
  onTestFinished(async () => {
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const outside: string[] = []
  page.on('request', sent => {
    if (!sent.url().startsWith(`${service.url}/`)) outside.push(sent.url())
  })
  await signInByForm(page, `${service.url}/console/webhooks`, 'admin', service.password)
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/manage/console/webhooks')
  await page.getByRole('link', { name: 'APIs' }).click()
  await page.getByRole('heading', { name: 'APIs', level: 1 }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'APIs', level: 1 }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/manage/console/apis')
  expect(outside).toEqual([])
})
