import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import { heldStreams } from '@gantry/event-sourcing'
import { runCommand, type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { beforeAll, expect, test, vi } from 'vitest'
import { apiNamed, call, createApi, newFolder } from './src/service.ts'

const folder = newFolder()
let service: ServiceProcess
let broken: string
let healthy: string

const get = (path: string) => call(service, 'GET', path)
const rename = (id: string, displayName: string) =>
  call(service, 'PUT', `/apis/${id}`, { ...apiNamed(id === broken ? 'broken' : 'healthy'), displayName })

/** Runs `npm run quarantine`. */
const quarantine = (...args: string[]) => runCommand(['quarantine', ...args], { DATA_DIR: folder })

/** Appends an event that is none of a service, or of a later release, while the service is stopped. */
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
  service = await startServiceProcess(folder)
  broken = await createApi(service, 'broken')
  healthy = await createApi(service, 'healthy')
  await service.stop()
  // The data of the first event are no object. The type of the second one is from a later release.
  await damage(`api-${broken}`, 'ProductJoined', null as unknown as object)
  await damage(`api-${healthy}`, 'ApiArchived', { archivedAt: '2026-11-21T10:00:00.000Z' })
  service = await startServiceProcess(folder)
})

test('the service becomes ready; a quarantined API stays readable and refuses changes, other APIs continue', async () => {
  expect((await get('/health/ready')).status).toBe(200)
  expect((await get(`/apis/${broken}`)).status).toBe(200)
  const refused = await rename(broken, 'Changed')
  expect(refused).toMatchObject({
    status: 503,
    body: {
      code: 'stream-quarantined',
      detail: `event 1 of stream api-${broken} cannot be processed; "npm run quarantine -- list" tells why`,
    },
  })
  expect(refused.headers.get('retry-after')).not.toBeNull()
  expect((await rename(healthy, 'Changed')).status).toBe(200)
  expect((await get(`/apis/${healthy}`)).body).toMatchObject({ displayName: 'Changed' })
})

test('metrics count the held streams and the unknown events', async () => {
  const metrics = String((await get('/metrics')).body)
  const held = [...metrics.matchAll(/^gantry_held_streams\{projector="(.*?)",status="(.*?)",.*\} (\d)$/gm)]
  expect(held.map(match => match.slice(1).join(' '))).toEqual(
    expect.arrayContaining([
      'catalog.projector QUARANTINED 1',
      'catalog.projector INCOMPLETE 1',
      'identity.projector QUARANTINED 0',
    ]),
  )
  expect(metrics).toMatch(
    /^gantry_unknown_events_total\{category="api",type="ApiArchived",process="standalone"\} [1-9]/m,
  )
})

test('a rebuild by a release that does not know all events fails, and the read models stay', async () => {
  const state = async () => {
    const { body } = await call<{ name: string; generation: number }[]>(service, 'GET', '/readModels')
    return body.find(({ name }) => name === 'catalog.projector')
  }
  const generation = (await state())?.generation
  expect((await call(service, 'POST', '/readModels/catalog.projector/rebuild')).body).toMatchObject({
    quarantinedStreams: 1,
    incompleteStreams: 1,
  })
  const reason = '1 streams have events that this release does not know'
  const lastRebuild = { outcome: 'FAILED', reason }
  await vi.waitFor(async () => expect(await state()).toMatchObject({ generation, lastRebuild }))
  for (const id of [broken, healthy]) expect((await get(`/apis/${id}`)).status).toBe(200)
})

const expectListed = async () => {
  const { code, output } = await quarantine('list')
  const first = `^api-${broken}  QUARANTINED  catalog.projector\n  event 1 ProductJoined at position \\d+: Error: its data are no JSON object$`
  const second = `^api-${healthy}  INCOMPLETE  catalog.projector\n  event \\d .*unknown to this release: ApiArchived@1$`
  for (const lines of [first, second]) expect(output).toMatch(new RegExp(lines, 'm'))
  expect(output).toMatch(/^1 quarantined, 1 incomplete$/m)
  expect(code).toBe(0)
}

test('the command lists held streams of the running service, retries them, and refuses unknown ones', async () => {
  await expectListed()
  expect(await quarantine('retry', `api-${broken}`)).toEqual({
    code: 1,
    output: expect.stringMatching(/^0 of 1 released$/m),
  })
  const { output: json } = await quarantine('list', '--json')
  expect(new Set(JSON.parse(json).map(({ id }: { id: string }) => id)).size).toBe(2)
  expect(await quarantine('retry', 'api-none')).toEqual({
    code: 1,
    output: 'gantry quarantine: the stream api-none is not held: see "list"\n',
  })
})

test('the command also works on the data folder of a stopped service, and names what a restore releases', async () => {
  await service.stop()
  await expectListed()
  await holdByRelay('api-private')
  const { code, output } = await quarantine('retry')
  expect(output).toMatch(
    /^api-private is held by catalog\.relay, .* see "Restoring the log" in docs\/operations\.md$/m,
  )
  expect(output).toMatch(/^0 of 2 released$/m)
  expect(code).toBe(1)
})
