import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteEventStore } from '@gantry/embedded'
import type { NewEvent, RecordedEvent } from '@gantry/event-sourcing'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { expect, onTestFinished, test } from 'vitest'

const MANY = 10_000
/** Number of versions of each measured batch, created over HTTP. */
const SOME = 50

test('an API with 10,000 versions costs about as much as one with few', { timeout: 180_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-many-versions-'))
  let service = await startServiceProcess(folder)
  onTestFinished(async () => {
    await service.stop()
    await rm(folder, { recursive: true })
  })
  const restart = async (meanwhile: () => Promise<void>) => {
    await service.stop()
    await meanwhile()
    service = await startServiceProcess(folder)
  }
  const call = (method: string, path: string, body?: object) => request(service, method, path, body)
  const input = { name: 'payments', displayName: 'Payments', status: 'ACTIVE', tags: [] }
  const { id } = (await call('POST', '/apis', input)).body as { id: string }
  const versions = `/apis/${id}/versions`
  const create = async (from: number) => {
    const begun = usage(service)
    for (let number = from; number < from + SOME; number++)
      expect((await call('POST', versions, { name: `1.${number}` })).status).toBe(201)
    const ended = usage(service)
    return { cpuTicks: ended.cpuTicks - begun.cpuTicks, bytes: ended.bytes - begun.bytes }
  }
  const total = async () => ((await call('GET', versions)).body as { totalElements: number }).totalElements

  await create(0) // warms up
  const first = await create(SOME)
  await restart(() => appendVersions(folder, id, { from: 2 * SOME, to: MANY - 2 * SOME }))
  await create(MANY - 2 * SOME)
  const last = await create(MANY - SOME)
  expect(await total()).toBe(MANY)
  // Both measured about the same. Copying all versions for each event took more than ten times as much.
  expect(last.cpuTicks).toBeLessThan(4 * first.cpuTicks)
  expect(last.bytes).toBeLessThan(4 * first.bytes)

  expect((await call('POST', versions, { name: '1.5000' })).body).toMatchObject({
    code: 'version-name-taken',
  })
  expect((await call('GET', `${versions}/1.5000`)).body).toMatchObject({ name: '1.5000' })
  expect((await call('PUT', `${versions}/1.5000`, { name: '2.0' })).status).toBe(200)
  expect((await call('DELETE', `${versions}/1.5001`)).status).toBe(204)
  const page = (await call('GET', `${versions}?page=100&size=100&sort=name`)).body as { content: object[] }
  expect(page.content).toHaveLength(99)

  // The read models are rebuilt.
  await restart(async () => {
    const eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
    expect(await eventStore.readSnapshot(`api-${id}`)).toMatchObject({ schemaVersion: 1 })
    await eventStore.close()
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(join(folder, `read-models.db${suffix}`), { force: true })
  })
  expect(await total()).toBe(MANY - 1)
  expect((await call('GET', `${versions}/2.0`)).status).toBe(200)

  expect((await call('DELETE', `/apis/${id}`)).status).toBe(204)
  expect((await call('GET', versions)).status).toBe(404)
  expect((await call('POST', '/apis', input)).status).toBe(201)
  expect(service.output()).not.toContain('quarantined')
})

async function request({ url, authorization }: ServiceProcess, method: string, path: string, body?: object) {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: text ? JSON.parse(text) : undefined }
}

/** CPU time of a process so far, in clock ticks (proc(5)), and bytes that it has written. */
function usage({ pid }: ServiceProcess) {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user, system] = fields.split(' ').slice(11, 13).map(Number)
  const written = /^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]
  return { cpuTicks: (user ?? 0) + (system ?? 0), bytes: Number(written) }
}

/** Appends versions that look like the last one of the API, without the public events that other services receive. */
async function appendVersions(folder: string, api: string, { from, to }: { from: number; to: number }) {
  const eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
  const stream = `api-${api}`
  const template = (await eventStore.readStream(stream)).at(-1)
  if (!template) throw new Error('the API has no versions')
  for (let number = from, { revision } = template; number < to; ) {
    const events: NewEvent[] = []
    for (; events.length < 500 && number < to; number++) events.push(another(template, `1.${number}`))
    revision = (await eventStore.append(stream, events, revision)).revision
  }
  await eventStore.close()
}

function another({ type, data, metadata }: RecordedEvent, name: string): NewEvent {
  const { change: _, ...others } = metadata
  return {
    id: randomUUID(),
    type,
    data: { ...data, id: randomUUID(), name, displayName: name },
    metadata: others,
  }
}
