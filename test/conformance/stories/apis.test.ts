import { describe, expect, test } from 'vitest'
import { apiFields, createApi, listApis, readApi } from '../src/apis.ts'
import { admin, cleanUp, unique, uuid } from '../src/gantry.ts'
import type { Api } from '../src/records.ts'
import { userWithRole } from '../src/users.ts'

const optionalFields = {
  description: 'Card and account payments',
  url: '/payments',
  platformType: 'ENVOY',
  gitUrl: 'https://git.example/payments.git',
  gitCredential: '0b7a4b0e-2f57-4f0a-9b5b-6c1f5b1f9d11',
  owner: '9c1c3a52-7d0e-4a53-8a3e-0d9b9f0f7c21',
}
const fieldsOf = ({ name, displayName, status, tags }: Api) => ({ name, displayName, status, tags })

describe('creating an API', () => {
  test('returns the record with everything that was sent, and its location', async () => {
    const fields = apiFields({ ...optionalFields, tags: ['finance', 'public'] })
    const answer = await admin.post('/apis', fields)
    const api = answer.as<Api>(201)
    cleanUp(`/apis/${api.id}`)

    expect(api).toMatchObject(fields)
    expect(api).toMatchObject({ deploymentStatus: 'CREATED', hasImage: false })
    expect(api.id).toMatch(/^[0-9a-f-]{36}$/)
    expect(Math.abs(Date.parse(api.createdAt) - Date.now())).toBeLessThan(15 * 60_000)
    expect(answer.headers.get('location')).toMatch(new RegExp(`/apis/${api.id}$`))
    expect(await readApi(api.id)).toEqual(api)
  })

  test('returns null for every optional field that is null or missing', async () => {
    const none = { description: null, url: null, platformType: null, gitUrl: null, gitCredential: null }
    expect(await createApi()).toMatchObject(none)
    expect(await createApi(none)).toMatchObject(none)
  })

  test('makes the caller the owner by default, and shows the display name of a known owner', async () => {
    const { user, client } = userWithRole('ADMIN')
    const own = await createApi({}, client)
    expect(await readApi(own.id)).toMatchObject({ owner: user.id, ownerDisplayName: user.displayName })

    const foreign = await createApi({ owner: uuid() })
    const page = await listApis({ name: foreign.name })
    expect(page.content[0]).toMatchObject({ owner: foreign.owner, ownerDisplayName: null })
  })

  test('trims the name, removes duplicate tags, and ignores unknown fields', async () => {
    const name = unique('trimmed')
    const ignored = { colour: 'green', id: uuid(), hasImage: true }
    const api = await createApi({ ...ignored, name: `  ${name}\t`, tags: ['a', 'b', 'a'] })
    expect({ ...api, tags: api.tags.toSorted() }).toMatchObject({ name, tags: ['a', 'b'], hasImage: false })
    expect(api).not.toHaveProperty('colour')
  })

  const long = (length: number) => unique('long').padEnd(length, 'x')
  test.for<[string, () => object]>([
    ['a name of 255 characters', () => ({ name: long(255) })],
    ['a displayName of 255 characters', () => ({ displayName: 'd'.repeat(255) })],
    ['a description of 1000 characters', () => ({ description: 'd'.repeat(1000) })],
    ['a platformType of 100 characters', () => ({ platformType: 'p'.repeat(100) })],
    ['a url of 2048 characters', () => ({ url: `/${'u'.repeat(2047)}` })],
    ['a gitUrl of 2048 characters', () => ({ gitUrl: `https://git.example/${'u'.repeat(2028)}` })],
    [
      '50 tags of 100 characters',
      () => ({ tags: Array.from({ length: 50 }, (_, n) => `${n}`.padStart(100, 't')) }),
    ],
    [
      'non-ASCII text',
      () => ({ name: `${unique('größe')}-名前-😀`, description: 'Zeile 1\nZeile 2 – „Zitat“' }),
    ],
  ])('accepts %s', async ([, fields]) => {
    const sent = fields()
    const api = await createApi(sent)
    expect(await readApi(api.id)).toMatchObject(sent)
  })

  test.for<[string, string, object]>([
    ['without a name', 'name', { name: undefined }],
    ['without a displayName', 'displayName', { displayName: undefined }],
    ['without a status', 'status', { status: undefined }],
    ['without tags', 'tags', { tags: undefined }],
    ['with an empty name', 'name', { name: '' }],
    ['with a name of spaces', 'name', { name: '   ' }],
    ['with a name of 256 characters', 'name', { name: 'n'.repeat(256) }],
    ['with a control character in the name', 'name', { name: 'one\u0007two' }],
    ['with a line break in the name', 'name', { name: 'one\ntwo' }],
    ['with NUL in the name', 'name', { name: 'one\u0000two' }],
    ['with a number for a name', 'name', { name: 7 }],
    ['with null for a name', 'name', { name: null }],
    ['with an empty displayName', 'displayName', { displayName: '' }],
    ['with a displayName of 256 characters', 'displayName', { displayName: 'd'.repeat(256) }],
    ['with an unknown status', 'status', { status: 'SLEEPING' }],
    ['with a status in small letters', 'status', { status: 'active' }],
    ['with a description of 1001 characters', 'description', { description: 'd'.repeat(1001) }],
    ['with a url of 2049 characters', 'url', { url: 'u'.repeat(2049) }],
    ['with a gitUrl of 2049 characters', 'gitUrl', { gitUrl: 'u'.repeat(2049) }],
    ['with credentials in the url', 'url', { url: 'https://user:token@example.com/' }],
    ['with credentials in the gitUrl', 'gitUrl', { gitUrl: 'https://token@example.com/a.git' }],
    ['with a platformType of 101 characters', 'platformType', { platformType: 'p'.repeat(101) }],
    ['with an owner that is no UUID', 'owner', { owner: 'grace' }],
    ['with a gitCredential that is no UUID', 'gitCredential', { gitCredential: '42' }],
    ['with tags that are not an array', 'tags', { tags: 'finance' }],
    ['with 51 tags', 'tags', { tags: Array.from({ length: 51 }, (_, n) => `tag ${n}`) }],
    ['with a tag of 101 characters', 'tags', { tags: ['t'.repeat(101)] }],
    ['with an empty tag', 'tags', { tags: [''] }],
    ['with a tag that is not a string', 'tags', { tags: [1] }],
  ])('refuses a body %s, naming the field', async ([, field, fields]) => {
    const problem = (await admin.post('/apis', { ...apiFields(), ...fields })).refused(400)
    expect(problem.errors?.map(error => error.field).join()).toContain(field)
  })

  test('reports all invalid fields at once', async () => {
    const problem = (await admin.post('/apis', { status: 'SLEEPING' })).refused(400)
    const fields = problem.errors?.map(error => error.field)
    expect(fields).toEqual(expect.arrayContaining(['name', 'displayName', 'status', 'tags']))
  })
})

describe('an API name', () => {
  test('is unique among existing APIs, and case-sensitive', async () => {
    const api = await createApi()
    ;(await admin.post('/apis', apiFields({ name: api.name }))).refused(409, 'api-name-taken')
    ;(await admin.post('/apis', apiFields({ name: ` ${api.name} ` }))).refused(409, 'api-name-taken')
    expect((await createApi({ name: api.name.toUpperCase() })).id).not.toBe(api.id)
  })

  test('is free again after its API was deleted or renamed; then the new name is taken', async () => {
    const { id, name } = await createApi()
    ;(await admin.delete(`/apis/${id}`)).is(204)
    const api = await createApi({ name })
    expect(api.id).not.toBe(id)
    const renamed = unique('renamed')
    ;(await admin.put(`/apis/${api.id}`, { ...fieldsOf(api), name: renamed })).is(200)
    ;(await admin.post('/apis', apiFields({ name: renamed }))).refused(409, 'api-name-taken')
    await createApi({ name })
  })

  test('cannot be taken by renaming another API, which keeps its own name', async () => {
    const [api, other] = [await createApi(), await createApi()]
    const stolen = await admin.put(`/apis/${api.id}`, { ...fieldsOf(api), name: other.name })
    stolen.refused(409, 'api-name-taken')
    expect(await readApi(api.id)).toEqual(api)
    ;(await admin.post('/apis', apiFields({ name: api.name }))).refused(409, 'api-name-taken')
  })

  test('is given to one of eight concurrent requests', async () => {
    const name = unique('race')
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => admin.post('/apis', apiFields({ name }))),
    )
    expect(answers.map(answer => answer.status).toSorted()).toEqual([201, ...Array(7).fill(409)])
    const { content, totalElements } = await listApis({ name })
    expect(totalElements).toBe(1)
    cleanUp(`/apis/${content[0]?.id}`)
  })
})

describe('updating an API', () => {
  test.for(['ACTIVE', 'INACTIVE'])('moves it from %s to either status', async status => {
    const api = await createApi({ status })
    expect(api).toMatchObject({ status, deploymentStatus: 'CREATED' })
    for (const next of [status, 'INACTIVE', 'ACTIVE']) {
      const updated = (await admin.put(`/apis/${api.id}`, { ...fieldsOf(api), status: next })).as<Api>(200)
      expect(updated).toMatchObject({ id: api.id, status: next, createdAt: api.createdAt })
      expect(await readApi(api.id)).toEqual(updated)
    }
  })

  test('replaces the record: omitted fields become null, except the owner', async () => {
    const api = await createApi({ ...optionalFields, tags: ['finance'] })
    const bare = { name: api.name, displayName: 'Renamed', status: 'ACTIVE', tags: [] }
    const updated = (await admin.put(`/apis/${api.id}`, bare)).as<Api>(200)
    expect(updated).toMatchObject({
      ...bare,
      description: null,
      url: null,
      platformType: null,
      gitUrl: null,
      gitCredential: null,
      owner: api.owner,
    })
    expect(await readApi(api.id)).toEqual(updated)
  })

  test('accepts a record as it was read, with another owner', async () => {
    const api = await createApi({ ...optionalFields, tags: ['finance'] })
    const owner = uuid()
    const updated = (await admin.put(`/apis/${api.id}`, { ...api, owner })).as<Api>(200)
    expect(updated).toEqual({ ...api, owner, updatedAt: updated.updatedAt })
  })

  test('refuses a body that lacks a required field, and changes nothing', async () => {
    const api = await createApi()
    for (const field of ['name', 'displayName', 'status', 'tags']) {
      const body = { ...fieldsOf(api), displayName: 'New', [field]: undefined }
      const problem = (await admin.put(`/apis/${api.id}`, body)).refused(400)
      expect(problem.errors?.map(error => error.field)).toContain(field)
    }
    expect(await readApi(api.id)).toEqual(api)
  })
})

describe('deleting an API', () => {
  test('answers 204 without a body, and the API is gone', async () => {
    const { id, name } = await createApi()
    const answer = (await admin.delete(`/apis/${id}`)).is(204)
    expect(answer.bytes).toHaveLength(0)
    ;(await admin.get(`/apis/${id}`)).refused(404)
    ;(await admin.put(`/apis/${id}`, apiFields())).refused(404)
    ;(await admin.delete(`/apis/${id}`)).refused(404)
    expect(await listApis({ name })).toMatchObject({ content: [], totalElements: 0 })
  })

  test('accepts undeploy=true for an API that is not deployed, and refuses another value', async () => {
    const { id } = await createApi()
    ;(await admin.delete(`/apis/${id}`, { query: { undeploy: 'perhaps' } })).refused(400)
    await readApi(id)
    ;(await admin.delete(`/apis/${id}`, { query: { undeploy: true } })).is(204)
    ;(await admin.get(`/apis/${id}`)).refused(404)
  })
})
