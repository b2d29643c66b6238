import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteEventStore } from '@gantry/embedded'
import type { NewEvent } from '@gantry/event-sourcing'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { expect, test } from 'vitest'
import { apiNamed, call, createApi, newFolder, removeDatabase } from './src/service.ts'

const MANY = 3_000
/** Number of versions of each batch that is created over HTTP. */
const SOME = 30
const folder = newFolder()

test('a version of an API with 3,000 versions writes about as many bytes as one of the first, and can be used', async () => {
  let service = await startServiceProcess(folder)
  const id = await createApi(service, 'payments')
  const versions = `/apis/${id}/versions`
  const send = (method: string, path: string, body?: object) => call(service, method, path, body)
  const total = async () =>
    (await call<{ totalElements: number }>(service, 'GET', versions)).body.totalElements
  /** @returns how many bytes the service has written meanwhile */
  const create = async (from: number) => {
    const begun = bytesWritten(service)
    for (let number = from; number < from + SOME; number++)
      expect((await send('POST', versions, { name: `1.${number}` })).status).toBe(201)
    return bytesWritten(service) - begun
  }

  const first = await create(0)
  await service.stop()
  await appendVersions(id, { from: SOME, to: MANY - SOME })
  // Applies them, and empties the write-ahead log: its checkpoint takes more bytes than the versions that are measured.
  await (await startServiceProcess(folder)).stop()
  service = await startServiceProcess(folder)
  // Copying all versions for each event took more than ten times as much.
  expect(await create(MANY - SOME)).toBeLessThan(4 * first)
  expect(await total()).toBe(MANY)
  expect((await send('POST', versions, { name: '1.500' })).body).toMatchObject({ code: 'version-name-taken' })
  expect((await send('GET', `${versions}/1.500`)).body).toMatchObject({ name: '1.500' })
  expect((await send('PUT', `${versions}/1.500`, { name: '2.0' })).status).toBe(200)
  expect((await send('DELETE', `${versions}/1.501`)).status).toBe(204)
  const page = await send('GET', `${versions}?page=30&size=100&sort=name`)
  expect(page.body).toHaveProperty('content.length', 99)
  await service.stop()

  const eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
  expect(await eventStore.readSnapshot(`api-${id}`)).toBeDefined()
  await eventStore.close()
  removeDatabase(folder, 'read-models.db')
  service = await startServiceProcess(folder)
  expect(await total()).toBe(MANY - 1)
  expect((await send('GET', `${versions}/2.0`)).status).toBe(200)
  expect((await send('DELETE', `/apis/${id}`)).status).toBe(204)
  expect((await send('GET', versions)).status).toBe(404)
  expect((await send('POST', '/apis', apiNamed('payments'))).status).toBe(201)
  expect(service.output()).not.toContain('quarantined')
  expect(await service.stop()).toBe(0)
})

const bytesWritten = ({ pid }: ServiceProcess) =>
  Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])

/** Appends versions that look like the last one of the API, without the public events that other services receive. */
async function appendVersions(api: string, { from, to }: { from: number; to: number }) {
  const eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
  const stream = `api-${api}`
  const last = (await eventStore.readStream(stream)).at(-1)
  if (!last) throw new Error('the API has no versions')
  const { change: _, ...metadata } = last.metadata
  const names = Array.from({ length: to - from }, (_, index) => `1.${from + index}`)
  const events = names.map((name): NewEvent => {
    const data = { ...last.data, id: randomUUID(), name, displayName: name }
    return { id: randomUUID(), type: last.type, data, metadata }
  })
  for (let { revision } = last; events.length > 0; )
    revision = (await eventStore.append(stream, events.splice(0, 500), revision)).revision
  await eventStore.close()
}
