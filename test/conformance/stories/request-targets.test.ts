import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { beforeAll, describe, expect, test } from 'vitest'
import { admin, cleanUp, createApi, createToken, createVersion, service } from '../src/gantry.ts'
import type { Api, Version } from '../src/records.ts'

const base = new URL(service.baseUrl)
const prefix = base.pathname.replace(/\/$/, '')
let reader: string
let api: Api
beforeAll(async () => {
  const { id, token } = await createToken(admin, ['API_READ'])
  cleanUp(`/accessTokens/${id}`)
  reader = token
  api = await createApi()
})

/** Sends a request target unchanged; client libraries normalize it. */
function ask(target: string, { method = 'GET', token = reader as string | null } = {}) {
  const secure = base.protocol === 'https:'
  const port = Number(base.port || (secure ? 443 : 80))
  const authorization = token === null ? '' : `Authorization: Bearer ${token}\r\n`
  const head = `${method} ${target} HTTP/1.1\r\nHost: ${base.host}\r\n${authorization}Connection: close\r\n\r\n`
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const socket = secure ? connectTls({ port, host: base.hostname }) : connect(port, base.hostname)
    let text = ''
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')))
    socket.setEncoding('utf8')
    socket.on('data', part => {
      text += part
    })
    socket.on('close', () => resolve({ status: Number(text.split(' ')[1]), text }))
    socket.on('error', reject)
    socket.write(head)
  })
}

describe('a path that clients and proxies may resolve differently is refused', () => {
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
  ])('%j', async path => {
    for (const token of [reader, null]) {
      const { status, text } = await ask(path.startsWith('/') ? prefix + path : path, { token })
      expect(status).toBe(400)
      expect(text).toContain('application/problem+json')
      expect(text).not.toContain('gantry_')
    }
  })
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
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    const { status, text } = await ask(target, { method })
    expect([method, status]).toEqual([method, 400])
    expect(text).toContain('application/problem+json')
  }
})

test.for(['/metrics', '/health/ready', '/events?size=1'])(
  'an encoded path in a parameter does not reach another operation: %s',
  async path => {
    for (const encoded of [`x%5C..%5C..${path.replaceAll('/', '%5C')}`, `x${path.replaceAll('/', '%2F')}`]) {
      const { status, text } = await ask(`${prefix}/apis/${encoded.replace('?', '%3F')}`)
      expect([status, text.includes('"code":"not-found"') || text.includes('api-not-found')]).toEqual([
        404,
        true,
      ])
    }
  },
)

test.for(['/inside/requests', '/%69nside/requests', '/catalog/inside/requests', '/catalog/metrics'])(
  'what the processes ask each other is not reached through the interface: %s',
  async path => {
    for (const method of ['GET', 'POST'])
      for (const token of [reader, null]) {
        const { status, text } = await ask(prefix + path, { method, token })
        expect([method, status]).toEqual([method, 404])
        expect(text).toContain('"code":"not-found"')
      }
  },
)

describe('the absolute form of a request target', () => {
  test.for(['http', 'HTTP', 'https'])('of the scheme %s is accepted (RFC 9112 §3.2.2)', async scheme => {
    const { status, text } = await ask(`${scheme}://${base.host}${prefix}/apis/${api.id}`)
    expect(status).toBe(200)
    expect(text).toContain(api.id)
    expect((await ask(`${scheme}://other.example${prefix}/apis/${api.id}`)).status).toBe(200)
  })
  test('needs a credential and has no additional paths', async () => {
    expect((await ask(`http://h${prefix}/apis`, { token: null })).status).toBe(401)
    expect((await ask(`http://h${prefix}/nothing`)).status).toBe(404)
    expect((await ask('http://h', { token: null })).status).toBe((await ask('/', { token: null })).status)
    expect((await ask(`http://h${prefix}/apis/x/../../metrics`)).status).toBe(400)
  })
})

describe('a version', () => {
  test.for(['.', '..'])('cannot be named %s, which is not possible as a path segment', async name => {
    ;(await admin.post(`/apis/${api.id}/versions`, { name })).refused(400, 'invalid-request')
    const version = await createVersion(api, { name: `to be ${name}` })
    ;(await admin.put(`/apis/${api.id}/versions/${version.id}`, { name })).refused(400, 'invalid-request')
  })
  test.for(['a/b', 'a\\b', 'a..b', '.a', 'a%2Fb', 'ä b?c#d', '%'])(
    'named %j is found by its name',
    async name => {
      const version = await createVersion(api, { name })
      const { status, text } = await ask(`${prefix}/apis/${api.id}/versions/${encodeURIComponent(name)}`)
      expect([status, text.includes(version.id)]).toEqual([200, true])
      const read = (await admin.get(`/apis/${api.id}/versions/${encodeURIComponent(name)}`)).as<Version>(200)
      expect(read).toEqual(version)
    },
  )
})
