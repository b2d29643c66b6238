import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gantryClient } from '@gantry/client'
import { documentsIn, fill, readPublicApis, sendDocuments } from '@gantry/demo'
import { startServiceProcess } from '@gantry/standalone/testing'
import { expect, test } from 'vitest'
import { call, newFolder } from './src/service.ts'

const folder = newFolder()

test('the demo fills a service, completes what an interrupted run left out, and then changes nothing; with documents too', async () => {
  const service = await startServiceProcess(folder)
  const gantry = gantryClient({ baseUrl: service.url, token: service.authorization })
  const apis = readPublicApis().slice(0, 30)
  const filled = (count: number) => fill(gantry, apis.slice(0, count), () => {})
  expect(await filled(20)).toEqual({ created: 20, updated: 0, unchanged: 0 })
  const first = `/apis?name=${apis[0]?.name}`
  const { body } = await call<{ content: { id: string }[] }>(service, 'GET', first)
  expect((await call(service, 'DELETE', `/apis/${body.content[0]?.id}/image`)).status).toBe(204)
  expect(await filled(30)).toEqual({ created: 10, updated: 1, unchanged: 19 })
  expect(await filled(30)).toEqual({ created: 0, updated: 0, unchanged: 30 })

  const documents = join(folder, 'documents')
  mkdirSync(join(documents, '1password.com'), { recursive: true })
  const write = (file: string, content: string) => writeFileSync(join(documents, file), content)
  const openapi = (title: string) =>
    JSON.stringify({ openapi: '3.1.0', info: { title, version: '1' }, paths: {} })
  write('1password.com/events.json', openapi('Events'))
  write('1forge.com.yaml', openapi('Finance'))
  write('ably.net.json', openapi('belongs to no API'))
  const files = documentsIn(documents)
  const sent = () => sendDocuments(gantry, apis, { folder: documents, files }, () => {})
  const unknown = 'ably.net.json: no public API has this name'
  expect(await sent()).toEqual({ sent: 2, unchanged: 0, refused: [unknown], failed: [] })
  write('1password.com/events.json', openapi('Events, changed'))
  write('1forge.com.yaml', '{"openapi": "3.1.0"')
  expect(await sent()).toEqual({
    sent: 1,
    unchanged: 0,
    refused: [expect.stringMatching(/^1forge\.com\.yaml: 400 document-invalid line 1, .+/), unknown],
    failed: [],
  })
  write('1forge.com.yaml', openapi('Finance'))
  expect(await sent()).toEqual({ sent: 0, unchanged: 2, refused: [unknown], failed: [] })
  expect(await service.stop()).toBe(0)
})
