import { createHash, randomUUID } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { type ImportPlan, type JobRecord, type JobResult, Refusal, requests } from '@gantry/contracts'
import type { Dependencies } from '@gantry/service-runtime'
import { hostService } from '@gantry/service-runtime/testing'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { catalogService } from '../app.ts'
import { catalogSettings } from '../settings.ts'

/** The documents that media has: hashes by version and name. */
let stored: Map<string, string>
/** Called before media gives a document to a version. */
let beforeAttach: () => void
beforeEach(() => {
  stored = new Map()
  beforeAttach = () => {}
})

function infoIn(bytes: Buffer) {
  try {
    return JSON.parse(bytes.toString()).info
  } catch {
    throw new Refusal('document-invalid', { detail: 'no JSON', errors: [{ line: 1, message: 'no JSON' }] })
  }
}

/** Answers as media does for documents in JSON, without checking them. */
function answerAsMedia({ peers }: Dependencies['process']) {
  peers.answer(requests.receiveDocument, async ({ gzip }) => {
    const bytes = gunzipSync(Buffer.from(gzip, 'base64'))
    const info = infoIn(bytes)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const { title = null, version = null, description = null } = info
    const about = {
      name: info['x-gantry-name'],
      provider: info['x-providerName'],
      service: info['x-serviceName'],
    }
    return {
      document: {
        ...{
          kind: 'openapi' as const,
          mediaType: 'application/vnd.oai.openapi+json',
          size: bytes.length,
          sha256,
        },
        ...{ title, version, counts: { operations: 0, schemas: 0 }, findings: { errors: 0, warnings: 0 } },
      },
      about: {
        description,
        name: about.name ?? null,
        provider: about.provider ?? null,
        service: about.service ?? null,
      },
    }
  })
  peers.answer(requests.scopesNow, async () => ({ scopes: ['API_WRITE' as const] }))
  peers.answer(requests.attachDocument, async ({ version, document, dryRun }) => {
    beforeAttach()
    const key = `${version}/${document.name}`
    const before = stored.get(key)
    if (!dryRun) stored.set(key, document.sha256)
    const action = before ? ('UPDATE' as const) : ('CREATE' as const)
    return { action: before === document.sha256 ? ('NONE' as const) : action }
  })
}

async function open() {
  const host = await hostService(dependencies => {
    answerAsMedia(dependencies.process)
    return catalogService(dependencies, catalogSettings.parse({}))
  })
  onTestFinished(() => host.close())
  const send = async (info: object, query = '') => {
    const payload = JSON.stringify({ openapi: '3.0.0', info, paths: {} })
    const headers = { 'content-type': 'application/json' }
    const answer = await host.app.inject({ method: 'POST', url: `/apis/import${query}`, payload, headers })
    return { status: answer.statusCode, body: answer.json() }
  }
  /** Imports lines in a job. @returns the job after its end, with its results */
  const sendLines = async (lines: readonly string[], query = '') => {
    const payload = lines.join('\n')
    const headers = { 'content-type': 'application/x-ndjson' }
    const answer = await host.app.inject({ method: 'POST', url: `/apis/import${query}`, payload, headers })
    if (answer.statusCode !== 202) return { refused: answer.json(), results: [] }
    const path = String(answer.headers.location)
    const job: JobRecord = await vi.waitFor(async () => {
      const read = await get(path)
      expect(read.finishedAt).not.toBeNull()
      return read
    })
    const results: JobResult[] = (await get(`${path}/results?size=100`)).content
    return { ...job, results }
  }
  const get = async (path: string) => (await host.app.inject(path)).json()
  const events = async (id: string) =>
    (await host.dependencies.eventStore.readStream(`api-${id}`)).map(({ type }) => type)
  return { host, send, sendLines, get, events }
}

test('an import creates the API, the version and the document; the same again changes nothing', async () => {
  const { send, get, events } = await open()
  const info = { title: 'Pets', version: '1.0', description: 'All pets', 'x-providerName': 'example.com' }
  expect((await send(info, '?dryRun=true')).body satisfies ImportPlan).toMatchObject({
    api: { action: 'CREATE', id: null, name: 'example.com:Pets', displayName: 'Pets' },
    version: { action: 'CREATE', id: null, name: '1.0' },
    document: { action: 'CREATE', name: 'openapi.json', kind: 'openapi' },
  })
  expect((await get('/apis')).totalElements).toBe(0)
  const { status, body } = await send(info)
  expect(status).toBe(201)
  expect(body).toMatchObject({ name: 'example.com:Pets', displayName: 'Pets', description: 'All pets' })
  const [version] = (await get(`/apis/${body.id}/versions`)).content
  expect(version).toMatchObject({ name: '1.0', status: 'ACTIVE' })
  expect([...stored.keys()]).toEqual([`${version.id}/openapi.json`])
  const before = await events(body.id)
  expect(await send(info)).toEqual({ status: 200, body })
  expect(await events(body.id)).toEqual(before)
  expect((await send(info, '?dryRun=true')).body).toMatchObject({
    api: { action: 'NONE', id: body.id },
    version: { action: 'NONE', id: version.id },
    document: { action: 'NONE' },
  })
  const next = { ...info, version: '2.0', title: 'Pets', description: 'More pets' }
  expect((await send(next, '?dryRun=true')).body).toMatchObject({
    api: { action: 'UPDATE' },
    version: { action: 'CREATE' },
    document: { action: 'CREATE' },
  })
  expect((await send(next)).body).toMatchObject({ id: body.id, description: 'More pets' })
  expect(stored.size).toBe(2)
})

test.for([
  [{ title: 'A', 'x-gantry-name': 'own', 'x-providerName': 'p' }, 'own'],
  [{ title: 'A', 'x-providerName': 'p', 'x-serviceName': 's' }, 'p:s'],
  [{ title: 'A', 'x-providerName': 'p' }, 'p:A'],
  [{ title: ' A\n\tB ', 'x-serviceName': 's' }, 'A B'],
  [{ title: '🐾'.repeat(300) }, '🐾'.repeat(255)],
] as const)('the name of %j is %s', async ([info, name]) => {
  const { send } = await open()
  expect((await send(info)).body.name).toBe(name)
})

test.for([
  [{ title: 'A' }, 'unversioned'],
  [{ title: 'A', version: '..' }, 'unversioned'],
  [{ title: 'A', version: ' v\t1 ' }, 'v 1'],
] as const)('the version of %j is %s', async ([info, name]) => {
  const { send, get } = await open()
  const { id } = (await send(info)).body
  expect((await get(`/apis/${id}/versions`)).content).toMatchObject([{ name }])
})

test('a document without a title is refused, and nothing is created', async () => {
  const { send, get } = await open()
  expect(await send({ version: '1.0' })).toMatchObject({ status: 400, body: { code: 'document-invalid' } })
  expect((await get('/apis')).totalElements).toBe(0)
})

test('imports of one API at the same time create it once', async () => {
  const { send, get } = await open()
  const info = { title: 'A', version: '1.0' }
  const answers = await Promise.all([send(info), send({ ...info, version: '2.0' }), send(info)])
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 201])
  const { content } = await get('/apis')
  expect(content).toHaveLength(1)
  expect((await get(`/apis/${content[0].id}/versions`)).totalElements).toBe(2)
  expect(stored.size).toBe(2)
})

test('an import that was interrupted is completed by the next one', async () => {
  const { send, get } = await open()
  beforeAttach = () => {
    throw new Refusal('unavailable')
  }
  const info = { title: randomUUID(), version: '1.0' }
  expect((await send(info)).status).toBe(503)
  beforeAttach = () => {}
  expect((await send(info)).status).toBe(200)
  expect((await get('/apis')).totalElements).toBe(1)
  expect(stored.size).toBe(1)
})

describe('an import of many documents', () => {
  const line = (title: string, version: string) =>
    JSON.stringify({ openapi: '3.0.0', info: { title, version } })

  test('is a job with a result for each line; the same again changes nothing', async () => {
    const { sendLines, get } = await open()
    const lines = [line('A', '1'), '{', '', `{"document": ${line('B', '1')}}`, line('A', '2')]
    lines.push(JSON.stringify({ document: line('A', '2') }))
    const planned = await sendLines(lines, '?dryRun=true')
    expect(planned).toMatchObject({ type: 'IMPORT', total: 5, done: 4, failed: 1 })
    expect((await get('/apis')).totalElements).toBe(0)
    const { results, ...job } = await sendLines(lines)
    expect(job).toMatchObject({ status: 'COMPLETED', total: 5, done: 4, failed: 1 })
    expect(results.map(({ item, status }) => `${item} ${status}`)).toEqual([
      'A CREATED',
      '2 FAILED',
      'B CREATED',
      'A UPDATED',
      'A UNCHANGED',
    ])
    expect(results[1]?.problem).toMatchObject({ code: 'document-invalid', errors: [{ line: 1 }] })
    const again = (await sendLines(lines)).results
    expect(again.filter(({ status }) => status === 'UNCHANGED')).toHaveLength(4)
    expect(stored.size).toBe(3)
  })

  test('continues after an interruption, and says of the interrupted item what it did', async () => {
    const { sendLines, get } = await open()
    let tries = 0
    beforeAttach = () => {
      if (++tries === 1) throw new Refusal('unavailable')
    }
    const { results } = await sendLines([line('A', '1'), line('B', '1')])
    expect(results.map(({ status }) => status)).toEqual(['CREATED', 'CREATED'])
    expect((await get('/apis')).totalElements).toBe(2)
  })

  test('fetches those of URLs, and says why one cannot be fetched', async () => {
    const { host, sendLines } = await open()
    host.dependencies.process.peers.answer(requests.fetchDocument, async ({ url }) => {
      if (url !== 'https://example.com/a')
        throw new Refusal('document-unreachable', { detail: 'answered 404' })
      return { gzip: gzipSync(line('A', '1')).toString('base64') }
    })
    const urls = ['https://example.com/a', 'https://example.com/b', 'x'.repeat(3_000)]
    const { results } = await sendLines(urls.map(url => JSON.stringify({ url })))
    expect(results).toMatchObject([
      { item: 'A', status: 'CREATED' },
      { item: '2', problem: { code: 'document-unreachable', detail: 'answered 404' } },
      { item: '3', problem: { code: 'invalid-request' } },
    ])
  })

  test('of more than 10,000 lines is refused', async () => {
    const { sendLines } = await open()
    const detail = expect.stringContaining('at most 10000 lines, not 10001')
    const { refused } = await sendLines(Array.from({ length: 10_001 }, () => '{}'))
    expect(refused).toMatchObject({ code: 'invalid-request', detail })
  })
})
