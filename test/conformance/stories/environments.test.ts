import type { EnvironmentRecord } from '@gantry/contracts'
import { describe, expect, test } from 'vitest'
import { createApi, deploy, listApis, readApi } from '../src/apis.ts'
import { admin, unique, uuid } from '../src/gantry.ts'
import type { Page } from '../src/records.ts'

const pathOf = (id: string) => `/environments/${id}`
const read = async (id: string) => (await admin.get(pathOf(id))).as<EnvironmentRecord>(200)
const name = async (id: string, input: object) =>
  (await admin.put(pathOf(id), input)).as<EnvironmentRecord>(200)

describe.concurrent('an environment', () => {
  test('is registered by its first deployment, and has the number of its APIs', async () => {
    const { environment: id } = await deploy(await createApi())
    expect(await read(id)).toMatchObject({ id, name: null, displayName: null, position: null, apis: 1 })
    await deploy(await createApi(), id)
    expect(await read(id)).toMatchObject({ apis: 2 })
    ;(await admin.get(pathOf(uuid()))).refused(404, 'environment-not-found')
  })

  test('shows its name with the deployments in it, which lists and facets find by the name', async () => {
    const api = await createApi()
    const { environment: id } = await deploy(api)
    const before = await admin.get(`/apis/${api.id}`, { includeDeployedOn: true })
    const given = unique('environment')
    expect(await name(id, { name: given })).toMatchObject({ name: given, displayName: given, apis: 1 })
    const after = await admin.get(`/apis/${api.id}`, { includeDeployedOn: true })
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
    const { deployedOn } = await readApi(api.id, { includeDeployedOn: true })
    expect(deployedOn).toMatchObject([{ environment: id, environmentName: given }])
    for (const environment of [id, id.toUpperCase(), given]) {
      expect((await listApis({ environment })).content.map(found => found.id)).toEqual([api.id])
      const facets = (await admin.get('/apis/facets', { environment })).as<{ totalElements: number }>(200)
      expect(facets.totalElements).toBe(1)
    }
    expect((await listApis({ environment: unique('environment') })).totalElements).toBe(0)
  })

  test('has a name that no other one has, and the ETag of what was read', async () => {
    const [first, second] = [uuid(), uuid()]
    const given = unique('environment')
    await name(first, { name: given, displayName: 'First', position: 1 })
    ;(await admin.put(pathOf(second), { name: given })).refused(409, 'environment-name-taken')
    ;(await admin.put(pathOf(second), { name: uuid() })).refused(400, 'invalid-request')
    const etag = (await admin.get(pathOf(first))).headers.get('etag') ?? ''
    await name(first, { name: unique('environment') })
    const headers = { 'if-match': etag }
    ;(await admin.put(pathOf(first), { name: given }, { headers })).refused(412, 'precondition-failed')
    await name(second, { name: given })
  })

  test('is listed by its position, by default, and those without one are the last', async () => {
    const [last, second, first] = [uuid(), uuid(), uuid()]
    await name(last, { name: unique('environment') })
    await name(second, { name: unique('environment'), position: 7 })
    await name(first, { name: unique('environment'), position: 6 })
    const ids: string[] = []
    for (let number = 1, isLast = false; !isLast; number++) {
      const page = (await admin.get('/environments', { size: 100, page: number })).as<
        Page<EnvironmentRecord>
      >(200)
      ids.push(...page.content.map(({ id }) => id))
      isLast = page.last
    }
    const own = new Set<string>([last, second, first])
    expect(ids.filter(id => own.has(id))).toEqual([first, second, last])
  })
})
