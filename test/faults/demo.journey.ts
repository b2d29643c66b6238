import { client, fill, readPublicApis } from '@gantry/demo'
import { startServiceProcess } from '@gantry/standalone/testing'
import { expect, test } from 'vitest'
import { call, newFolder } from './src/service.ts'

const folder = newFolder()

test('the demo fills a service, completes what an interrupted run left out, and then changes nothing', async () => {
  const service = await startServiceProcess(folder)
  const caller = client(service.url, service.authorization)
  const apis = readPublicApis().slice(0, 30)
  const filled = (count: number) => fill(caller, apis.slice(0, count), () => {})
  expect(await filled(20)).toEqual({ created: 20, updated: 0, unchanged: 0 })
  const first = `/apis?name=${apis[0]?.name}`
  const { body } = await call<{ content: { id: string }[] }>(service, 'GET', first)
  expect((await call(service, 'DELETE', `/apis/${body.content[0]?.id}/image`)).status).toBe(204)
  expect(await filled(30)).toEqual({ created: 10, updated: 1, unchanged: 19 })
  expect(await filled(30)).toEqual({ created: 0, updated: 0, unchanged: 30 })
  expect(await service.stop()).toBe(0)
})
