import { expect, test } from 'vitest'
import { apiFields, createApi, createVersion, deploy, readApi } from '../src/apis.ts'
import { admin, eventually, unique, uuid } from '../src/gantry.ts'
import { form, png } from '../src/images.ts'
import type { Api, AuditRecord, Page } from '../src/records.ts'
import { userWithRole } from '../src/users.ts'

const restore = (id: string, at: string, headers = {}) =>
  admin.post(`/apis/${id}/restore`, { at }, { headers })
const change = async (api: Api, fields: Partial<Api>) =>
  (await admin.put(`/apis/${api.id}`, apiFields(fields))).as<Api>(200)

test('an API gets the fields of an earlier time, and keeps its versions, image and deployments', async () => {
  const fields = {
    description: 'As it was',
    url: '/first',
    status: 'INACTIVE',
    tags: ['b', 'a'],
    platformType: 'ENVOY',
    gitUrl: 'https://example.com/first.git',
    gitCredential: uuid(),
  }
  const api = await createApi(fields)
  const version = await createVersion(api)
  await change(api, { displayName: 'Another', owner: userWithRole('USER').user.id })
  ;(await admin.put(`/apis/${api.id}/image`, undefined, { body: form(png(1, 1)) })).is(200)
  const { environment } = await deploy(api)

  const requestId = uuid()
  const answer = await restore(api.id, api.createdAt, { 'x-request-id': requestId })
  const restored = answer.as<Api>(200)
  expect(restored).toEqual({
    ...api,
    updatedAt: restored.updatedAt,
    hasImage: true,
    deploymentStatus: 'DEPLOYED',
  })
  expect(restored.updatedAt > api.updatedAt).toBe(true)
  expect((await admin.get(`/apis/${api.id}`)).etag).toBe(answer.etag)
  ;(await admin.get(`/apis/${api.id}/versions/${version.id}`)).is(200)
  expect((await readApi(api.id, { includeDeployedOn: true })).deployedOn).toMatchObject([{ environment }])

  // Receivers of events learn of it as of an update.
  await eventually(async () => {
    const { content } = (await admin.get('/events', { api: api.id, from: api.createdAt })).as<{
      content: { type: string; requestId: string }[]
    }>(200)
    const caused = content.filter(event => event.requestId === requestId)
    expect(caused.map(({ type }) => type)).toEqual(['API_UPDATED'])
  })
  const { content } = (await admin.get('/auditLog', { resource: api.id, action: 'API_RESTORED' })).as<
    Page<AuditRecord>
  >(200)
  expect(content).toMatchObject([
    { requestId, details: { before: { displayName: 'Another' }, after: { displayName: api.displayName } } },
  ])

  const again = await restore(api.id, api.createdAt)
  expect(again.as<Api>(200)).toEqual(restored)
  expect(again.etag).toBe(answer.etag)
})

test('a restored API takes its earlier name, unless another API has it, and frees the later one', async () => {
  const name = unique('api')
  const api = await createApi({ name })
  const between = await change(api, {})
  const { id } = await createApi({ name })
  ;(await restore(api.id, api.createdAt)).refused(409, 'api-name-taken')
  expect(await readApi(api.id)).toEqual(between)
  ;(await admin.delete(`/apis/${id}`)).is(204)
  ;(await restore(api.id, api.createdAt)).is(200)
  ;(await admin.post('/apis', apiFields({ name }))).refused(409, 'api-name-taken')
  await createApi({ name: between.name })
})

test('an API is not restored for a caller who has not seen its last change', async () => {
  const api = await createApi()
  const { etag: stale } = await admin.get(`/apis/${api.id}`)
  await change(api, {})
  const { etag } = await admin.get(`/apis/${api.id}`)
  ;(await restore(api.id, api.createdAt, { 'if-match': stale })).refused(412, 'precondition-failed')
  ;(await restore(api.id, api.createdAt, { 'if-match': etag })).is(200)
})

test('a time at which the API did not exist, or that has not come, is refused', async () => {
  const api = await createApi()
  const minutes = (count: number) => new Date(Date.parse(api.createdAt) + count * 60_000).toISOString()
  for (const at of [minutes(-1), minutes(1), '9999-12-31T23:59:59-23:59', '0000-01-01T00:00:00+23:59']) {
    const { errors } = (await restore(api.id, at)).refused(400, 'invalid-request')
    expect(errors).toMatchObject([{ field: 'at' }])
  }
  for (const at of ['yesterday', '2026-11-21', '2026-11-21T09:30:00', '2026-02-30T00:00:00Z', null, 5])
    (await admin.post(`/apis/${api.id}/restore`, { at })).refused(400, 'invalid-request')
})

test('a deleted API cannot be restored', async () => {
  const api = await createApi()
  ;(await admin.delete(`/apis/${api.id}`)).is(204)
  ;(await restore(api.id, api.createdAt)).refused(404, 'api-not-found')
})
