import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { client, fill, readPublicApis } from '@gantry/demo'
import { startServiceProcess } from '@gantry/standalone/testing'
import { expect, test } from 'vitest'

test('the demo fills a service, completes what an interrupted run left out, and then changes nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-demo-'))
  const service = await startServiceProcess(folder)
  const speaking = client(service.url, service.authorization)
  const apis = readPublicApis().slice(0, 60)
  try {
    expect(await fill(speaking, apis.slice(0, 40), () => {})).toEqual({
      created: 40,
      updated: 0,
      unchanged: 0,
    })
    const { body } = await speaking.call<{ content: { id: string }[] }>('GET', `/apis?name=${apis[0]?.name}`)
    await speaking.call('DELETE', `/apis/${body.content[0]?.id}/image`)
    expect(await fill(speaking, apis, () => {})).toEqual({ created: 20, updated: 1, unchanged: 39 })
    expect(await fill(speaking, apis, () => {})).toEqual({ created: 0, updated: 0, unchanged: 60 })
  } finally {
    await service.stop()
    await rm(folder, { recursive: true })
  }
})
