import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  runCommand,
  runServiceProcess,
  type ServiceProcess,
  startServiceProcess,
} from '@gantry/standalone/testing'
import { expect, test, vi } from 'vitest'
import { allApis, call, createApi, createWebhook, newFolder, startReceiver } from './src/service.ts'

const OLD = randomBytes(32).toString('base64')
const NEXT = randomBytes(32).toString('base64')
const folder = newFolder()

/** Runs `npm run reseal`. */
const reseal = () => runCommand(['reseal'], { DATA_DIR: folder })
const start = (keys: string) => {
  writeFileSync(join(folder, 'encryption.key'), keys, { mode: 0o600 })
  return startServiceProcess(folder)
}
const published = async (service: ServiceProcess) => {
  const names = ['jwks', 'audit-keys']
  return Promise.all(names.map(name => call(service, 'GET', `/.well-known/${name}.json`)))
}

test('after a rotation of ENCRYPTION_KEY all secrets are used without the old key, which is no longer needed', async () => {
  const { url, received } = await startReceiver(() => 204)
  const first = await start(OLD)
  const webhook = await createWebhook(first, url)
  const secret = Buffer.from(webhook.secret.replace('whsec_', ''), 'base64')
  const ada = { username: 'ada', displayName: 'Ada', sso: true }
  expect((await call(first, 'POST', '/users', ada)).status).toBe(201)
  const keys = (await published(first)).map(({ body }) => body)
  await first.stop()

  const second = await start(`1:${NEXT},0:${OLD}`)
  expect(await reseal()).toEqual({
    code: 0,
    output: expect.stringMatching(
      /^5 of 5 secrets were sealed again, with key 1\nAll 5 secrets are sealed with key 1\nNo longer in use: key 0\./,
    ),
  })
  expect(await reseal()).toEqual({
    code: 0,
    output: 'All 5 secrets are sealed with key 1\nNo other key is in use\n',
  })
  await second.stop()

  const third = await start(`1:${NEXT}`)
  expect((await published(third)).map(({ body }) => body)).toEqual(keys)
  expect((await call(third, 'GET', '/users?size=10')).status).toBe(200)
  await createApi(third, 'a')
  await vi.waitFor(() => expect(received).toHaveLength(1))
  const [delivery] = received
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': given } = delivery?.headers ?? {}
  const signed = createHmac('sha256', secret).update(`${id}.${at}.${delivery?.body}`).digest('base64')
  expect(given).toContain(`v1,${signed}`)
  expect(await allApis(third)).toHaveLength(1)
  await third.stop()

  const files = ['gantry.json', 'encryption.key', 'events.db', 'user-keys.db']
  const contents = () => files.map(file => readFileSync(join(folder, file), 'base64'))
  const before = contents()
  expect(await reseal()).toEqual({ code: 1, output: expect.stringMatching(/no identity service answers/) })
  expect(await runServiceProcess({ DATA_DIR: folder, PORT: '0', ENCRYPTION_KEY: `0:${OLD}` })).toEqual({
    code: 1,
    output: expect.stringContaining('ENCRYPTION_KEY: lacks key 1'),
  })
  expect(contents()).toEqual(before)
})
