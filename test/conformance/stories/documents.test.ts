import type { DescribedOperation, DocumentDiff, DocumentRecord, Finding, Linkset } from '@gantry/contracts'
import { expect, test } from 'vitest'
import { createApi, createVersion, listApis, readApi } from '../src/apis.ts'
import { admin, anonymous, eventually, service, unique } from '../src/gantry.ts'
import type { Api, Page } from '../src/records.ts'

const OPENAPI = `openapi: 3.1.0
info: {title: Pets, version: 2.1.0}
paths:
  /pets/{id}:
    get: {operationId: getPet, summary: Get a pet, tags: [pets], responses: {'200': {description: A pet}}}
components: {schemas: {Pet: {type: object}}}
extra: 1
`

const documented = async () => {
  const api = await createApi()
  const version = await createVersion(api, { name: '1.0' })
  const path = `/apis/${api.id}/versions/${version.id}/documents`
  const put = (name: string, body: string, query = '') =>
    admin.put(`${path}/${name}${query}`, undefined, {
      body,
      headers: { 'content-type': 'application/octet-stream' },
    })
  return { api, version, path, put }
}

test('a document is described by its content, and comes out as it went in', async () => {
  const { api, version, path, put } = await documented()
  const answer = await put('pets.yaml', OPENAPI)
  const record = answer.as<DocumentRecord>(201)
  expect(record).toMatchObject({
    kind: 'openapi',
    title: 'Pets',
    version: '2.1.0',
    primary: true,
    counts: { operations: 1, schemas: 1 },
    findings: { errors: 1, warnings: 0 },
  })
  expect(answer.headers.get('location')).toContain(`${path}/pets.yaml`)
  const byName = await admin.get(`/apis/${api.id}/versions/1.0/documents/pets.yaml`)
  expect(byName.is(200).bytes.toString()).toBe(OPENAPI)
  expect(byName.etag).toBe(`"${record.sha256}"`)
  expect(byName.headers.get('content-security-policy')).toContain('sandbox')
  const part = await admin.get(`${path}/pets.yaml`, {}, { headers: { range: 'bytes=0-6' } })
  expect(part.is(206).bytes.toString()).toBe('openapi')
  const findings = (await admin.get(`${path}/pets.yaml/findings`)).as<Page<Finding>>(200)
  const ofSchema = { severity: 'ERROR', line: 7, column: 1, pointer: '/extra', ruleSet: null }
  expect(findings.content).toContainEqual(expect.objectContaining(ofSchema))

  const [stored] = (await admin.get(path)).as<Page<DocumentRecord>>(200).content
  expect({ ...stored, score: null }).toEqual(record)
  const shown = [
    { version: version.id, name: 'pets.yaml', kind: 'openapi', primary: true, counts: record.counts },
  ]
  expect((await admin.get(`/apis/${api.id}`, { includeDocuments: true })).as<Api>(200).documents).toEqual(
    shown,
  )
  const listed = await listApis({ name: api.name, includeDocuments: true })
  expect(listed.content[0]?.documents).toEqual(shown)
  expect(await readApi(api.id)).not.toHaveProperty('documents')
  const history = await admin.get(`/apis/${api.id}/versions/${version.id}/history`)
  expect(history.as<Page<{ operation: string }>>(200).content[0]?.operation).toBe(
    'API_VERSION_DOCUMENT_UPDATED',
  )

  ;(await admin.delete(`${path}/pets.yaml`)).is(204)
  ;(await admin.get(`${path}/pets.yaml`)).refused(404, 'document-not-found')
  const past = await admin.get(`${path}/pets.yaml`, { at: record.updatedAt })
  expect(past.is(200).bytes.toString()).toBe(OPENAPI)
})

test('its operations are found at once, in the version and among all', async () => {
  const { version, path, put } = await documented()
  const name = unique('op').replaceAll(/\W/g, '')
  ;(await put('pets.yaml', OPENAPI.replace('getPet', name))).is(201)
  const found = (await admin.get('/operations', { q: name, method: 'GET', tag: 'pets' })).as<
    Page<DescribedOperation>
  >(200)
  expect(found.content).toMatchObject([
    { version: version.id, path: '/pets/{id}', operationId: name, deprecated: false },
  ])
  const own = await admin.get(path.replace('/documents', '/operations'), { sort: 'method,desc' })
  expect(own.as<Page<DescribedOperation>>(200).content).toEqual(found.content)
})

test('a diff tells what breaks clients of the version before', async () => {
  const { api, version, path, put } = await documented()
  ;(await put('pets.yaml', OPENAPI)).is(201)
  const next = await createVersion(api, { name: '2.0' })
  const required = 'get: {parameters: [{name: q, in: query, required: true, schema: {}}], operationId: getPet'
  const later = path.replace(/versions.*/, `versions/${next.id}/documents/pets.yaml`)
  const body = OPENAPI.replace('get: {operationId: getPet', required)
  ;(await admin.put(later, undefined, { body })).is(201)
  const diff = (await admin.get(`${later}/diff`)).as<DocumentDiff>(200)
  expect(diff).toEqual({
    breaking: true,
    changes: [
      {
        pointer: '/paths/~1pets~1{id}/get/parameters/0',
        level: 'BREAKING',
        message: 'the required query parameter q was added',
        line: 5,
        fromLine: 5,
      },
    ],
    truncated: false,
    from: { version: version.id, document: 'pets.yaml' },
  })
  const named = { from: '1.0', fromDocument: 'pets.yaml' }
  expect((await admin.get(`${later}/diff`, named)).as<DocumentDiff>(200)).toEqual(diff)
  ;(await admin.get(`${path}/pets.yaml/diff`)).refused(404, 'document-not-found')

  // A receiver of events can stop a pipeline.
  await eventually(async () => {
    const events = await admin.get('/events', { api: api.id, from: api.createdAt })
    const { content } = events.as<{ content: { type: string; data: { breaking?: boolean } }[] }>(200)
    const uploads = content.filter(({ type }) => type === 'API_VERSION_DOCUMENT_UPDATED')
    expect(uploads.map(({ data }) => data.breaking)).toEqual([null, true])
  })
})

test('what is invalid is refused with the place of the fault, and nothing is stored', async () => {
  const { path, put } = await documented()
  const refused = (await put('a.json', '{"openapi": "3.0.0",\n "info": }')).refused(400, 'document-invalid')
  expect(refused.errors?.[0]).toMatchObject({ line: 2, column: 10 })
  ;(await put('a.txt', 'text', '?kind=graphql')).refused(400, 'document-invalid')
  ;(await put('.a', 'text')).refused(404)
  expect((await admin.get(path)).as<Page<DocumentRecord>>(200).content).toEqual([])
})

test('a crawler with credentials follows links from the catalogue and from a version to the documents', async () => {
  const { api, version, path, put } = await documented()
  ;(await put('guide.md', '# Pets')).is(201)
  ;(await put('pets.yaml', OPENAPI, '?primary=true')).is(201)
  const root = service.baseUrl.replace('127.0.0.1', 'localhost')
  const of = `${root}/apis/${api.id}`
  const found = async () => {
    for (let page = 1; ; page += 1) {
      const answer = await admin.get('/.well-known/api-catalog', { page, size: 1_000 })
      const entry = answer.as<Linkset>(200).linkset.find(({ anchor }) => anchor === of)
      if (entry || !answer.headers.get('link')?.includes('rel="next"')) return entry
    }
  }
  expect(await found()).toEqual({
    anchor: of,
    'service-desc': [{ href: `${root}${path}/pets.yaml`, title: 'pets.yaml' }],
    'service-doc': [{ href: `${root}${path}/guide.md`, title: 'guide.md' }],
  })
  const { headers } = (await admin.get(`/apis/${api.id}/versions/1.0`)).is(200)
  expect(headers.get('link')).toBe(
    `<${version.id}/documents/pets.yaml>; rel="service-desc", <${version.id}/documents/guide.md>; rel="service-doc"`,
  )
  ;(await anonymous.get('/.well-known/api-catalog')).refused(401)
  ;(await anonymous.get(`${path}/guide.md`)).refused(401)
})
