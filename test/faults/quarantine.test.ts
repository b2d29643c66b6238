import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import { heldStreams } from '@gantry/event-sourcing'
import { runCommand, type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

let folder: string
let service: ServiceProcess
let broken: string
let healthy: string

const send = (path: string, init: RequestInit = {}) =>
  fetch(`${service.url}${path}`, {
    ...init,
    headers: { authorization: service.authorization, 'content-type': 'application/json' },
  })
const created = async (name: string) => {
  const body = JSON.stringify({ name, displayName: name, status: 'ACTIVE', tags: [] })
  const answer = await send('/apis', { method: 'POST', body })
  expect(answer.status).toBe(201)
  return ((await answer.json()) as { id: string }).id
}

/** Runs `npm run quarantine`. */
const quarantine = (...args: string[]) => runCommand(['quarantine', ...args], { DATA_DIR: folder })

/** Appends an event that no release can fold, like a damaged log, while the service is stopped. */
async function damage(stream: string, type: string, data: object): Promise<void> {
  const eventStore = sqliteEventStore({ path: join(folder, 'events.db'), exclusive: true })
  const revision = (await eventStore.readStream(stream)).length - 1
  const metadata = { actor: { id: null, name: 'test' }, requestId: 'test', at: new Date().toISOString() }
  await eventStore.append(stream, [{ id: randomUUID(), type, data, metadata }], revision)
  await eventStore.close()
}

/** Records that an event cannot be made public, as the relay does, while the service is stopped. */
async function holdByRelay(id: string): Promise<void> {
  const readModels = sqliteReadModels({ path: join(folder, 'read-models.db'), exclusive: true })
  const event = { event: randomUUID(), type: 'ApiCreated', revision: 0, position: '1' }
  const doc = { id, status: 'QUARANTINED' as const, ...event, reason: 'it is too large', unknown: [] }
  await readModels.collection(heldStreams('catalog.relay')).put(doc, 0)
  await readModels.close()
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-quarantine-'))
  service = await startServiceProcess(folder)
  broken = await created('broken')
  healthy = await created('healthy')
  await service.stop()
  // The data of the first event cannot be read. The type of the second one is from a later release.
  await damage(`api-${broken}`, 'ProductJoined', null as unknown as object)
  await damage(`api-${healthy}`, 'ApiArchived', { archivedAt: '2026-11-21T10:00:00.000Z' })
  service = await startServiceProcess(folder)
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true })
})

test('the service becomes ready; a quarantined API stays readable and refuses changes, other APIs continue', async () => {
  expect((await send('/health/ready')).status).toBe(200)
  expect((await send(`/apis/${broken}`)).status).toBe(200)
  const refused = await send(`/apis/${broken}`, {
    method: 'PUT',
    body: JSON.stringify({ name: 'broken', displayName: 'Changed', status: 'ACTIVE', tags: [] }),
  })
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).not.toBeNull()
  expect(await refused.json()).toMatchObject({
    code: 'stream-quarantined',
    detail: `event 1 of stream api-${broken} cannot be processed; "npm run quarantine -- list" tells why`,
  })
  const changed = await send(`/apis/${healthy}`, {
    method: 'PUT',
    body: JSON.stringify({ name: 'healthy', displayName: 'Changed', status: 'ACTIVE', tags: [] }),
  })
  expect(changed.status).toBe(200)
  expect(await (await send(`/apis/${healthy}`)).json()).toMatchObject({ displayName: 'Changed' })
})

test('metrics count the held streams and the unknown events', async () => {
  const metrics = await (await send('/metrics')).text()
  expect(metrics).toMatch(
    /^gantry_held_streams\{projector="catalog\.projector",status="QUARANTINED",process="standalone"\} 1$/m,
  )
  expect(metrics).toMatch(
    /^gantry_held_streams\{projector="catalog\.projector",status="INCOMPLETE",process="standalone"\} 1$/m,
  )
  expect(metrics).toMatch(
    /^gantry_held_streams\{projector="identity\.projector",status="QUARANTINED",process="standalone"\} 0$/m,
  )
  expect(metrics).toMatch(
    /^gantry_unknown_events_total\{category="api",type="ApiArchived",process="standalone"\} [1-9]/m,
  )
})

test('a rebuild by a release that does not know all events fails, and the read models stay', async () => {
  const state = async () => {
    const all = (await (await send('/readModels')).json()) as { name: string; lastRebuild: object | null }[]
    return all.find(({ name }) => name === 'catalog.projector')
  }
  const { generation } = (await state()) as unknown as { generation: number }
  const asked = await send('/readModels/catalog.projector/rebuild', { method: 'POST' })
  expect(await asked.json()).toMatchObject({ quarantinedStreams: 1, incompleteStreams: 1 })
  const reason = '1 streams have events that this release does not know'
  await vi.waitFor(
    async () =>
      expect(await state()).toMatchObject({ generation, lastRebuild: { outcome: 'FAILED', reason } }),
    { timeout: 10_000, interval: 50 },
  )
  for (const id of [broken, healthy]) expect((await send(`/apis/${id}`)).status).toBe(200)
})

const expectListed = async () => {
  const { code, output } = await quarantine('list')
  expect(output).toMatch(
    new RegExp(
      `^api-${broken}  QUARANTINED  catalog.projector\n  event 1 ProductJoined at position \\d+: TypeError: .+$`,
      'm',
    ),
  )
  expect(output).toMatch(
    new RegExp(
      `^api-${healthy}  INCOMPLETE  catalog.projector\n  event \\d .*unknown to this release: ApiArchived@1$`,
      'm',
    ),
  )
  expect(output).toMatch(/^1 quarantined, 1 incomplete$/m)
  expect(code).toBe(0)
}

test('the command lists held streams of the running service, and retries them', async () => {
  await expectListed()
  const { code, output } = await quarantine('retry', `api-${broken}`)
  expect(output).toMatch(/^0 of 1 released$/m)
  expect(code).toBe(1)
  const { output: json } = await quarantine('list', '--json')
  expect(new Set(JSON.parse(json).map(({ id }: { id: string }) => id)).size).toBe(2)
})

test('the command refuses unknown streams and options', async () => {
  expect(await quarantine('retry', 'api-none')).toEqual({
    code: 1,
    output: 'gantry quarantine: the stream api-none is not held: see "list"\n',
  })
  const { code, output } = await quarantine('forget')
  expect(output).toMatch(/^gantry quarantine: usage: npm run quarantine -- list/)
  expect(code).toBe(2)
})

test('the command also works on the data folder of a stopped service', async () => {
  await service.stop()
  await expectListed()
  await holdByRelay('api-private')
  const { code, output } = await quarantine('retry')
  expect(output).toMatch(
    /^api-private is held by catalog\.relay, .* see "Restoring the log" in docs\/operations\.md$/m,
  )
  expect(output).toMatch(/^0 of 2 released$/m)
  expect(code).toBe(1)
  expect(await quarantine('retry', 'api-private')).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^gantry quarantine: api-private is held by catalog\.relay, /),
  })
  service = await startServiceProcess(folder)
})
