import { describe, expect, test } from 'vitest'
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
      const { requestBody, responses } = definition
      const bodies = [
        ...(requestBody ? [{ at: ['requestBody'], content: requestBody.content }] : []),
        ...Object.entries(responses).map(([status, { content = {} }]) => ({
          at: ['responses', status],
          content,
        })),
      ].flatMap(({ at, content }) =>
        Object.entries(content).map(([type, media]) => ({ at: [...at, 'content', type, 'schema'], media })),
      )
      for (const { at, media } of bodies.filter(({ media }) => media.schema !== undefined)) {
        const named = Object.values(media.examples ?? {}).map(({ value }) => value)
        for (const value of [media.example, ...named].filter(shown => shown !== undefined)) {
          service.contract.conform(`An example of ${method} ${template}`, value, ...pointer, ...at)
          examples += 1
        }
      }
    }
    expect(examples).toBeGreaterThan(0)
  })
})
