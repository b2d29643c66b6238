import { hostService } from '@gantry/service-runtime/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { catalogService } from '../app.ts'
import { catalogSettings } from '../settings.ts'

test('a request with a time answers 503 with Retry-After until the changes are projected; all others succeed', async () => {
  const behind = await hostService(dependencies => catalogService(dependencies, catalogSettings.parse({})), {
    start: false,
  })
  onTestFinished(() => behind.close())
  const get = async (url: string) => {
    const { statusCode: status, headers, body } = await behind.app.inject({ method: 'GET', url })
    return { status, headers, body: JSON.parse(body) }
  }
  const payload = { name: 'payments', displayName: 'Payments', status: 'ACTIVE', tags: [] }
  const created = (await behind.app.inject({ method: 'POST', url: '/apis', payload })).json()
  const url = `/apis?at=${created.createdAt}`
  const refused = { status: 503, headers: { 'retry-after': '2' }, body: { code: 'unavailable' } }
  expect(await get(url)).toMatchObject(refused)
  expect((await get('/apis')).body.totalElements).toBe(1)

  await behind.service.start()
  await vi.waitFor(async () => expect((await get(url)).status).toBe(200))
  expect((await get(url)).body.content).toEqual([created])
})
