import { describe, expect, test } from 'vitest'
import type { Answer } from '../src/answer.ts'
import type { OpenApi } from '../src/contract.ts'
import { anonymous, eventually, service } from '../src/gantry.ts'

/** Requests a public path. These paths need not be in the OpenAPI document. */
const open = (path: string) => anonymous.get(path, {}, { undocumented: true })

test('the service is live and ready', async () => {
  ;(await open('/health/live')).is(200)
  ;(await open('/health/ready')).is(200)
})

test('metrics are in the Prometheus text format and count requests', async () => {
  const answer = (await open('/metrics')).is(200)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain|^application\/openmetrics-text/)
  expect(answer.text).toMatch(/^# TYPE \S+ (counter|gauge|histogram|summary)$/m)
  await eventually(async () => expect((await open('/metrics')).text).toMatch(/^\w*http\w*(\{.*\})? [0-9]/m))
})

test('the keys for login tokens are published', async () => {
  const { keys } = (await open('/.well-known/jwks.json')).as<{ keys: Record<string, unknown>[] }>(200)
  expect(keys.length).toBeGreaterThan(0)
  for (const key of keys) {
    expect(key).toMatchObject({ kty: 'OKP', crv: 'Ed25519', kid: expect.any(String), x: expect.any(String) })
    expect(key).not.toHaveProperty('d')
  }
})

describe('the OpenAPI document', () => {
  test('is OpenAPI 3.1 and does not change during the run', async () => {
    const document = (await open('/openapi.json')).as<OpenApi>(200)
    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
    expect(document.info.title).toBeTruthy()
    expect(document).toEqual(service.contract.document)
  })

  test('describes every operation, with problems as its error responses', () => {
    // Health has its own format for orchestrators.
    const operations = service.contract.operations.filter(({ template }) => !template.startsWith('/health'))
    for (const { key, definition } of operations) {
      expect(definition.summary, key).toBeTruthy()
      expect(Object.keys(definition.responses), key).toEqual(
        expect.arrayContaining([expect.stringMatching(/^2/)]),
      )
      for (const [status, { content = {} }] of Object.entries(definition.responses)) {
        if (/^[45]/.test(status))
          expect(Object.keys(content), `${key} ${status}`).toEqual(['application/problem+json'])
      }
    }
  })

  test('has examples that match its schemas', () => {
    let examples = 0
    for (const { template, method, definition } of service.contract.operations) {
      const pointer = ['paths', template, method.toLowerCase()]
      const bodies = [
        ...(definition.requestBody
          ? [{ at: [...pointer, 'requestBody'], content: definition.requestBody.content }]
          : []),
        ...Object.entries(definition.responses).map(([status, { content = {} }]) => ({
          at: [...pointer, 'responses', status],
          content,
        })),
      ]
      for (const { at, content } of bodies) {
        for (const [mediaType, { schema, example, examples: named = {} }] of Object.entries(content)) {
          const shown = [example, ...Object.values(named).map(({ value }) => value)].filter(
            value => value !== undefined,
          )
          for (const value of schema === undefined ? [] : shown) {
            service.contract.conform(
              `An example of ${method} ${template}`,
              value,
              ...at,
              'content',
              mediaType,
              'schema',
            )
            examples += 1
          }
        }
      }
    }
    expect(examples).toBeGreaterThan(0)
  })
})

describe('the documentation', () => {
  /** Follows redirects like a browser. They must stay on the service. */
  const page = async (path: string): Promise<{ answer: Answer; path: string }> => {
    const answer = (await open(path)).is(200, 301, 302, 307, 308)
    if (answer.status === 200) return { answer, path }
    return page(onService(answer.headers.get('location') ?? '', path))
  }
  /** The path of a link below the base URL. Fails when the link leads to another host. */
  const onService = (link: string, from: string) => {
    const url = new URL(link.replaceAll('&amp;', '&'), service.baseUrl + from)
    const base = new URL(service.baseUrl)
    expect(url.host, link).toBe(base.host)
    return url.pathname.slice(base.pathname.replace(/\/$/, '').length) + url.search
  }

  test('is a page that loads everything from the service', async () => {
    const { answer, path } = await page('/docs')
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/)
    const html = answer.text.replaceAll(/<!--.*?-->/gs, '')
    const links = [...html.matchAll(/<(?:script|img|iframe)[^>]*\ssrc="([^"]+)"|<link[^>]*\shref="([^"]+)"/g)]
      .map(([, src, href]) => src ?? href ?? '')
      .filter(link => !link.startsWith('data:'))
    expect(links.length).toBeGreaterThan(0)
    for (const link of links) {
      const part = (await open(onService(link, path))).is(200)
      if (!part.headers.get('content-type')?.startsWith('text/css')) continue
      for (const [, target = ''] of part.text.matchAll(/url\(["']?([^"')]+)|@import "([^"]+)/g)) {
        expect(target).not.toMatch(/^(https?:)?\/\//)
      }
    }
  })
})
