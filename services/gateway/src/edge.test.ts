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

describe.each(['', '/manage'])('Under the base path %j', basePath => {
  test('the document is served as it is told', async () => {
    const { app } = await host({ basePath })
    const answer = await app.inject(`${basePath}/openapi.json`)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json()).toMatchObject({ openapi: '3.1.0', servers: [{ url: basePath || '/' }] })
    expect((await app.inject(`${basePath}/docs/json`)).json()).toEqual(answer.json())
  })

  test('the way in leads to the documentation', async () => {
    const { app } = await host({ basePath })
    const answer = await app.inject(`${basePath}/`)
    expect([answer.statusCode, answer.headers.location]).toEqual([302, `${basePath}/docs`])
  })

  test.each(['/docs', '/docs/'])('the page %s and all that it loads come from here', async path => {
    const { app } = await host({ basePath })
    const page = await app.inject(`${basePath}${path}`)
    expect(page.statusCode).toBe(200)
    const links = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => String(link))
    expect(links.length).toBeGreaterThan(5)
    for (const link of links) {
      const url = new URL(link, `http://gantry.test${basePath}${path}`)
      expect(url.host, link).toBe('gantry.test')
      expect((await app.inject(url.pathname)).statusCode, link).toBe(200)
    }
  })
})

describe('The documentation', () => {
  test('may load nothing from elsewhere', async () => {
    const { app } = await host()
    for (const path of ['/docs', '/docs/static/swagger-ui.css']) {
      const policy = String((await app.inject(path)).headers['content-security-policy'])
      const sources = policy.split(';').flatMap(directive => directive.trim().split(' ').slice(1))
      expect(new Set(sources)).toEqual(new Set(["'none'", "'self'", "'unsafe-inline'", 'data:']))
      expect(policy).toContain("script-src 'self';")
    }
  })

  test('has its document checked by nobody outside, and no pictures or fonts from there', async () => {
    const { app } = await host()
    const configuration = (await app.inject('/docs/static/swagger-initializer.js')).body
    expect(configuration).toContain('validatorUrl: null')
    const styles = (await app.inject('/docs/static/swagger-ui.css')).body
    expect(styles).not.toMatch(/@import|url\(["']?(https?:)?\/\//)
  })

  test('shows no files but its own', async () => {
    const { app } = await host()
    for (const path of [
      '/docs/static/../package.json',
      '/docs/static/%2e%2e/package.json',
      '/docs/static/..%2findex.js',
    ])
      expect((await app.inject(path)).statusCode, path).toBe(404)
  })
})

test('Answers of the interface are neither run, framed nor guessed at, refusals included', async () => {
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

  test('may not call the service', async () => {
    const { app, call } = await host()
    const { headers } = await call(listApis, { ...bearer('grace-1'), origin })
    expect(headers['access-control-allow-origin']).toBeUndefined()
    expect((await app.inject({ method: 'OPTIONS', url: '/apis', headers: preflight })).statusCode).toBe(405)
  })

  test('may when CORS_ORIGINS names them, and see why they are refused', async () => {
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
