import { beforeAll, describe, expect, test } from 'vitest'
import { createApi, createVersion } from '../src/apis.ts'
import { admin } from '../src/gantry.ts'
import { ask, HOST, PREFIX } from '../src/raw.ts'
import type { Api, Version } from '../src/records.ts'
import { scopedTo } from '../src/users.ts'

const NOBODY: string[] = []
let reader: string[]
let api: Api
beforeAll(async () => {
  reader = [`Authorization: ${(await scopedTo('API_READ')).authorization}`]
  api = await createApi()
})

const isProblem = async (status: number, method: string, target: string, lines: string[]) => {
  const answer = await ask(method, target, lines)
  expect([method, answer.status]).toEqual([method, status])
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  return answer.bytes.toString()
}

test.for([
  '/apis/x\\..\\..\\metrics',
  '/apis/x\\..\\..\\apis',
  '/apis/x\\..\\..\\..\\health\\ready',
  '\\..\\..\\health\\ready',
  '/apis\\',
  '/apis/./x',
  '/apis/../metrics',
  '/apis/x/../../metrics',
  '/apis/x/versions/..',
  '/apis/x/versions/.',
  '/apis/%2e%2e/metrics',
  '/apis/x/%2E%2e/%2e./metrics',
  '/apis/x/versions/%2e',
  '/apis/\u0001',
])('a path that clients and proxies may resolve differently is refused: %j', async path => {
  for (const caller of [reader, NOBODY]) {
    const text = await isProblem(400, 'GET', path.startsWith('/') ? PREFIX + path : path, caller)
    expect(text).not.toContain('gantry_')
  }
})

test.for([
  '*',
  '*#x',
  'apis',
  'http://',
  'http:///apis',
  'http://h\\/apis',
  'http://h\\@other/apis',
  'http://user@h/apis',
  'http://h:1%2fapis',
  'http://h:x/apis',
  'ftp://h/apis',
])('a request target that is neither a path nor a URL with a host is refused: %s', async target => {
  for (const method of ['GET', 'HEAD', 'OPTIONS']) await isProblem(400, method, target, reader)
})

test.for(['/metrics', '/health/ready', '/events?size=1'])(
  'an encoded path in a parameter does not reach another operation: %s',
  async path => {
    for (const encoded of [`x%5C..%5C..${path.replaceAll('/', '%5C')}`, `x${path.replaceAll('/', '%2F')}`]) {
      const target = `${PREFIX}/apis/${encoded.replace('?', '%3F')}`
      expect(await isProblem(404, 'GET', target, reader)).toMatch(/"code":"(not-found|api-not-found)"/)
    }
  },
)

test.for(['/inside/requests', '/%69nside/requests', '/catalog/inside/requests', '/catalog/metrics'])(
  'what the processes ask each other is not reached through the interface: %s',
  async path => {
    for (const method of ['GET', 'POST'])
      for (const caller of [reader, NOBODY])
        expect(await isProblem(404, method, PREFIX + path, caller)).toContain('"code":"not-found"')
  },
)

describe('the absolute form of a request target', () => {
  test.for(['http', 'HTTP', 'https'])('of the scheme %s is accepted (RFC 9112 §3.2.2)', async scheme => {
    for (const host of [HOST, 'other.example']) {
      const { status, bytes } = await ask('GET', `${scheme}://${host}${PREFIX}/apis/${api.id}`, reader)
      expect([status, bytes.includes(api.id)]).toEqual([200, true])
    }
  })

  test('needs a credential and has no additional paths', async () => {
    const statusOf = async (target: string, lines = reader) => (await ask('GET', target, lines)).status
    expect(await statusOf(`http://h${PREFIX}/apis`, NOBODY)).toBe(401)
    expect(await statusOf(`http://h${PREFIX}/nothing`)).toBe(404)
    expect(await statusOf('http://h', NOBODY)).toBe(await statusOf('/', NOBODY))
    expect(await statusOf(`http://h${PREFIX}/apis/x/../../metrics`)).toBe(400)
  })
})

test.for(['.', '..'])('a version cannot be named %s, which is not possible as a path segment', async name => {
  ;(await admin.post(`/apis/${api.id}/versions`, { name })).refused(400, 'invalid-request')
  const version = await createVersion(api, { name: `to be ${name}` })
  ;(await admin.put(`/apis/${api.id}/versions/${version.id}`, { name })).refused(400, 'invalid-request')
})

test.for([
  ...['a/b', 'a\\b', 'a..b', '.a', 'a%2Fb', 'ä b?c#d', '%'],
  ...['v2 beta', 'größe-名前', '100%', "o'clock", '2026-11-21+1', 'requests'],
])('a version named %j is found and deleted by its name', async name => {
  const version = await createVersion(api, { name })
  const path = `/apis/${api.id}/versions/${encodeURIComponent(name)}`
  const { status, bytes } = await ask('GET', PREFIX + path, reader)
  expect([status, bytes.includes(version.id)]).toEqual([200, true])
  expect((await admin.get(path)).as<Version>(200)).toEqual(version)
  ;(await admin.delete(path)).is(204)
  ;(await admin.get(`/apis/${api.id}/versions/${version.id}`)).refused(404)
})
