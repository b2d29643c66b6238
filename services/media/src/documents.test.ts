import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type DocumentRecord, type PublicEvent, Refusal, requests, subjects } from '@gantry/contracts'
import { folderBlobStore } from '@gantry/embedded'
import { requestRebuild } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import type { Service } from '@gantry/service-runtime'
import { administrator, type Host, type HostOptions, hostService } from '@gantry/service-runtime/testing'
import type { BlobStore } from '@gantry/stores'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { mediaService } from './app.ts'
import { operations } from './document/operations.projection.ts'
import { documentSettings } from './settings.ts'
import { inlineChecker, inlineLinting } from './testing/inline-checker.ts'

const API = '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10'
const VERSION = '2f0a8a57-3c0d-4e42-a8f7-0f3f5a3b9b01'
const OTHER = '3f0a8a57-3c0d-4e42-a8f7-0f3f5a3b9b02'
const THIRD = '4f0a8a57-3c0d-4e42-a8f7-0f3f5a3b9b03'
const openapi = (title: string, ...paths: string[]) =>
  `openapi: 3.0.3\ninfo: {title: ${title}, version: '1'}\npaths:\n${paths.map(path => `  ${path}: {get: {summary: Get ${path}, tags: [t], responses: {200: {description: ok}}}}\n`).join('') || '  {}\n'}`

let host: Host<Service>
let blobs: BlobStore
let clock = '2026-11-21T10:00:00.000Z'
let announced: Message[] = []
let versions = new Map([
  ['v1', VERSION],
  ['v2', OTHER],
])

afterEach(async () => {
  clock = '2026-11-21T10:00:00.000Z'
  announced = []
  versions = new Map([
    ['v1', VERSION],
    ['v2', OTHER],
  ])
  await host.close()
})

/** Media beside a catalog with one API and two versions. */
const open = async (settings: Record<string, string> = {}, options: HostOptions = {}) => {
  host = await hostService(
    (dependencies, folder) => {
      blobs = folderBlobStore({ path: join(folder, 'images') })
      const inline = { checker: inlineChecker, linting: inlineLinting }
      return mediaService({ ...dependencies, blobs }, documentSettings.parse(settings), inline)
    },
    { now: () => new Date(clock), ...options },
  )
  attach()
}
const attach = () => {
  const { peers } = host.dependencies.process
  peers.answer(requests.findVersion, async ({ api, version }) => {
    if (api !== API) throw new Refusal('api-not-found')
    const id = versions.get(version) ?? [...versions.values()].find(known => known === version)
    if (id === undefined) throw new Refusal('version-not-found')
    return { id }
  })
  peers.answer(requests.versionsBefore, async ({ version }) => {
    const ids = [...versions.values()]
    return { ids: ids.slice(0, ids.indexOf(version)).toReversed() }
  })
  peers.answer(requests.react('catalog'), async message => {
    announced.push(message)
    return null
  })
}
const at = async (time: string) => {
  await host.restart(() => {
    clock = time
  })
  attach()
}

const path = (name = '', version = 'v1') => `/apis/${API}/versions/${version}/documents${name && `/${name}`}`
const call = async (
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE',
  url: string,
  headers: Record<string, string> = {},
  payload?: string | Buffer,
) => host.app.inject({ method, url, headers, ...(payload !== undefined && { payload }) })
const put = (name: string, content: string | Buffer, headers: Record<string, string> = {}) =>
  call('PUT', path(name), headers, content)
const names = async (url = path()) =>
  (await call('GET', url))
    .json()
    .content.map(({ name, primary }: DocumentRecord) => (primary ? `${name}*` : name))
const paths = async (query = '') =>
  (await call('GET', `/operations${query}`)).json().content.map(({ path }: { path: string }) => path)
const allKeys = async () => {
  const keys: string[] = []
  for await (const key of blobs.keys()) keys.push(key)
  return keys.toSorted()
}
const stored = async () => (await allKeys()).filter(key => !key.startsWith('derived'))
const sha256 = (content: string) => createHash('sha256').update(content).digest('hex')
const deleted = (type: 'API_DELETED' | 'API_VERSION_DELETED', data: object): Message => {
  const event: PublicEvent = {
    id: '33333333-3333-4333-8333-333333333333',
    type,
    source: 'catalog',
    subject: API,
    revision: 4,
    time: clock,
    data: data as Record<string, unknown>,
    actor: { id: null, name: 'grace' },
    requestId: 'r-1',
  }
  return { id: event.id, subject: subjects.events('catalog', type), data: event as never }
}

describe('a diff', () => {
  const diff = async (name: string, query = '', version = 'v2') =>
    (await call('GET', `${path(name, version)}/diff${query}`)).json()
  const putIn = (version: string, name: string, content: string) =>
    call('PUT', path(name, version), {}, content)
  const removed = [
    {
      pointer: '/paths/~1a/get',
      level: 'BREAKING',
      message: 'the operation GET /a was removed',
      line: 3,
      fromLine: 4,
    },
  ]

  test('tells what changed since the version before that has the document, or since another one', async () => {
    versions = new Map([['v0', THIRD], ...versions])
    await open({}, { start: false })
    await putIn('v0', 'a.yaml', openapi('A', '/a', '/b'))
    await putIn('v0', 'b.yaml', openapi('A', '/b'))
    await putIn('v2', 'a.yaml', openapi('A', '/b'))
    expect(await diff('a.yaml')).toEqual({
      breaking: true,
      changes: removed,
      truncated: false,
      from: { version: THIRD, document: 'a.yaml' },
    })
    await putIn('v1', 'a.yaml', openapi('B', '/b'))
    expect(await diff('a.yaml')).toMatchObject({ breaking: false, changes: [], from: { version: VERSION } })
    expect((await diff('a.yaml', '?from=v0')).changes).toEqual(removed)
    expect((await diff('a.yaml', `?from=${THIRD}&fromDocument=b.yaml`)).changes).toEqual([])
    expect((await diff('a.yaml', '?from=v2')).breaking).toBe(false)
  })

  test('tells receivers of events whether the version before breaks', async () => {
    versions = new Map([['v0', THIRD], ...versions])
    await open({}, { start: false })
    await putIn('v1', 'a.yaml', openapi('A', '/a'))
    await putIn('v0', 'a.yaml', openapi('A', '/a', '/b'))
    await putIn('v1', 'a.yaml', openapi('B', '/a'))
    await putIn('v2', 'a.yaml', openapi('C', '/a', '/c'))
    await putIn('v2', 'a.yaml', '# A text')
    await putIn('v2', 'a.yaml', openapi('C', '/c'))
    await call('PUT', `${path('a.yaml', 'v2')}?primary=true`, {}, openapi('C', '/a'))
    await blobs.delete(sha256(openapi('B', '/a')))
    await putIn('v2', 'a.yaml', openapi('D', '/a'))
    await call('DELETE', path('a.yaml', 'v2'))
    const told = announced.map(({ data }) => (data as unknown as PublicEvent).data.breaking)
    expect(told).toEqual([null, null, true, false, null, true, false, null, null])
  })

  test('needs both documents, and that they can be read', async () => {
    await open({}, { start: false })
    const before = openapi('A', '/a')
    await putIn('v1', 'a.yaml', before)
    await putIn('v2', 'a.yaml', openapi('A', '/b'))
    expect([
      await diff('a.yaml', '?from=v9'),
      await diff('a.yaml', '?fromDocument=b.yaml'),
      await diff('b.yaml'),
      await diff('a.yaml', '', 'v1'),
    ]).toMatchObject(
      ['version-not-found', 'document-not-found', 'document-not-found', 'document-not-found'].map(code => ({
        status: 404,
        code,
      })),
    )
    // An earlier release stored what this one cannot read.
    await blobs.delete(sha256(before))
    await blobs.put(sha256(before), Buffer.from('openapi: ['))
    expect(await diff('a.yaml')).toMatchObject({ status: 400, code: 'document-invalid' })
  })
})

describe('a document', () => {
  test('is told by its content, comes out as it went in, and is announced once it is stored', async () => {
    await open()
    const content = `${openapi('Pets', '/pets', '/cats')}tags: [{}]\n`
    const made = await put('api.yaml', content, { 'content-type': 'text/html' })
    expect([made.statusCode, made.headers.location]).toEqual([201, path('api.yaml', VERSION)])
    const { score, ...record } = made.json()
    expect(score).toBeNull()
    expect(record).toEqual({
      name: 'api.yaml',
      kind: 'openapi',
      mediaType: 'application/vnd.oai.openapi+yaml;version=3.0',
      size: content.length,
      sha256: sha256(content),
      primary: true,
      title: 'Pets',
      version: '1',
      counts: { operations: 2, schemas: 0 },
      findings: { errors: 1, warnings: 0 },
      createdAt: clock,
      updatedAt: clock,
      updatedBy: '22222222-2222-4222-8222-222222222222',
    })
    expect(announced.map(({ subject, data }) => [subject, (data as unknown as PublicEvent).data])).toEqual([
      [
        'events.media.API_VERSION_DOCUMENT_UPDATED',
        { ...record, api: API, apiVersion: VERSION, breaking: null },
      ],
    ])
    const read = await call('GET', path('api.yaml'))
    expect(read.body).toBe(content)
    expect(read.headers).toMatchObject({
      'content-type': 'application/vnd.oai.openapi+yaml;version=3.0',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      etag: `"${sha256(content)}"`,
    })
    expect(
      (await call('GET', path('api.yaml'), { 'if-none-match': String(read.headers.etag) })).statusCode,
    ).toBe(304)
    expect((await call('HEAD', path('api.yaml', VERSION))).headers['content-length']).toBe(
      String(content.length),
    )
    const findings = (await call('GET', `${path('api.yaml')}/findings`)).json()
    expect(findings.content).toMatchObject([
      {
        severity: 'ERROR',
        code: 'schema-violation',
        message: "must have required property 'name'",
        line: 6,
        column: 8,
        pointer: '/tags/0',
      },
    ])
  })

  test.for([32_768, 65_536, 65_537, 700_000])(
    'of %i bytes is stored as a whole, and sent in pieces',
    async size => {
      await open({}, { start: false })
      const content = Buffer.alloc(size, 'äöü')
      expect((await put('a.txt', content)).statusCode).toBe(201)
      expect((await call('GET', path('a.txt'))).rawPayload.equals(content)).toBe(true)
    },
  )

  test('is sent in ranges, unless its content has changed', async () => {
    await open({}, { start: false })
    const tag = String((await put('a.txt', '0123456789')).headers.etag)
    const range = async (range: string, more: Record<string, string> = {}) => {
      const { statusCode, headers, body } = await call('GET', path('a.txt'), { range, ...more })
      return [statusCode, headers['content-range'], body]
    }
    expect(await range('bytes=2-4')).toEqual([206, 'bytes 2-4/10', '234'])
    expect(await range('bytes=7-')).toEqual([206, 'bytes 7-9/10', '789'])
    expect(await range('bytes=-3')).toEqual([206, 'bytes 7-9/10', '789'])
    expect(await range('bytes=8-99', { 'if-range': tag })).toEqual([206, 'bytes 8-9/10', '89'])
    expect(await range('bytes=8-99', { 'if-range': '"x"' })).toEqual([200, undefined, '0123456789'])
    expect((await range('bytes=10-')).slice(0, 2)).toEqual([416, 'bytes */10'])
    expect(await range('bytes=0-1,3-4')).toEqual([200, undefined, '0123456789'])
    const { statusCode, headers } = await call('HEAD', path('a.txt'), { range: 'bytes=2-4' })
    expect([statusCode, headers['content-length'], headers['content-range']]).toEqual([200, '10', undefined])
  })

  test('is changed under conditions, and a repetition changes nothing', async () => {
    await open({}, { start: false })
    const tag = String((await put('a.txt', 'one')).headers.etag)
    await put('c.txt', 'other')
    expect((await put('a.txt', 'one')).statusCode).toBe(200)
    expect(await host.dependencies.eventStore.readStream(`documents-${API}`)).toHaveLength(2)
    // The first announcement may be lost.
    expect(announced.map(({ id }) => id)).toEqual([0, 1, 0].map(index => announced[index]?.id))
    expect((await put('a.txt', 'two', { 'if-none-match': '*' })).statusCode).toBe(412)
    expect((await put('a.txt', 'two', { 'if-match': '"x"' })).statusCode).toBe(412)
    expect((await put('b.txt', 'two', { 'if-match': '*' })).statusCode).toBe(412)
    expect((await put('a.txt', 'two', { 'if-match': tag })).statusCode).toBe(200)
    expect((await call('DELETE', path('a.txt'), { 'if-match': tag })).statusCode).toBe(412)
    expect((await call('DELETE', path('a.txt'))).statusCode).toBe(204)
    expect((await call('DELETE', path('a.txt'))).statusCode).toBe(404)
    expect((await call('GET', path('a.txt'))).json().code).toBe('document-not-found')
    expect((await call('GET', path('a.txt', 'v3'))).json().code).toBe('version-not-found')
  })

  test('is created by one of the uploads at the same time', async () => {
    await open({}, { start: false })
    const all = await Promise.all(Array.from({ length: 10 }, (_, n) => put('a.txt', `${n}`)))
    expect(all.map(({ statusCode }) => statusCode).toSorted()).toEqual([...Array(9).fill(200), 201])
  })

  test('whose condition or place fails is refused before it is read', async () => {
    await open({ MAX_DOCUMENTS_PER_VERSION: '1' }, { start: false })
    await put('a.txt', 'one')
    const unread = async (name: string, headers = {}) => (await put(name, '', headers)).json().code
    expect(await unread('a.txt', { 'if-match': '"x"' })).toBe('precondition-failed')
    expect(await unread('a.txt', { 'if-none-match': '*' })).toBe('precondition-failed')
    expect(await unread('b.txt')).toBe('too-many-documents')
    expect(await unread('a.txt')).toBe('document-invalid')
  })

  test('may be compressed; too large or invalid ones are refused, and nothing of them is stored', async () => {
    await open({ DOCUMENTS_STRICT: 'true' }, { start: false })
    const gzip = { 'content-encoding': 'gzip' }
    const plain = await put('a.txt', gzipSync('plain'), { 'content-encoding': 'GZIP' })
    expect(plain.json().sha256).toBe(sha256('plain'))
    const kept = await stored()
    expect((await put('b.txt', gzipSync(Buffer.alloc(21 * 1_048_576)), gzip)).statusCode).toBe(413)
    expect((await put('b.txt', 'not gzip', gzip)).json().code).toBe('malformed-request')
    expect((await put('b.txt', 'x', { 'content-encoding': 'br' })).statusCode).toBe(415)
    expect((await put('b.txt', '')).json().code).toBe('document-invalid')
    const invalid = (await put('b.yaml', 'openapi: 3.0.3\npaths: {\n')).json()
    expect(invalid).toMatchObject({ status: 400, code: 'document-invalid' })
    expect(invalid.errors).toMatchObject([{ line: 3, pointer: null }])
    expect(
      (await put('c.yaml', 'openapi: 3.0.3\ninfo: {title: 7, version: x}\npaths: {}')).json().errors,
    ).toEqual([{ line: 2, column: 8, pointer: '/info/title', message: 'must be string' }])
    expect((await call('PUT', `${path('d.txt')}?kind=openapi`, {}, 'text')).json().detail).toContain(
      'not openapi',
    )
    expect(await stored()).toEqual(kept)
    expect(await names()).toEqual(['a.txt*'])
  })

  test('is primary if it is the first or said to be; the oldest other one takes its place', async () => {
    await open({ MAX_DOCUMENTS_PER_VERSION: '3' }, { start: false })
    for (const name of ['c', 'b', 'a']) await put(name, name)
    expect((await put('d', 'd')).json().code).toBe('too-many-documents')
    expect(await names()).toEqual(['a', 'b', 'c*'])
    await call('PUT', `${path('a')}?primary=true`, {}, 'a')
    expect(await names()).toEqual(['a*', 'b', 'c'])
    await call('DELETE', path('a'))
    expect(await names()).toEqual(['b', 'c*'])
  })
})

describe('operations', () => {
  test('can be found as soon as the document is answered, and follow it', async () => {
    await open()
    const rows = host.dependencies.readModels.collection(operations)
    await put('api.yaml', openapi('Pets', '/pets', '/cats', '/dogs'))
    await call('PUT', path('other.yaml', 'v2'), {}, openapi('Birds', '/birds'))
    expect(await paths()).toEqual(['/birds', '/cats', '/dogs', '/pets'])
    expect(await paths('?q=GET%20pet&method=get&tag=t&deprecated=false')).toEqual(['/pets'])
    const ofVersion = (await call('GET', `/apis/${API}/versions/v2/operations`)).json()
    expect(ofVersion.content).toEqual([
      {
        api: API,
        version: OTHER,
        document: 'other.yaml',
        method: 'GET',
        path: '/birds',
        operationId: null,
        summary: 'Get /birds',
        tags: ['t'],
        deprecated: false,
      },
    ])
    // An extraction may have found more than the events count.
    const { doc } = (await rows.get(`${VERSION}/api.yaml/2`)) ?? {}
    if (doc) await rows.put({ ...doc, id: `${VERSION}/api.yaml/203` }, 0)
    await put('api.yaml', openapi('Pets', '/fish'))
    expect(await paths()).toEqual(['/birds', '/fish'])
    await call('DELETE', path('other.yaml', 'v2'))
    expect(await paths()).toEqual(['/fish'])
  })

  test('are made again from the stored bytes, once these can be checked', async () => {
    await open()
    await put('api.yaml', openapi('Pets', '/pets'))
    const derived = async () => (await allKeys()).filter(key => key.startsWith('derived-2'))
    const [key = ''] = await derived()
    await blobs.delete(key)
    const check = vi.spyOn(inlineChecker, 'check').mockRejectedValue(new Refusal('too-many-checks'))
    const scopes = administrator.scopes.filter(scope => scope !== 'READ_GOVERNANCE_DATA')
    host.actAs({ ...administrator, scopes })
    const findings = async () => call('GET', `${path('api.yaml')}/findings`)
    expect((await findings()).json().code).toBe('too-many-checks')
    check.mockReset().mockRejectedValueOnce(new Refusal('too-many-checks'))
    await requestRebuild('media.operations', host.dependencies.readModels, 'r-1')
    await vi.waitFor(async () => expect(await derived()).toEqual([key]), 20_000)
    await vi.waitFor(async () => expect(await paths()).toEqual(['/pets']))
    expect((await findings()).json().totalElements).toBe(0)
    for (const lost of await allKeys()) await blobs.delete(lost)
    expect((await findings()).statusCode).toBe(500)
  })
})

describe('the deletion', () => {
  test('of a version or an API removes its documents, and prevents further ones', async () => {
    await open()
    await put('a.yaml', openapi('A', '/a'))
    await call('PUT', path('b.yaml', 'v2'), {}, openapi('B', '/b'))
    await host.dependencies.bus.publish([deleted('API_VERSION_DELETED', { id: VERSION })])
    await vi.waitFor(async () => expect(await paths()).toEqual(['/b']))
    expect(await names()).toEqual([])
    expect((await put('a.yaml', 'x')).json().code).toBe('version-not-found')
    const gone = { ...deleted('API_DELETED', {}), id: '44444444-4444-4444-8444-444444444444' }
    await host.dependencies.bus.publish([gone])
    await vi.waitFor(async () => expect(await paths()).toEqual([]))
    expect(await names(path('', 'v2'))).toEqual([])
    expect((await call('PUT', path('b.yaml', 'v2'), {}, 'x')).json().code).toBe('api-not-found')
  })
})

describe('bytes', () => {
  test('of replaced documents answer requests of their time until the retention ends', async () => {
    await open({ DOCUMENT_RETENTION: '2h' })
    await put('a.txt', 'one')
    await put('same.txt', 'same')
    await at('2026-11-21T11:30:00.000Z')
    await put('a.txt', 'two')
    await call('DELETE', path('same.txt'))
    const then = `${path('a.txt')}?at=2026-11-21T11:00:00Z`
    await at('2026-11-21T13:00:00.000Z')
    expect((await call('GET', then)).body).toBe('one')
    expect(await names(`${path()}?at=2026-11-21T11:00:00Z`)).toEqual(['a.txt*', 'same.txt'])
    await at('2026-11-21T14:10:00.000Z')
    const gone = (await call('GET', then)).json()
    expect([gone.status, gone.code, gone.sha256]).toEqual([410, 'document-gone', sha256('one')])
    const aside = [`aside-${sha256('one')}`, `aside-${sha256('same')}`]
    await vi.waitFor(async () => expect(await stored()).toEqual([sha256('two'), ...aside].toSorted()))
    await at('2026-11-21T15:20:00.000Z')
    await vi.waitFor(async () => expect(await stored()).toEqual([sha256('two')]))
    expect((await call('GET', `${path('a.txt')}?at=2026-11-21T12:00:00Z`)).body).toBe('two')
    await blobs.delete(sha256('two'))
    for (const query of ['', '?at=2026-11-21T12:00:00Z'])
      expect((await call('GET', path('a.txt') + query)).statusCode).toBe(500)
  })
})
