import { describe, expect, test } from 'vitest'
import { createApi, createVersion } from '../src/apis.ts'
import { admin, unique } from '../src/gantry.ts'
import type { Api, Page, Version } from '../src/records.ts'

const listVersions = async (api: Api, query = {}) =>
  (await admin.get(`/apis/${api.id}/versions`, query)).as<Page<Version>>(200)
const versionPath = (api: Api, idOrName: string) => `/apis/${api.id}/versions/${encodeURIComponent(idOrName)}`

describe('creating a version', () => {
  test('returns the record, which is found by id and by name', async () => {
    const api = await createApi()
    const fields = { name: '1.2.0', displayName: 'Spring', description: 'Faster', status: 'DEVELOPMENT' }
    const answer = await admin.post(`/apis/${api.id}/versions`, fields)
    const version = answer.as<Version>(201)
    expect(version).toMatchObject({ ...fields, api: api.id })
    expect((await admin.get(versionPath(api, version.id))).as<Version>(200)).toEqual(version)
    expect((await admin.get(versionPath(api, '1.2.0'))).as<Version>(200)).toEqual(version)
    expect(await listVersions(api)).toMatchObject({ totalElements: 1, content: [version] })
  })

  test('needs only a name, which may have 100 characters', async () => {
    const name = '1'.repeat(100)
    const version = await createVersion(await createApi(), { name })
    expect(version).toMatchObject({ displayName: name, description: null, status: 'ACTIVE' })
  })

  test('accepts every status', async () => {
    const api = await createApi()
    for (const status of ['DEVELOPMENT', 'ACTIVE', 'DEPRECATED', 'RETIRED', 'INACTIVE']) {
      expect((await createVersion(api, { name: status, status })).status).toBe(status)
      const body = { name: status, displayName: 'Changed', status }
      expect((await admin.put(versionPath(api, status), body)).as<Version>(200).status).toBe(status)
    }
  })

  test.for<[string, string, object]>([
    ['without a name', 'name', {}],
    ['with an empty name', 'name', { name: ' ' }],
    ['with a name of 101 characters', 'name', { name: '1'.repeat(101) }],
    ['with a number for a name', 'name', { name: 1.2 }],
    ['with an unknown status', 'status', { name: '1.0', status: 'SLEEPING' }],
    ['with a displayName that is no text', 'displayName', { name: '1.0', displayName: 5 }],
  ])('refuses a body %s, naming the field', async ([, field, body]) => {
    const api = await createApi()
    const problem = (await admin.post(`/apis/${api.id}/versions`, body)).refused(400)
    expect(problem.errors?.map(error => error.field)).toContain(field)
    expect((await listVersions(api)).totalElements).toBe(0)
  })
})

describe('a version name', () => {
  test('is unique within its API only, and cannot be taken by renaming another version', async () => {
    const [api, other] = [await createApi(), await createApi()]
    const one = await createVersion(api, { name: '1.0' })
    ;(await admin.post(`/apis/${api.id}/versions`, { name: '1.0' })).refused(409)
    await createVersion(other, { name: '1.0' })
    expect((await listVersions(api)).totalElements).toBe(1)
    await createVersion(api, { name: '2.0' })
    ;(await admin.put(versionPath(api, one.id), { name: '2.0' })).refused(409)
    expect((await admin.get(versionPath(api, one.id))).as<Version>(200)).toEqual(one)
  })

  test('is free again after deletion and after renaming', async () => {
    const api = await createApi()
    const deleted = await createVersion(api, { name: '1.0' })
    ;(await admin.delete(versionPath(api, deleted.id))).is(204)
    const renamed = await createVersion(api, { name: '1.0' })
    ;(await admin.put(versionPath(api, renamed.id), { name: '1.1' })).is(200)
    ;(await admin.get(versionPath(api, '1.0'))).refused(404)
    await createVersion(api, { name: '1.0' })
  })
})

describe('updating a version', () => {
  test('replaces the record, addressed by id or by name, and requires the name', async () => {
    const api = await createApi()
    const fields = { displayName: 'Spring', description: 'Faster', status: 'DEPRECATED' }
    const version = await createVersion(api, { name: '1.0', ...fields })
    const problem = (await admin.put(versionPath(api, version.id), { displayName: 'Summer' })).refused(400)
    expect(problem.errors?.map(error => error.field)).toContain('name')
    expect((await admin.get(versionPath(api, version.id))).as<Version>(200)).toEqual(version)

    const changes = { name: '1.1', displayName: 'Summer', status: 'RETIRED' }
    const updated = (await admin.put(versionPath(api, '1.0'), changes)).as<Version>(200)
    expect(updated).toMatchObject({ id: version.id, ...changes, description: null, api: api.id })
    expect((await admin.get(versionPath(api, version.id))).as<Version>(200)).toEqual(updated)
    expect((await listVersions(api)).content).toEqual([updated])
  })
})

test('deleting a version answers 204 without a body, and the version is gone', async () => {
  const api = await createApi()
  const version = await createVersion(api)
  expect((await admin.delete(versionPath(api, version.id))).is(204).bytes).toHaveLength(0)
  ;(await admin.get(versionPath(api, version.id))).refused(404)
  ;(await admin.get(versionPath(api, version.name))).refused(404)
  ;(await admin.delete(versionPath(api, version.id))).refused(404)
  expect(await listVersions(api)).toMatchObject({ content: [], totalElements: 0 })
})

test('an API does not show the versions of another API', async () => {
  const [api, other] = [await createApi(), await createApi()]
  const version = await createVersion(api, { name: unique('mine') })
  ;(await admin.get(versionPath(other, version.id))).refused(404)
  ;(await admin.put(versionPath(other, version.id), { name: 'x' })).refused(404)
  ;(await admin.delete(versionPath(other, version.name))).refused(404)
  expect((await admin.get(versionPath(api, version.id))).as<Version>(200)).toEqual(version)
})

test('versions are removed with their API, with every path below it', async () => {
  const api = await createApi()
  const version = await createVersion(api)
  ;(await admin.delete(`/apis/${api.id}`)).is(204)
  ;(await admin.get(`/apis/${api.id}/versions`)).refused(404)
  ;(await admin.get(versionPath(api, version.id))).refused(404)
  ;(await admin.post(`/apis/${api.id}/versions`, { name: '2.0' })).refused(404)
  ;(await admin.put(versionPath(api, version.id), { name: '1.0' })).refused(404)
  ;(await admin.delete(versionPath(api, version.id))).refused(404)
})
