import { join } from 'node:path'
import { runCommand, type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { beforeAll, expect, test } from 'vitest'
import { call, newFolder } from './src/service.ts'

const folder = newFolder()
let service: ServiceProcess
beforeAll(async () => {
  service = await startServiceProcess(folder)
})

/** Runs `npm run rotate-keys`. */
const rotateKeys = (...args: string[]) => runCommand(['rotate-keys', ...args], { DATA_DIR: folder })
const published = async () => {
  const { body } = await call<{ keys: { kid: string }[] }>(service, 'GET', '/.well-known/jwks.json')
  return body.keys.map(({ kid }) => kid)
}
const mayRead = async (authorization: string) =>
  (await call({ ...service, authorization }, 'GET', '/apis?size=1')).status

test('the command gives the running service a new key, which survives kill -9', async () => {
  const { authorization } = service
  const [old] = await published()
  const { code, output } = await rotateKeys()
  expect(output).toMatch(
    /^Key \S{43} is published, and signs logins from \S+Z on; no login ends because of it\n$/,
  )
  expect(code).toBe(0)
  const kid = output.split(' ')[1]
  expect(await published()).toEqual([old, kid])

  await service.kill()
  service = await startServiceProcess(folder)
  expect(await published()).toEqual([old, kid])
  expect(await mayRead(authorization)).toBe(200)
  const { body } = await call<{ content: { action: string; user: { username: string } }[] }>(
    { ...service, authorization },
    'GET',
    '/auditLog?resource=SIGNING_KEY&size=100',
  )
  expect(body.content.map(({ action, user }) => `${action} ${user.username.split(' ')[0]}`)).toEqual([
    'SIGNING_KEY_RETIRED operator',
    'SIGNING_KEY_CREATED operator',
    'SIGNING_KEY_CREATED identity',
  ])
})

test('with --compromised it ends every login immediately', async () => {
  const { authorization } = service
  expect(await mayRead(authorization)).toBe(200)
  const { code, output } = await rotateKeys('--compromised')
  expect(output).toMatch(/every login that another key signed has ended\n$/)
  expect(code).toBe(0)
  expect(await mayRead(authorization)).toBe(401)
  expect(await published()).toHaveLength(1)
  expect(await service.stop()).toBe(0)
})

test('without a running service it fails with one line', async () => {
  const { code, output } = await runCommand(['rotate-keys'], { DATA_DIR: join(folder, 'empty') })
  expect(output).toMatch(/^.*no identity service answers.*\n$/)
  expect(code).toBe(1)
})
