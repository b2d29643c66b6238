import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { gantryClient, logIn } from './client.ts'
import { VALUES } from './operations.generated.ts'
import { ConnectionError, ProblemError } from './problem.ts'
import type { ClientOptions } from './transport.ts'

interface Seen {
  line: string
  headers: IncomingMessage['headers']
  body: string
}

/** A service that answers each request with the next of the answers, and the last one repeatedly. */
async function service(...answers: ((response: ServerResponse, request: IncomingMessage) => unknown)[]) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const answer = answers[Math.min(seen.length, answers.length - 1)]
    seen.push({
      line: `${request.method} ${request.url}`,
      headers: request.headers,
      body: await text(request),
    })
    answer?.(response, request)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`
  const client = (options: Partial<ClientOptions> = {}) =>
    gantryClient({ baseUrl, token: 'pat_1', ...options })
  return { seen, baseUrl, client, lines: () => seen.map(({ line }) => line) }
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(body === undefined ? '' : JSON.stringify(body))
const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  json(status, { status, code, title: code, detail: `${code}.`, requestId: 'r-1' }, headers)
const cut = (response: ServerResponse) => response.destroy()
const page = (content: unknown[], last: boolean) => json(200, { content, last })
const NOW = { 'retry-after': '0' }

test('an operation sends its parameters, body and token, and answers with status, body and entity tag', async () => {
  const { client, seen } = await service(json(200, { id: '1' }, { etag: '"7"' }))
  const result = await client().updateApi(
    { api_id: 'a/b', body: { name: 'n', displayName: 'N', status: 'ACTIVE', tags: [] } },
    { ifMatch: '"6"', headers: { 'x-request-id': 'r' } },
  )
  expect(result).toMatchObject({ status: 200, body: { id: '1' }, etag: '"7"' })
  expect(seen[0]).toMatchObject({
    line: 'PUT /base/apis/a%2Fb',
    headers: {
      authorization: 'Bearer pat_1',
      'content-type': 'application/json',
      'if-match': '"6"',
      'x-request-id': 'r',
    },
    body: '{"name":"n","displayName":"N","status":"ACTIVE","tags":[]}',
  })
})

test('query parameters with several values are repeated, and those without a value are left out', async () => {
  const { client, lines } = await service(page([], true))
  await client().listApis({ tags: ['a b', 'c'], deployed: true, text: undefined })
  expect(lines()).toEqual(['GET /base/apis?tags=a+b&tags=c&deployed=true'])
})

test('a record that has not changed is the status 304', async () => {
  const { client, seen } = await service(response => response.writeHead(304, { etag: '"7"' }).end())
  const result = await client().getApi({ api_id: '1' }, { ifNoneMatch: '"7"' })
  expect(result).toMatchObject({ status: 304, body: undefined, etag: '"7"' })
  expect(seen[0]?.headers['if-none-match']).toBe('"7"')
})

test('a function gives the token of each attempt', async () => {
  const { client, seen } = await service(problem(429, 'too-many-requests', NOW), json(200, {}))
  let number = 0
  await client({ token: async () => `${number ? 'Bearer ' : ''}t-${++number}` }).getSession()
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer t-1', 'Bearer t-2'])
})

test('a login gives the token of the Authorization header', async () => {
  const { baseUrl, seen } = await service(json(200, {}, { authorization: 'Bearer ey' }))
  expect(await logIn({ baseUrl, username: 'ada', password: 'secret' })).toBe('ey')
  expect(seen[0]?.body).toBe('{"username":"ada","password":"secret"}')
})

test('a refusal is an error with the members of the problem', async () => {
  const errors = [{ field: 'name', message: 'is required' }]
  const { client } = await service(
    json(400, { status: 400, code: 'invalid-request', title: 'T', detail: 'D', requestId: 'r-1', errors }),
  )
  const failure = await client()
    .getApi({ api_id: '1' })
    .catch(error => error)
  expect(failure).toBeInstanceOf(ProblemError)
  expect(failure).toMatchObject({
    message: '400 invalid-request D',
    status: 400,
    code: 'invalid-request',
    title: 'T',
    detail: 'D',
    requestId: 'r-1',
    errors,
  })
})

test.for([200, 404])('a page of a proxy with the status %i is no response of the service', async status => {
  const { client } = await service(response => response.writeHead(status).end('<html>'))
  await expect(client().getApi({ api_id: '1' })).rejects.toMatchObject({ status, code: 'invalid-response' })
})

describe('a request is sent again', () => {
  const retried = async (first: Parameters<typeof service>[0], call: (of: Client) => Promise<unknown>) => {
    const { client, seen } = await service(first, json(200, {}))
    vi.spyOn(Math, 'random').mockReturnValue(1)
    onTestFinished(() => void vi.restoreAllMocks())
    const outcome = await call(client()).then(
      () => 'sent again',
      () => 'failed',
    )
    return seen.length === 2 ? outcome : `${outcome} at once`
  }
  type Client = ReturnType<typeof gantryClient>
  const id = { api_id: '1' }
  const body = { name: 'n', displayName: 'N', status: 'ACTIVE' as const, tags: [] }
  const CALLS: Record<string, (of: Client) => Promise<unknown>> = {
    GET: of => of.getApi(id),
    'POST with a key': of => of.createApi({ body }),
    'POST without a key': of => of.restoreApi({ ...id, body: { at: '' } }),
    PUT: of => of.updateApi({ ...id, body }),
    'PUT with If-Match': of => of.updateApi({ ...id, body }, { ifMatch: '"1"' }),
    'PUT of a password': of => of.changePassword({ body: { password: 'a', newPassword: 'b' } }),
    DELETE: of => of.deleteApi(id),
    'a stream': of => of.importApi({ body: new Blob(['{}']).stream() }),
    'a stream of a function': of => of.importApi({ body: () => new Blob(['{}']).stream() }),
  }
  const SAFE = ['GET', 'POST with a key', 'PUT', 'a stream of a function']
  const ONCE = ['a stream']

  test.for(Object.keys(CALLS))('after a broken connection only if that is safe: %s', async name => {
    const call = CALLS[name] as (typeof CALLS)['GET']
    expect(await retried(cut, call)).toBe(SAFE.includes(name) ? 'sent again' : 'failed at once')
    const unavailable = problem(503, 'unavailable', NOW)
    expect(await retried(unavailable, call)).toBe(SAFE.includes(name) ? 'sent again' : 'failed at once')
  })
  test.for(Object.keys(CALLS))('after a refusal for the moment: %s', async name => {
    const call = CALLS[name] as (typeof CALLS)['GET']
    const expected = ONCE.includes(name) ? 'failed at once' : 'sent again'
    expect(await retried(problem(429, 'too-many-requests', NOW), call)).toBe(expected)
    expect(await retried(problem(503, 'not-ready', NOW), call)).toBe(expected)
    expect(await retried(problem(409, 'write-conflict', NOW), call)).toBe('failed at once')
  })
})

test('all attempts of a request have the same Idempotency-Key, and each request another one', async () => {
  const { client, seen } = await service(
    problem(409, 'request-in-progress', NOW),
    problem(503, 'unavailable', NOW),
    json(201, {}),
  )
  const body = { name: 'n', displayName: 'N', status: 'ACTIVE' as const, tags: [] }
  await client().createApi({ body })
  await client().createApi({ body })
  await client().createApi({ body }, { idempotencyKey: 'mine' })
  const keys = seen.map(({ headers }) => headers['idempotency-key'])
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
  expect(keys.slice(1, 3)).toEqual([keys[0], keys[0]])
  expect(keys[3]).not.toBe(keys[0])
  expect(keys[4]).toBe('mine')
})

describe('pauses between attempts', () => {
  /** Calls with a service that always answers with a status. @returns the pauses, and how the call ended */
  const pauses = async (headers: Record<string, string>, options: Partial<ClientOptions> = {}) => {
    vi.useFakeTimers()
    vi.spyOn(Math, 'random').mockReturnValue(0)
    onTestFinished(() => {
      vi.useRealTimers()
      vi.restoreAllMocks()
    })
    const times: number[] = []
    const fetch = async () => {
      times.push(Date.now())
      return new Response(JSON.stringify({ code: 'too-many-requests', status: 429 }), {
        status: 429,
        headers,
      })
    }
    const call = gantryClient({ baseUrl: '', fetch, ...options }).getSession()
    const ended = expect(call).rejects.toMatchObject({ code: 'too-many-requests' })
    await vi.runAllTimersAsync()
    await ended
    return times.slice(1).map((time, index) => time - (times[index] ?? 0))
  }

  test('double, and are bounded in number', async () => {
    expect(await pauses({})).toEqual([500, 1_000, 2_000, 4_000])
    expect(await pauses({}, { retries: 0 })).toEqual([])
  })
  test('are those of Retry-After, up to the longest pause', async () => {
    expect(await pauses({ 'retry-after': '7' }, { retries: 2 })).toEqual([7_000, 7_000])
    const date = new Date(Date.now() + 5_000).toUTCString()
    expect((await pauses({ 'retry-after': date }, { retries: 1 }))[0]).toBeGreaterThan(3_000)
    expect(await pauses({ 'retry-after': '61' })).toEqual([])
  })
})

test('an abort ends the pause and the request', async () => {
  const { client, seen } = await service(problem(429, 'too-many-requests', { 'retry-after': '50' }))
  const stopping = new AbortController()
  const call = client().getSession({}, { signal: stopping.signal })
  const ended = expect(call).rejects.toThrow('enough')
  await vi.waitFor(() => expect(seen).toHaveLength(1))
  stopping.abort(new Error('enough'))
  await ended
})

test('items of a list are those of all pages, which are read when they are needed', async () => {
  const { client, lines } = await service(page([{ id: '1' }, { id: '2' }], false), page([{ id: '3' }], true))
  const seen: string[] = []
  for await (const { id } of client().listApis.all({ tags: ['a'] })) {
    seen.push(id)
    if (id === '2') expect(lines()).toHaveLength(1)
  }
  expect(seen).toEqual(['1', '2', '3'])
  expect(lines()).toEqual(['GET /base/apis?size=100&tags=a&page=1', 'GET /base/apis?size=100&tags=a&page=2'])
  expect(await client().listApis.all({ size: 5 }).toArray()).toEqual([{ id: '3' }])
})

describe('content', () => {
  test('is uploaded from a stream, and downloaded as one', async () => {
    const { client, seen } = await service(json(201, {}), response => {
      response.write('first,')
      response.end('second')
    })
    const document = { api_id: '1', version_id: '2', name: 'a.yaml' }
    const body = new Blob(['openapi: 3.1.0']).stream()
    await client().putDocument({ ...document, body }, { contentType: 'application/yaml' })
    expect(seen[0]).toMatchObject({
      line: 'PUT /base/apis/1/versions/2/documents/a.yaml',
      headers: { 'content-type': 'application/yaml' },
      body: 'openapi: 3.1.0',
    })
    const downloaded = await client().downloadDocument(document, { headers: { range: 'bytes=0-' } })
    expect(await new Response(downloaded.body).text()).toBe('first,second')
  })
  test.for([
    new TextEncoder().encode('<svg/>'),
    new Blob(['<svg/>']),
    new Blob(['<svg/>']).stream(),
    () => new Blob(['<svg/>']).stream(),
  ])('of an image is sent as a form: %o', async body => {
    const { client, seen } = await service(json(200, {}))
    await client().uploadImage({ api_id: '1', body })
    expect(seen[0]?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
    expect(seen[0]?.body).toContain('name="file"; filename="file"')
    expect(seen[0]?.body).toContain('<svg/>')
  })
})

test('the types accept what an operation accepts', () => {
  const check = (client: ReturnType<typeof gantryClient>) => [
    client.listApis(),
    client.getApi({ api_id: '' }).then(({ body }) => body.name),
    // @ts-expect-error the id of the API is required
    client.getApi(),
    // @ts-expect-error the operation does not replace a record
    client.listApis({}, { ifMatch: '' }),
    client.getApi({ api_id: '' }, { ifNoneMatch: '' }).then(result => {
      // @ts-expect-error the body is absent with the status 304
      result.body.name
      return result.status === 200 && result.body.name
    }),
    // @ts-expect-error the operation is no list
    client.getApi.all,
    client.listApis({ sort: ['name', 'createdAt,desc'] }),
    // @ts-expect-error there is no such property
    client.listApis({ sort: ['nmae,asc'] }),
    // @ts-expect-error users have other properties than APIs
    client.listUsers.all({ sort: ['platformType,asc'] }),
    // @ts-expect-error there is no such order
    client.listApis({ sort: ['name,down'] }),
    client.importApi({ body: '' }).then(result => result.status !== 202 && result.body.displayName),
    client.importApi({ body: '', dryRun: true }).then(({ status, body }) => status === 200 && body.findings),
    // @ts-expect-error there is no such scope
    client.createAccessToken({ body: { name: '', scopes: ['API_REED'] } }),
    client.createAccessToken({
      body: { name: '', scopes: VALUES.Scope.filter(scope => `${scope}` === 'x') },
    }),
    client.createAccessToken({ body: { name: '', scopes: [] } }).then(({ body }) => {
      // @ts-expect-error the secret may be withheld
      body.token.length
      return body.secretWithheld ? body.id : body.token.length
    }),
  ]
  expect(check).toBeTypeOf('function')
})

test('the types of an event follow from its type', () => {
  const webhook = { displayName: '', url: '', active: true }
  const check = async function* (client: ReturnType<typeof gantryClient>) {
    // @ts-expect-error there is no such type
    yield client.followEvents({ type: ['API_CREATD'] })
    // @ts-expect-error there is no such type
    yield client.createWebhook({ body: { ...webhook, eventTypes: ['API_CREATD'] } })
    for await (const event of client.followEvents()) {
      // @ts-expect-error not all events have the data of an API
      yield event.data.displayName
      if (event.type === 'API_DEPLOYED') yield event.data.api.displayName
    }
    for await (const event of client.followEvents({ type: ['API_CREATED', 'API_UPDATED'] }))
      yield event.data.displayName
    for await (const { eventType, payload } of client.listDeliveries.all({ eventType: 'TEST' })) {
      if (payload === null) yield eventType
      else if (Array.isArray(payload)) yield payload[0].specversion
      else if ('specversion' in payload) yield payload.specversion
      else if (payload.type === 'API_CREATED') yield payload.data.displayName
    }
  }
  expect(check).toBeTypeOf('function')
})

test('without a complete response the error names the request and the code of the system', async () => {
  const { client, baseUrl } = await service(cut)
  const lost = client({ retries: 1 }).getApi({ api_id: '1' })
  await expect(lost).rejects.toBeInstanceOf(ConnectionError)
  await expect(lost).rejects.toThrow(`GET ${baseUrl}apis/1: fetch failed (UND_ERR_SOCKET)`)
  const ended = createServer().listen(0, '127.0.0.1')
  await once(ended, 'listening')
  const url = `http://127.0.0.1:${(ended.address() as AddressInfo).port}`
  await promisify(ended.close.bind(ended))()
  const away = gantryClient({ baseUrl: url, retries: 0 }).listApis()
  await expect(away).rejects.toThrow(`GET ${url}/apis: fetch failed (ECONNREFUSED)`)
})

describe('the URL of the service', () => {
  const refused = (baseUrl: unknown) =>
    expect(() => gantryClient({ baseUrl: baseUrl as string })).toThrow(
      /^baseUrl must be an http or https URL/,
    )
  test.for([
    '127.0.0.1:4320',
    'localhost:8080',
    'ftp://a.example',
    'https://',
    'https://u:p@a.example',
    '',
    '/gantry',
  ])('is refused before any request: %s', refused)
  test('is refused if it is absent', () => refused(undefined))
  test.for(['', '/gantry'])('can be a path on a page: "%s"', baseUrl => {
    vi.stubGlobal('location', {})
    onTestFinished(() => void vi.unstubAllGlobals())
    expect(gantryClient({ baseUrl }).getSession).toBeTypeOf('function')
  })
})
