import { join } from 'node:path'
import { frozenStreams } from '@gantry/event-sourcing/testing'
import { type Host, hostService } from '@gantry/service-kit/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { catalogService } from '../app.ts'
import { catalogSettings } from '../settings.ts'

const host = async () => {
  const opened = await hostService(dependencies => catalogService(dependencies, catalogSettings.parse({})), {
    now: () => new Date('2026-12-01T00:00:00.000Z'),
    start: false,
  })
  onTestFinished(() => opened.close())
  return opened
}
const get = async ({ app }: Host<ReturnType<typeof catalogService>>, url: string) => {
  const { statusCode, headers, body } = await app.inject({ method: 'GET', url })
  return { status: statusCode, headers, body: JSON.parse(body) }
}

test('an upgraded installation shows the APIs of earlier releases as they were after each change', async () => {
  const upgraded = await host()
  const files = [...frozenStreams(join(import.meta.dirname, '../frozen'), 'api').values()]
  const streams = files.flatMap(file => file.streams)
  for (const stream of streams)
    await upgraded.dependencies.eventStore.append(stream[0]?.stream ?? '', stream, -1)
  await upgraded.service.start()
  await vi.waitFor(async () => expect((await get(upgraded, '/apis')).status).toBe(200), { timeout: 10_000 })

  let shown = 0
  for (const stream of streams) {
    const url = `/apis/${stream[0]?.stream.slice('api-'.length)}`
    for (const at of new Set(stream.map(({ metadata }) => metadata.at))) {
      const later = stream.findIndex(({ metadata }) => metadata.at > at)
      const change = stream.slice(0, later === -1 ? undefined : later).at(-1)?.metadata.change
      if (change?.resourceType !== 'API' || !(change.after === null || 'tags' in change.after)) continue
      const { status, body } = await get(upgraded, `${url}?at=${at}`)
      if (change.after === null) expect(status).toBe(404)
      else expect(body).toMatchObject(change.after)
      shown++
    }
  }
  expect(shown).toBeGreaterThan(20)
})

test('a request with a time answers 503 with Retry-After until the changes are projected; all others succeed', async () => {
  const behind = await host()
  const payload = { name: 'payments', displayName: 'Payments', status: 'ACTIVE', tags: [] }
  const created = (await behind.app.inject({ method: 'POST', url: '/apis', payload })).json()
  const url = `/apis?at=${created.createdAt}`
  const refused = await get(behind, url)
  expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  expect(refused.headers['retry-after']).toBe('2')
  expect((await get(behind, '/apis')).body.totalElements).toBe(1)

  await behind.service.start()
  await vi.waitFor(async () => expect((await get(behind, url)).status).toBe(200), { timeout: 20_000 })
  expect((await get(behind, url)).body.content).toEqual([created])
})
