import { OPERATIONS } from '@gantry/contracts'
import { describe, expect, inject, test } from 'vitest'
import { clientOf } from '../src/client.ts'
import { dataFolder, later, start } from '../src/own-service.ts'
import type { AccessToken, Api, Page } from '../src/records.ts'

const HOUR = 3_600_000
const guarded = OPERATIONS.filter(({ scope }) => scope !== 'public')
const pathOf = (template: string) => template.replaceAll(/\{\w+\}/g, 'b1a3a6a1-3a53-4a57-9f0e-5d2b7c1f9d11')

// The tests start their own service and set its clock.
describe.skipIf(!inject('ownService'))(
  'an expired credential or key',
  { meta: { skipped: 'needs a service that the suite starts' } },
  () => {
    test('is refused everywhere: login tokens after an hour, access tokens after their validity', {
      timeout: 120_000,
    }, async () => {
      const folder = await dataFolder()
      const before = await start(folder)
      const admin = await before.logIn()
      const token = async (name: string, validityDays: number) =>
        (await admin.post('/accessTokens', { name, validityDays, scopes: ['API_READ', 'USER_WRITE'] })).as<
          AccessToken & { token: string }
        >(201)
      const [short, long] = [await token('short', 1), await token('long', 3)]
      await before.stop()

      const after = await start(folder, later(25 * HOUR))
      for (const client of [admin, clientOf(before.service, `Bearer ${short.token}`)]) {
        const expired = clientOf(after.service, client.authorization)
        for (const { id, method, path, bodyExample } of guarded) {
          const answer = await expired.request(method, pathOf(path), bodyExample)
          expect(answer.refused(401, 'unauthenticated').detail, id).toMatch(/expired/)
          expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="gantry"/)
        }
      }
      ;(await clientOf(after.service, `Bearer ${long.token}`).get('/apis')).is(200)

      const listed = (await (await after.logIn()).get('/accessTokens')).as<Page<AccessToken>>(200)
      expect(listed.content.map(({ name }) => name).toSorted()).toEqual(['long', 'short'])
    })

    test('is an Idempotency-Key a day after its use: it then creates a new resource, once', {
      timeout: 120_000,
    }, async () => {
      const folder = await dataFolder()
      const keyed = { headers: { 'idempotency-key': 'of-every-day' } }
      const fields = (name: string) => ({ name, displayName: name, status: 'ACTIVE', tags: [] })
      const ids = new Set<string>()
      for (const day of [0, 1, 2]) {
        const { logIn, stop } = await start(folder, later(day * 25 * HOUR))
        const admin = await logIn()
        // The use of another key removes expired keys.
        ;(await admin.post('/apis', fields(`other-${day}`), { headers: { 'idempotency-key': `${day}` } })).is(
          201,
        )
        const { id } = (await admin.post('/apis', fields(`daily-${day}`), keyed)).as<Api>(201)
        expect((await admin.post('/apis', fields(`daily-${day}`), keyed)).as<Api>(201).id).toBe(id)
        ids.add(id)
        await stop()
      }
      expect(ids.size).toBe(3)
    })
  },
)
