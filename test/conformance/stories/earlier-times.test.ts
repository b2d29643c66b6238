import { describe, expect, test } from 'vitest'
import { createApi, createVersion, deploy, readApi } from '../src/apis.ts'
import type { Query } from '../src/client.ts'
import { admin, cleanUp, eventually, unique, uuid } from '../src/gantry.ts'
import { form, png } from '../src/images.ts'
import { platformEvent, publish } from '../src/platform-events.ts'
import type { Api, Page, Version, Webhook } from '../src/records.ts'
import { userWithRole } from '../src/users.ts'
import { changeWebhook, NEVER } from '../src/webhooks.ts'

/** Responses to requests after the change at a time, before the next change. */
interface Snapshot {
  at: string
  answers: { path: string; query: Query; status: number; etag: string | null; body: unknown }[]
}

const read = async (path: string, query: Query) => {
  const { status, etag, json } = await admin.get(path, query)
  return { status, etag, body: status === 404 ? null : json }
}
const takeSnapshot = async (
  at: string,
  requests: readonly [path: string, query?: Query][],
): Promise<Snapshot> => ({
  at,
  answers: await Promise.all(
    requests.map(async ([path, query = {}]) => ({ path, query, ...(await read(path, query)) })),
  ),
})
const expectSnapshot = async ({ at, answers }: Snapshot) => {
  for (const { path, query, ...answer } of answers)
    expect(await read(path, { ...query, at }), `${path} ${JSON.stringify(query)} at ${at}`).toEqual(answer)
}
const total = async (path: string, query: Query) =>
  (await admin.get(path, query)).as<Page<Api>>(200).totalElements

describe('the catalogue at an earlier time', () => {
  test('is shown as it was then, by every filter and sort, also after everything was deleted', async () => {
    const word = unique('word')
    const { user } = userWithRole('USER')
    const [environment, product] = [uuid(), uuid()]
    const fields = { description: `About ${word}`, platformType: word, tags: [word, 'first'] }
    const api = await createApi({ ...fields, owner: user.id })
    const other = await createApi({ ...fields, displayName: 'Zebra', status: 'INACTIVE', tags: [word] })
    const version = await createVersion(api)
    const include = { includeDeployedOn: true, includeRunningJobs: true }
    const of = { text: word, ...include }
    const fieldsToSort = 'name displayName status platformType createdAt updatedAt deploymentStatus'
    const filters: Query[] = [
      { name: api.name },
      { owner: user.id },
      { platformType: word },
      { status: 'ACTIVE' },
      { status: 'INACTIVE', tags: word },
      { tags: [word, 'first'] },
      { tags: [word, 'second'] },
      { text: `${word} renamed` },
      { deployed: true },
      { environment },
      { product },
      { product, environment, deployed: true, status: 'ACTIVE', tags: 'second', owner: user.id },
    ]
    const requests: [string, Query?][] = [
      ...fieldsToSort.split(' ').flatMap((field): [string, Query][] => [
        ['/apis', { ...of, sort: `${field},asc` }],
        ['/apis', { ...of, sort: `${field},desc`, size: 1, page: 2 }],
      ]),
      ...filters.map((query): [string, Query] => ['/apis', { ...of, ...query }]),
      [`/apis/${api.id}`, include],
      [`/apis/${other.id}`],
      [`/apis/${api.id}/versions`],
      [`/apis/${api.id}/versions`, { sort: 'createdAt,desc', size: 1 }],
      ...[version.id, '1.0', '2.0'].map((id): [string] => [`/apis/${api.id}/versions/${id}`]),
    ]
    const snapshots = [await takeSnapshot(version.updatedAt, requests)]
    const snapshotAfter = async (at: string) => void snapshots.push(await takeSnapshot(at, requests))

    const changes = { ...fields, name: unique('renamed'), displayName: 'Alpha', tags: [word, 'second'] }
    const changed = (await admin.put(`/apis/${api.id}`, { ...changes, status: 'ACTIVE' })).as<Api>(200)
    await snapshotAfter(changed.updatedAt)

    ;(await publish(platformEvent('PRODUCT_API_ADDED', { product, api: api.id }))).is(202)
    await eventually(async () => expect(await total('/apis', { product })).toBe(1))
    await deploy(api, environment)
    ;(await admin.put(`/apis/${api.id}/image`, undefined, { body: form(png(1, 1)) })).is(200)
    const deployed = await readApi(api.id)
    expect(deployed).toMatchObject({ hasImage: true, deploymentStatus: 'DEPLOYED' })
    await snapshotAfter(deployed.updatedAt)

    const path = `/apis/${api.id}/versions`
    const renamed = (
      await admin.put(`${path}/${version.id}`, { name: '2.0', status: 'RETIRED' })
    ).as<Version>(200)
    await snapshotAfter(renamed.updatedAt)

    ;(await admin.delete(`${path}/2.0`)).is(204)
    ;(await admin.delete(`/apis/${api.id}?undeploy=true`)).is(204)
    ;(await admin.delete(`/apis/${other.id}`)).is(204)
    for (const snapshot of snapshots) await expectSnapshot(snapshot)
    expect(await total('/apis', { text: word })).toBe(0)
    for (const gone of [`/apis/${api.id}`, `/apis/${other.id}`, path])
      (await admin.get(gone)).refused(404, 'api-not-found')
  })

  test('has nothing before the creation, and a change from the millisecond of its time on', async () => {
    const api = await createApi({ displayName: 'Before' })
    const before = new Date(Date.parse(api.createdAt) - 1).toISOString()
    ;(await admin.get(`/apis/${api.id}`, { at: before })).refused(404, 'api-not-found')
    ;(await admin.get(`/apis/${api.id}/versions`, { at: before })).refused(404, 'api-not-found')
    expect(await total('/apis', { name: api.name, at: before })).toBe(0)
    expect(await total('/apis', { name: api.name, at: api.createdAt })).toBe(1)
    const { etag } = await admin.get(`/apis/${api.id}`, { at: api.createdAt })
    for (const query of [{}, { at: api.createdAt }])
      (await admin.get(`/apis/${api.id}`, query, { headers: { 'if-none-match': etag } })).is(304)
    const version = await createVersion(api)
    const beforeVersion = { at: new Date(Date.parse(version.createdAt) - 1).toISOString() }
    ;(await admin.get(`/apis/${api.id}/versions/1.0`, beforeVersion)).refused(404, 'version-not-found')
    ;(await admin.get(`/apis/${uuid()}`, { at: api.createdAt })).refused(404, 'api-not-found')
    const withOffset = `${new Date(Date.parse(api.createdAt) + 3_600_000).toISOString().slice(0, -1)}+01:00`
    expect((await admin.get(`/apis/${api.id}`, { at: withOffset })).as<Api>(200)).toEqual(api)
  })
})

test('webhooks are shown as they were, without secrets, also after their deletion', async () => {
  const fields = {
    displayName: unique('hook'),
    url: 'https://example.com/1',
    active: true,
    eventTypes: [NEVER],
  }
  const webhook = (await admin.post('/webhooks', fields)).as<Webhook>(201)
  cleanUp(`/webhooks/${webhook.id}`)
  const requests: [string][] = [[`/webhooks/${webhook.id}`]]
  const created = await takeSnapshot(webhook.updatedAt, requests)
  const changed = await changeWebhook(webhook, { url: 'https://example.com/2', active: false })
  const updated = await takeSnapshot(changed.updatedAt, requests)
  ;(await admin.delete(`/webhooks/${webhook.id}`)).is(204)
  ;(await admin.get(`/webhooks/${webhook.id}`)).refused(404, 'webhook-not-found')
  for (const snapshot of [created, updated]) {
    // The health is that of the latest attempts only.
    for (const { body } of snapshot.answers) Object.assign(body as object, { health: null })
    await expectSnapshot(snapshot)
    const { content } = (
      await admin.get('/webhooks', { size: 100, sort: 'createdAt,desc', at: snapshot.at })
    ).as<Page<Webhook>>(200)
    expect(content.find(({ id }) => id === webhook.id)).toEqual(snapshot.answers[0]?.body)
  }
  const before = new Date(Date.parse(webhook.createdAt) - 1).toISOString()
  ;(await admin.get(`/webhooks/${webhook.id}`, { at: before })).refused(404, 'webhook-not-found')
})

test.for([
  ...['/apis', `/apis/${uuid()}`, `/apis/${uuid()}/versions`, `/apis/${uuid()}/versions/1.0`],
  ...['/webhooks', `/webhooks/${uuid()}`],
])('%s refuses a time that is malformed, repeated or in the future', async path => {
  const future = new Date(Date.now() + 3_600_000).toISOString()
  const malformed = ['yesterday', '2026-11-21', '', '2026-13-01T00:00:00Z']
  for (const at of [...malformed, future, '9999-12-31T23:59:59-01:00'])
    expect((await admin.get(path, { at })).refused(400, 'invalid-request').errors).toMatchObject([
      { field: 'at' },
    ])
  ;(await admin.get(path, { at: ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'] })).refused(
    400,
    'invalid-request',
  )
})
