import { describe, expect, test } from 'vitest'
import type { Answer } from '../src/answer.ts'
import { admin, apiFields, platformEvent, publish, unique } from '../src/gantry.ts'
import { subscribe } from '../src/webhooks.ts'

/** An object or array with this many levels, itself included. */
const nested = (levels: number, open: string, close: string) =>
  `${open.repeat(levels)}${close.repeat(levels)}`
const objects = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
const json = (body: string) => ({ body, headers: { 'content-type': 'application/json' } })

/** Publishes a CONFIGURATION_CHANGED event with the text as its data. */
const send = (data: string) => {
  const event = JSON.stringify(platformEvent('CONFIGURATION_CHANGED', {}))
  return admin.post('/events', undefined, json(event.replace('"data":{}', `"data":${data}`)))
}

/** Expects a refusal because of the depth, before the operation validates its fields. */
const isTooDeep = (answer: Answer) =>
  expect(answer.refused(400, 'invalid-request').detail).toBe('the body must be at most 65 levels deep')

describe('the data of a platform event', () => {
  test('may have 64 levels, which every interface shows, and no more', async () => {
    const about = unique('deep')
    const { inbox, webhook } = await subscribe(['CONFIGURATION_CHANGED'], { about })
    const deepest = objects(64).replace('{}', `{"about":"${about}"}`)
    ;(await send(`{"a":${deepest}}`)).refused(400, 'invalid-request')
    ;(await send(deepest)).is(202)
    const { payload } = await inbox.arrival(1)
    expect(JSON.stringify(payload.data)).toBe(deepest)
    ;(await admin.get(`/webhooks/${webhook.id}/requests`)).is(200)
    ;(await admin.get('/auditLog', { size: 100 })).is(200)
  })

  test('may have 10,000 members over all levels, and no more', async () => {
    const members = (count: number) => ({ list: Array.from({ length: count - 1 }, () => 0) })
    ;(await publish(platformEvent('CONFIGURATION_CHANGED', members(10_000)))).is(202)
    ;(await publish(platformEvent('CONFIGURATION_CHANGED', members(10_001)))).refused(400, 'invalid-request')
  })

  test('may have 256 KiB, and no more', async () => {
    const text = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
    ;(await publish(platformEvent('CONFIGURATION_CHANGED', text(262_144)))).is(202)
    ;(await publish(platformEvent('CONFIGURATION_CHANGED', text(262_145)))).refused(400, 'invalid-request')
  })
})

test.for([
  ['POST /apis', 100_000],
  // More are larger than its body may be.
  ['POST /login', 3_900],
  ['POST /webhooks', 100_000],
  ['POST /users', 100_000],
  ['POST /accessTokens', 100_000],
] as const)('%s with 2000 or %i nested arrays is refused', async ([operation, most]) => {
  const path = operation.replace('POST ', '')
  for (const levels of [2_000, most]) {
    const arrays = nested(levels, '[', ']')
    const ignored = JSON.stringify({ ...apiFields(), ignored: 0 }).replace(
      '"ignored":0',
      `"ignored":${arrays}`,
    )
    for (const body of [arrays, ignored]) isTooDeep(await admin.post(path, undefined, json(body)))
    const once = {
      ...json(ignored),
      headers: { ...json('').headers, 'idempotency-key': `${levels} ${path}` },
    }
    isTooDeep(await admin.post(path, undefined, once))
  }
})
