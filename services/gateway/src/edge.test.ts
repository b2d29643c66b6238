import { listApis } from '@gantry/contracts'
import { afterEach, describe, expect, test } from 'vitest'
import { bearer, type EdgeHost, type EdgeOptions, hostEdge } from './testing/edge-host.ts'

const hosts: EdgeHost[] = []
const host = async (options: EdgeOptions = {}) => {
  const started = await hostEdge(options)
  hosts.push(started)
  return started
}
afterEach(async () => {
  await Promise.all(hosts.splice(0).map(({ close }) => close()))
})

describe('Under a base path', () => {
  const basePath = '/manage'

  test('the root redirects to the console, and the OpenAPI document has the base path', async () => {
    const { app } = await host({ basePath })
    const root = await app.inject(`${basePath}/`)
    expect([root.statusCode, root.headers.location]).toEqual([302, `${basePath}/console/`])
    const answer = await app.inject(`${basePath}/openapi.json`)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json()).toMatchObject({ openapi: '3.1.0', servers: [{ url: basePath }] })
    const headers = { 'if-none-match': String(answer.headers.etag) }
    expect((await app.inject({ url: `${basePath}/openapi.json`, headers })).statusCode).toBe(304)
  })

  test('the AsyncAPI document is shown by a page that loads nothing', async () => {
    const { app } = await host({ basePath, settings: { PUBLIC_URL: `https://gantry.test${basePath}` } })
    const document = (await app.inject(`${basePath}/asyncapi.json`)).json()
    expect(document).toMatchObject({ asyncapi: '3.0.0', servers: { http: { host: 'gantry.test' } } })
    const page = await app.inject(`${basePath}/docs/events`)
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/)
    expect(page.body).not.toMatch(/<(script|link|img|iframe)|@import|url\(/)
    for (const name of Object.keys(document.components.schemas))
      expect(page.body).toContain(`id="schema-${name}"`)
    const links = [...page.body.matchAll(/href="([^"]+)"/g)].map(([, link]) => String(link))
    const missing = links.filter(link => link.startsWith('#') && !page.body.includes(`id="${link.slice(1)}"`))
    expect(missing).toEqual([])
    const pages = links.filter(link => !link.startsWith('#'))
    // 503 if this checkout has no build.
    const found = (link: string) => (link.endsWith('/console/') ? [200, 503] : [200])
    for (const link of pages) expect(found(link), link).toContain((await app.inject(link)).statusCode)
    for (const path of ['/console/', '/docs', '/asyncapi.json']) expect(pages).toContain(`${basePath}${path}`)
  })
})

test('the page of events names the address that the request came to', async () => {
  const { app } = await host({ settings: { PUBLIC_URL: 'http://localhost:8080' } })
  const page = await app.inject({ url: '/docs/events', headers: { host: 'here.test:4301' } })
  expect(page.body).toContain('<code>http://here.test:4301</code>')
})

test('Responses of the interface, refusals included, forbid scripts, framing and type sniffing', async () => {
  const { call } = await host()
  for (const headers of [bearer('grace-1'), {}]) {
    expect(await call(listApis, headers)).toMatchObject({
      headers: {
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      },
    })
  }
})

describe('Pages of other origins', () => {
  const origin = 'https://portal.example.com'
  const preflight = {
    origin,
    'access-control-request-method': 'PUT',
    'access-control-request-headers': 'if-match',
  }

  test('may not call the service by default', async () => {
    const { app, call } = await host()
    const { headers } = await call(listApis, { ...bearer('grace-1'), origin })
    expect(headers['access-control-allow-origin']).toBeUndefined()
    const asked = await app.inject({ method: 'OPTIONS', url: '/apis', headers: preflight })
    expect(asked.headers['access-control-allow-origin']).toBeUndefined()
  })

  test('may call it when CORS_ORIGINS names them, and may read refusals', async () => {
    const { app, call } = await host({ settings: { CORS_ORIGINS: `${origin}, https://other.example.com` } })
    const allowed = await app.inject({ method: 'OPTIONS', url: '/apis', headers: preflight })
    expect(allowed.statusCode).toBe(204)
    expect(allowed.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': expect.stringContaining('PUT'),
      'access-control-allow-headers': 'if-match',
    })
    const refused = await call(listApis, { origin })
    expect(refused.status).toBe(401)
    expect(refused.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': expect.stringContaining('ETag'),
    })
    const stranger = await call(listApis, { origin: 'https://evil.example.com' })
    expect(stranger.headers['access-control-allow-origin']).toBeUndefined()
  })
})
