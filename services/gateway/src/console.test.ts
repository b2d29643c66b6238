import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import { httpServer } from '@gantry/service-runtime'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { webConsole } from './console.ts'
import { type EdgeHost, hostEdge } from './testing/edge-host.ts'

const PAGE =
  '<!doctype html><html><head><script src="./assets/index-a1.js"></script></head><body></body></html>'
const REFERENCE =
  '<html><head><script src="../assets/index-a1.js"></script></head><body><a href="../console/"></a></body></html>'
const SCRIPT = 'console.log("the console")'.repeat(20)

let builds: string
const open: { close(): Promise<unknown> }[] = []
beforeEach(async () => {
  builds = join(await mkdtemp(join(tmpdir(), 'gantry-builds-')), 'console')
})
afterEach(async () => {
  await Promise.all(open.splice(0).map(app => app.close()))
  await rm(join(builds, '..'), { recursive: true })
})

/** Writes a finished build and makes it the served one. */
async function build(key: string, page = PAGE) {
  await mkdir(join(builds, key, 'assets'), { recursive: true })
  await mkdir(join(builds, key, 'frames'))
  await writeFile(join(builds, key, 'index.html'), page)
  await mkdir(join(builds, key, 'docs'))
  await writeFile(join(builds, key, 'docs/docs.html'), REFERENCE)
  await writeFile(join(builds, key, 'frames/document.html'), 'a document')
  await writeFile(join(builds, key, 'frames/sender.html'), 'a request')
  await writeFile(join(builds, key, 'assets/index-a1.js'), SCRIPT)
  await writeFile(join(builds, key, 'assets/index-a1.js.gz'), gzipSync(SCRIPT))
  await writeFile(join(builds, key, 'assets/only-b2.css'), 'a{}')
  await writeFile(join(builds, 'current'), key)
}

/** A server with the console alone, and the lines of its log. */
async function host(basePath = ''): Promise<{ app: FastifyInstance; lines: string[] }> {
  const lines: string[] = []
  const stream = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk))) })
  const app = httpServer({
    basePath,
    log: pino({ level: 'warn' }, stream),
    metrics: new Registry(),
    now: () => new Date(),
    notReadyReason: () => undefined,
  })
  await app.register(scope => webConsole(scope, builds), { prefix: basePath })
  await app.ready()
  open.push(app)
  return { app, lines }
}

/** Sends a path as it is written. `inject` and fetch resolve its dots. */
async function asWritten(app: FastifyInstance, path: string) {
  const { port } = app.server.address() as AddressInfo
  const [answer] = await once(get({ host: '127.0.0.1', port, path, agent: false }), 'response')
  answer.resume()
  return { status: answer.statusCode, type: answer.headers['content-type'] }
}

test('Under a base path the console has its page at all its paths, and its assets', async () => {
  await build('one')
  const { app } = await host('/manage')
  for (const path of [
    '/console',
    '/console/',
    '/console/apis',
    '/console/webhooks/1/deliveries?status=FAILED',
  ]) {
    const answer = await app.inject(`/manage${path}`)
    expect([path, answer.statusCode]).toEqual([path, 200])
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(answer.body).toBe(PAGE.replace('<head>', '<head><base href="/manage/console/">'))
  }
  for (const path of ['/consolex', '/consol', '/apis/console', '/Console', '/console.html'])
    expect([path, (await app.inject(`/manage${path}`)).statusCode]).toEqual([path, 404])
  expect((await app.inject('/console')).statusCode).toBe(404)
  const asset = await app.inject('/manage/console/assets/index-a1.js')
  expect([asset.statusCode, asset.body]).toEqual([200, SCRIPT])
})

describe('The page', () => {
  test('loads only from the service, sends it no referrer, and is asked for again at each load', async () => {
    await build('one')
    const { app } = await host()
    const { headers } = await app.inject('/console/apis')
    expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-cache' })
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'self'; script-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("object-src 'none'")
    expect(policy.match(/unsafe[^;']*/g)).toEqual(['unsafe-inline'])
    expect(policy).toContain("style-src 'self' 'unsafe-inline'")
  })

  test('is that of the newest build at once', async () => {
    await build('one')
    const { app } = await host()
    await build('two', PAGE.replace('a1', 'c3'))
    expect((await app.inject('/console')).body).toContain('index-c3.js')
  })
})

describe('The frames of documents', () => {
  const SENDER = '/console/frames/sender'

  test('run scripts of the service in an origin of their own, load nothing, and are framed by the console only', async () => {
    await build('one')
    const { app } = await host()
    const { headers, body } = await app.inject('/console/frames/document')
    expect(body).toBe('a document')
    const policy = String(headers['content-security-policy']).split('; ')
    expect(policy).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'self'",
      'sandbox allow-scripts',
      "connect-src 'none'",
    ])
    expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'x-dns-prefetch-control': 'off' })
    const script = await app.inject('/console/assets/index-a1.js')
    expect(script.headers['access-control-allow-origin']).toBe('*')
  })

  test('send to one host that the request names, and to nothing that is not a host', async () => {
    await build('one')
    const { app } = await host()
    const ask = (to: string) => app.inject(`${SENDER}?${new URLSearchParams({ to })}`)
    for (const to of [
      ...['https://api.example.com', 'http://localhost:8080', 'http://127.0.0.1', 'https://a_b.example'],
      'https://[2001:db8::1]:8443',
    ]) {
      const { headers, body } = await ask(to)
      expect(body).toBe('a request')
      const directives = String(headers['content-security-policy']).split('; ')
      expect(directives.slice(-2)).toEqual(['sandbox allow-scripts', `connect-src ${to}`])
    }
    for (const to of [
      ...['', '*', 'https:', 'https://*', 'https://*.example.com', 'ws://a.example', 'data:', "'self'"],
      ...['https://a.example https://b.example', "https://a.example; script-src 'unsafe-inline'"],
      ...['https://a.example,b', 'https://a.example/path', 'https://user@a.example', 'https://a:99999'],
      ...['https://A.example', 'https://a.example\n', "https://a'b.example", 'https://a..b'],
    ])
      expect([to, (await ask(to)).statusCode]).toEqual([to, 400])
    for (const query of ['', '?to=https://a.example&to=https://b.example'])
      expect((await app.inject(SENDER + query)).statusCode).toBe(400)
  })
})

describe('Assets', () => {
  test('are kept for a year, and are compressed for browsers that accept it, where there is a compressed file', async () => {
    await build('one')
    const { app } = await host()
    const url = '/console/assets/index-a1.js'
    const headers = {
      'content-type': 'application/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    }
    const compressed = await app.inject({ url, headers: { 'accept-encoding': 'br, gzip' } })
    expect(compressed.headers).toMatchObject({ ...headers, 'content-encoding': 'gzip' })
    expect(gunzipSync(compressed.rawPayload).toString()).toBe(SCRIPT)
    const plain = await app.inject({ url, headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers).toMatchObject(headers)
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(plain.body).toBe(SCRIPT)
    const head = await app.inject({ method: 'HEAD', url })
    expect([head.statusCode, head.body]).toEqual([200, ''])
    expect(head.headers['content-length']).toBe(String(SCRIPT.length))
    const only = await app.inject({
      url: '/console/assets/only-b2.css',
      headers: { 'accept-encoding': 'gzip' },
    })
    expect([only.statusCode, only.headers['content-encoding'], only.body]).toEqual([200, undefined, 'a{}'])
  })

  test('of other paths are refused with a problem, not with the page or a file', async () => {
    await build('one')
    await writeFile(join(builds, 'one/assets/.hidden'), 'secret')
    const { app } = await host()
    await app.listen({ port: 0, host: '127.0.0.1' })
    for (const path of [
      ...['unknown-a1.js', 'deeper/index-a1.js', '../index.html', '..%2findex.html', '%2e%2e/index.html'],
      ...['%2e%2e%2findex.html', '..%5cindex.html', '....//index.html', 'index-a1.js%00.css', '.hidden'],
      ...['../../current', '/etc/passwd'],
    ]) {
      const answer = await asWritten(app, `/console/assets/${path}`)
      expect([400, 404], path).toContain(answer.status)
      expect(answer.type, path).toBe('application/problem+json; charset=utf-8')
    }
  })
})

describe('Before the first build', () => {
  test('the page says so with 503 and asks again, until the build has ended', async () => {
    const { app, lines } = await host()
    expect(lines).toEqual([])
    const building = await app.inject('/console/apis')
    expect(building.statusCode).toBe(503)
    expect(building.headers).toMatchObject({
      'retry-after': '2',
      'cache-control': 'no-cache',
      'content-type': 'text/html; charset=utf-8',
    })
    expect(building.body).toContain('<meta http-equiv="refresh" content="2">')
    expect(building.body).toContain('The web console and the documentation are being built.')
    const documentation = await app.inject('/docs')
    expect(documentation.statusCode).toBe(200)
    expect(documentation.body).toContain('<a href="/openapi.json">')
    expect((await app.inject('/console/assets/index-a1.js')).statusCode).toBe(404)
    await build('one')
    expect((await app.inject('/console/apis')).statusCode).toBe(200)
  })

  test('an interrupted build is not served', async () => {
    await build('one')
    await rm(join(builds, 'one/index.html'))
    const { app } = await host()
    expect((await app.inject('/console')).statusCode).toBe(503)
  })
})

test.for(['', '/manage'])('The reference at %s/docs loads and asks this origin only', async basePath => {
  await build('one')
  const { app } = await host(basePath)
  const page = await app.inject(`${basePath}/docs`)
  expect(page.statusCode).toBe(200)
  const policy = String(page.headers['content-security-policy'])
  const sources = policy.split(';').flatMap(directive => directive.trim().split(' ').slice(1))
  expect(new Set(sources)).toEqual(new Set(["'none'", "'self'", "'unsafe-inline'", 'data:']))
  expect(policy).toContain("script-src 'self';")
  const links = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => String(link))
  expect(links).toEqual([`${basePath}/console/assets/index-a1.js`, `${basePath}/console/`])
  expect((await app.inject(String(links[0]))).statusCode).toBe(200)
})

test('The gateway serves the console, whose type browsers do not guess', async () => {
  const edge: EdgeHost = await hostEdge()
  open.push(edge)
  const answer = await edge.app.inject('/console')
  // 503 if this checkout has no build.
  expect([200, 503]).toContain(answer.statusCode)
  expect(answer.headers['x-content-type-options']).toBe('nosniff')
  expect(answer.headers['content-security-policy']).toContain("default-src 'self'")
})
