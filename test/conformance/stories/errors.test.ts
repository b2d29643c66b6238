import { beforeAll, describe, expect, test } from 'vitest'
import { apiFields, createApi, listApis } from '../src/apis.ts'
import type { Body, Client } from '../src/client.ts'
import { admin, anonymous, cleanUp, service, unique, uuid } from '../src/gantry.ts'
import type { Api } from '../src/records.ts'
import { createUser, loggedIn } from '../src/users.ts'

const raw = (body: Body, contentType = 'application/json') => ({
  body,
  headers: { 'content-type': contentType },
})
const postApi = (body: Body, contentType?: string) => admin.post('/apis', undefined, raw(body, contentType))

describe('an unreadable body', () => {
  test.for([
    ...['{"name": ', '', 'name=payments', '{"name": "a",}', "{'name': 'a'}", '\u0000'],
    ...['[]', 'null', '7', '"text"', 'true'],
  ])('is refused, as is one that is not an object: %j', async body => {
    ;(await postApi(body)).refused(400)
  })

  test('is refused when it ends 5,000 levels deep', async () => {
    ;(await postApi('{"a":'.repeat(5000))).refused(400)
  })

  test('cannot set a prototype', async () => {
    const { name } = apiFields()
    const hostile = `{"__proto__": {"hasImage": true}, "constructor": {"prototype": {"polluted": 1}}, "name": "${name}", "displayName": "A", "status": "ACTIVE", "tags": []}`
    const answer = (await postApi(hostile)).is(201, 400)
    if (answer.status === 201) cleanUp(`/apis/${answer.as<Api>(201).id}`)
    expect((await createApi()).hasImage).toBe(false)
  })

  test.for([
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ])('is refused as %s', async contentType => {
    const { name } = apiFields()
    const problem = (await postApi(JSON.stringify(apiFields({ name })), contentType)).refused(415)
    expect(problem.detail).toContain('application/json')
    expect((await listApis({ name })).totalElements).toBe(0)
  })
})

describe('an unknown path or method', () => {
  test.for([
    ...['/nothing', '/apis/x/y/z', '/webhooks/a/b/c/d', '/admin', '/.env', '/apis/../../etc/passwd'],
    ...['/apis/%zz', '/apis/%', '/apis/%ff%fe', '/apis/%00'],
  ])('%s is refused', async path => {
    ;(await admin.get(path, {}, { undocumented: true })).is(400, 404)
  })

  test.for([
    ['PATCH', '/apis', ['GET', 'POST']],
    ['DELETE', '/apis', ['GET', 'POST']],
    ['PUT', '/login', ['POST']],
    ['POST', '/auditLog', ['GET']],
    ['DELETE', '/openapi.json', ['GET', 'HEAD']],
    ['PUT', '/apis/bulk', ['POST']],
    ['PUT', '/ruleSets/preview', ['POST']],
    ['DELETE', '/webhooks/requests', ['GET', 'HEAD']],
  ] as const)('%s %s is refused and lists the allowed methods', async ([method, path, allowed]) => {
    const answer = await admin.request(method, path, method === 'DELETE' ? undefined : {}, {
      undocumented: true,
    })
    answer.refused(405)
    const methods = (answer.headers.get('allow') ?? '').split(',').map(name => name.trim())
    expect(methods).toEqual(expect.arrayContaining([...allowed]))
    expect(methods).not.toContain(method)
  })

  test('OPTIONS lists the methods of a path', async () => {
    const answer = await admin.request('OPTIONS', '/apis', undefined, { undocumented: true })
    const methods = answer.is(204).headers.get('allow')?.split(', ')
    expect(methods?.toSorted()).toEqual(['GET', 'HEAD', 'OPTIONS', 'POST'])
    ;(await admin.request('OPTIONS', '/nothing', undefined, { undocumented: true })).refused(404)
  })

  test('an invalid query string is refused or read literally', async () => {
    ;(await admin.get('/apis?text=%zz&size=1')).is(200, 400)
    ;(await admin.get('/apis?size=1&&=&=x')).is(200, 400)
    ;(await admin.get('/apis?text[$ne]=1&size=1')).is(200, 400)
  })
})

describe('an unknown query parameter', () => {
  // Monitoring systems may add query parameters to requests for health, metrics and keys.
  const operations = service.contract.operations.filter(
    ({ definition }) => definition.tags?.[0] !== 'Service',
  )

  // Not the administrator that all stories share: the operations include POST /logout.
  let user: Client
  beforeAll(async () => {
    user = await loggedIn(await createUser({ role: 'GLOBAL_ADMIN' }))
  })

  test.for(operations)('is refused by $key, naming it and the known ones', async operation => {
    const { method, template, definition } = operation
    const known = (definition.parameters ?? []).flatMap(parameter =>
      'in' in parameter && parameter.in === 'query' ? [parameter.name] : [],
    )
    const path = template.replaceAll(/\{\w+\}/g, uuid)
    const answer = await user.request(method, path, undefined, { query: { colour: 'green' } })
    const problem = answer.refused(400)
    expect(problem.errors).toEqual([{ field: 'colour', message: 'is not a query parameter' }])
    expect(problem.detail).toBe(
      `colour is not a query parameter; known: ${known.length === 0 ? 'none' : known.join(', ')}`,
    )
  })

  test('is refused next to known ones, and every unknown one is named', async () => {
    const { errors } = (await admin.get('/apis', { size: 1, colour: 'green', Size: 2 })).refused(400)
    expect(errors?.map(({ field }) => field)).toEqual(['colour', 'Size'])
  })

  test.for(['/health/live', '/health/ready', '/metrics', '/.well-known/jwks.json', '/openapi.json', '/docs'])(
    'is ignored by %s, which is no operation of the API',
    async path => {
      ;(await anonymous.get(path, { colour: 'green' }, { undocumented: true })).is(200, 302)
    },
  )
})

describe('X-Request-Id', () => {
  test('is returned as sent, also in a problem, and generated when absent, a new one each time', async () => {
    const id = unique('request')
    const headers = { 'x-request-id': id }
    const answer = await admin.get('/apis', { size: 1 }, { headers })
    expect(answer.is(200).headers.get('x-request-id')).toBe(id)
    expect((await admin.get('/apis', { size: 0 }, { headers })).refused(400).requestId).toBe(id)
    const [one, two] = [await admin.get('/apis', { size: 1 }), await admin.get('/apis', { size: 1 })]
    expect(one.headers.get('x-request-id')).not.toBe(two.headers.get('x-request-id'))
  })
})

test('a problem contains the request path, the time and the errors', async () => {
  const { id } = await createApi()
  const problem = (await admin.put(`/apis/${id}`, { name: 'x' })).refused(400)
  expect(problem.instance).toContain(id)
  expect(Math.abs(Date.parse(problem.timestamp) - Date.now())).toBeLessThan(15 * 60_000)
  expect(problem.errors?.map(error => error.field).toSorted()).toEqual(['displayName', 'status', 'tags'])
})
