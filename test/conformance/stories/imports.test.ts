import { gzipSync } from 'node:zlib'
import type { ImportPlan } from '@gantry/contracts'
import { describe, expect, test } from 'vitest'
import type { Body } from '../src/client.ts'
import { admin, cleanUp, eventually, unique } from '../src/gantry.ts'
import type { Api, Job, JobResult, Page, Version } from '../src/records.ts'

const documentOf = (title: string, version = '1.0') =>
  `openapi: 3.1.0\ninfo: {title: ${title}, version: '${version}', description: All of them}\npaths:\n  /a: {get: {summary: Read}}\n`
const send = (body: Body, query = {}, headers = {}) =>
  admin.post('/apis/import', undefined, { body, query, headers })
const created = async (body: Body, headers = {}) => {
  const answer = await send(body, {}, headers)
  const api = answer.as<Api>(201)
  expect(answer.headers.get('location')).toContain(`/apis/${api.id}`)
  cleanUp(`/apis/${api.id}`)
  return api
}

describe.concurrent('an import', () => {
  test('creates API, version and document, as its plan says; the same again changes nothing', async () => {
    const title = unique('imported')
    const plan = (await send(documentOf(title), { dryRun: true })).as<ImportPlan>(200)
    expect(plan.api).toEqual({ action: 'CREATE', id: null, name: title, displayName: title })
    const api = await created(documentOf(title))
    expect(api).toMatchObject({
      name: title,
      displayName: title,
      description: 'All of them',
      status: 'ACTIVE',
    })
    const { content } = (await admin.get(`/apis/${api.id}/versions`)).as<Page<Version>>(200)
    expect(content).toMatchObject([{ name: '1.0' }])
    const path = `/apis/${api.id}/versions/1.0/documents/openapi.yaml`
    expect((await admin.get(path)).is(200).text).toBe(documentOf(title))
    const operations = (await admin.get(`/apis/${api.id}/versions/1.0/operations`)).as<Page<object>>(200)
    expect(operations.content).toMatchObject([{ method: 'GET', path: '/a', summary: 'Read' }])

    expect((await send(documentOf(title))).as<Api>(200)).toEqual(api)
    const again = (await send(documentOf(title), { dryRun: true })).as<ImportPlan>(200)
    const { api: of, version, document } = again
    expect([of, version, document].map(({ action }) => action)).toEqual(['NONE', 'NONE', 'NONE'])
    expect((await send(documentOf(title, '2.0'))).as<Api>(200).id).toBe(api.id)
    const versions = (await admin.get(`/apis/${api.id}/versions`)).as<Page<Version>>(200)
    expect(versions.content.map(({ name }) => name)).toEqual(['1.0', '2.0'])
  })

  test('takes a compressed document, and names the API by x-gantry-name or the provider', async () => {
    const name = unique('imported')
    const named = JSON.stringify({
      openapi: '3.0.3',
      info: { title: 'A', version: '1', 'x-gantry-name': name },
      paths: {},
    })
    const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
    expect(await created(gzipSync(named), headers)).toMatchObject({ name, displayName: 'A' })
    const provided = JSON.stringify({
      asyncapi: '3.0.0',
      info: { title: 'B', version: '1', 'x-providerName': name },
    })
    expect(await created(provided)).toMatchObject({ name: `${name}:B`, displayName: 'B' })
  })

  test('of a document that is broken or names no API is refused, with the place', async () => {
    const { errors } = (await send('openapi: 3.1.0\ninfo: {')).refused(400, 'document-invalid')
    expect(errors).toMatchObject([{ line: expect.any(Number) }])
    expect((await send('{nope')).refused(400, 'document-invalid').errors).toMatchObject([{ line: 1 }])
    ;(await send('type Query { a: Int }')).refused(400, 'document-invalid')
    ;(await send('# A title\n')).refused(400, 'document-invalid')
    ;(await send('')).refused(400, 'document-invalid')
    ;(await send('no gzip', {}, { 'content-encoding': 'gzip' })).refused(400, 'malformed-request')
    ;(await send('x', {}, { 'content-encoding': 'br' })).refused(415, 'unsupported-media-type')
  })

  test('of many documents is a job with a result for each line', async () => {
    const title = unique('imported')
    const lines = [
      JSON.stringify({ document: documentOf(title) }),
      JSON.stringify({ openapi: '3.1.0', info: { title, version: '2.0' }, paths: {} }),
      'no document',
    ].join('\n')
    const headers = { 'content-type': 'application/x-ndjson' }
    const job = (await send(lines, {}, headers)).as<Job>(202)
    await eventually(async () => {
      const read = (await admin.get(`/jobs/${job.id}`)).as<Job>(200)
      expect(read).toMatchObject({ type: 'IMPORT', status: 'COMPLETED', done: 2, failed: 1 })
    })
    const { content } = (await admin.get(`/jobs/${job.id}/results`)).as<Page<JobResult>>(200)
    cleanUp(`/apis/${content[0]?.api}`)
    expect(content.map(({ status }) => status)).toEqual(['CREATED', 'UPDATED', 'FAILED'])
  })
})

test('an import with an Idempotency-Key answers the first response again, and starts one job', async () => {
  const keyed = () => ({ 'idempotency-key': unique('key'), 'content-type': 'application/yaml' })
  const [title, headers] = [unique('imported'), keyed()]
  const api = await created(documentOf(title), headers)
  const again = await send(documentOf(title), {}, headers)
  expect([again.as<Api>(201), again.headers.get('idempotency-replayed')]).toEqual([api, 'true'])
  ;(await send(documentOf(title, '2.0'), {}, headers)).refused(422, 'idempotency-key-reused')
  const many = { ...keyed(), 'content-type': 'application/x-ndjson' }
  const line = JSON.stringify({ document: documentOf(title) })
  const { id } = (await send(line, {}, many)).as<Job>(202)
  expect((await send(line, {}, many)).as<Job>(202).id).toBe(id)
  ;(await send(line, {}, { ...many, 'content-type': 'application/json' })).refused(422)
  await eventually(async () =>
    expect((await admin.get(`/jobs/${id}`)).as<Job>(200)).toMatchObject({ done: 1 }),
  )
})
