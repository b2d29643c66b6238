import { OPERATIONS } from '@gantry/contracts'
import { expect, test } from 'vitest'
import { clientOf } from '../src/client.ts'
import { eventually } from '../src/gantry.ts'
import { dataFolder, later, start } from '../src/own-service.ts'
import { type EventPage, isGone } from '../src/positions.ts'
import type { AccessToken, Api, Page } from '../src/records.ts'

const HOUR = 3_600_000
const guarded = OPERATIONS.filter(({ scope }) => scope !== 'public')
const pathOf = (template: string) => template.replaceAll(/\{\w+\}/g, 'b1a3a6a1-3a53-4a57-9f0e-5d2b7c1f9d11')

test('credentials, Idempotency-Keys and positions of the event feed expire', async () => {
  const folder = await dataFolder()
  const keyed = { headers: { 'idempotency-key': 'of-every-day' } }
  const fields = (name: string) => ({ name, displayName: name, status: 'ACTIVE', tags: [] })

  const first = await start(folder)
  const admin = await first.logIn()
  const token = async (name: string, validityDays: number) =>
    (await admin.post('/accessTokens', { name, validityDays, scopes: ['API_READ', 'USER_WRITE'] })).as<
      AccessToken & { token: string }
    >(201)
  const [short, long] = [await token('short', 1), await token('long', 3)]
  const { id } = (await admin.post('/apis', fields('first'), keyed)).as<Api>(201)
  for (const name of ['second', 'third']) (await admin.post('/apis', fields(name))).is(201)
  const removed = await eventually(async () => {
    const { content } = (await admin.get('/events', { type: 'API_CREATED' })).as<EventPage>(200)
    expect(content).toHaveLength(3)
    return content[0]?.position ?? ''
  })
  await first.stop()

  const nextDay = await start(folder, later(25 * HOUR))
  for (const authorization of [admin.authorization, `Bearer ${short.token}`]) {
    const expired = clientOf(nextDay.service, authorization)
    for (const { id, method, path, bodyExample } of guarded) {
      const answer = await expired.request(method, pathOf(path), bodyExample)
      expect(answer.refused(401, 'unauthenticated').detail, id).toMatch(/expired/)
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="gantry"/)
    }
  }
  ;(await clientOf(nextDay.service, `Bearer ${long.token}`).get('/apis')).is(200)
  const again = await nextDay.logIn()
  const listed = (await again.get('/accessTokens')).as<Page<AccessToken>>(200)
  expect(listed.content.map(({ name }) => name).toSorted()).toEqual(['long', 'short'])
  // The use of another key removes expired keys.
  const other = { headers: { 'idempotency-key': 'another' } }
  ;(await again.post('/apis', fields('other'), other)).is(201)
  const renewed = (await again.post('/apis', fields('fourth'), keyed)).as<Api>(201)
  expect(renewed.id).not.toBe(id)
  expect((await again.post('/apis', fields('fourth'), keyed)).as<Api>(201)).toEqual(renewed)
  await nextDay.stop()

  const muchLater = await start(folder, { ...later(40 * 24 * HOUR), MESSAGE_RETENTION: '30d' })
  const client = await muchLater.logIn()
  ;(await client.post('/apis', fields('fifth'))).is(201)
  await isGone(client, removed)
})
