import { describe, expect, test } from 'vitest'
import { admin, unique } from '../src/gantry.ts'
import { platformEvent, publish } from '../src/platform-events.ts'
import { subscribe } from '../src/webhooks.ts'

/** An object with this many levels, itself included. */
const objects = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
const json = (body: string) => ({ body, headers: { 'content-type': 'application/json' } })

/** Publishes a CONFIGURATION_CHANGED event with the text as its data. */
const send = (data: string) => {
  const event = JSON.stringify(platformEvent('CONFIGURATION_CHANGED', {}))
  return admin.post('/events', undefined, json(event.replace('"data":{}', `"data":${data}`)))
}

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
