import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand, type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder: string
let service: ServiceProcess
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-rotate-'))
  service = await startServiceProcess(folder)
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true })
})

/** Runs `npm run rotate-keys`. */
const rotateKeys = (dataFolder: string, ...args: string[]) =>
  runCommand(['rotate-keys', ...args], { DATA_DIR: dataFolder })
const published = async () => {
  const { keys } = (await (await fetch(`${service.url}/.well-known/jwks.json`)).json()) as {
    keys: { kid: string }[]
  }
  return keys.map(({ kid }) => kid)
}
const mayRead = async (authorization: string) =>
  (await fetch(`${service.url}/apis?size=1`, { headers: { authorization } })).status
const keysInAudit = async (authorization: string) => {
  const answer = await fetch(`${service.url}/auditLog?resource=SIGNING_KEY&size=100`, {
    headers: { authorization },
  })
  const { content } = (await answer.json()) as { content: { action: string; user: { username: string } }[] }
  return content.map(({ action, user }) => `${action} ${user.username.split(' ')[0]}`)
}

test('the command gives the running service a new key, which survives kill -9', async () => {
  const { authorization } = service
  const [old] = await published()
  const { code, output } = await rotateKeys(folder)
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
  expect(await keysInAudit(authorization)).toEqual([
    'SIGNING_KEY_RETIRED operator',
    'SIGNING_KEY_CREATED operator',
    'SIGNING_KEY_CREATED identity',
  ])
}, 60_000)

test('with --compromised it ends every login immediately', async () => {
  const { authorization } = service
  expect(await mayRead(authorization)).toBe(200)
  const { code, output } = await rotateKeys(folder, '--compromised')
  expect(output).toMatch(/every login that another key signed has ended\n$/)
  expect(code).toBe(0)
  expect(await mayRead(authorization)).toBe(401)
  expect(await published()).toHaveLength(1)
}, 60_000)

test.each([
  ['without a running service', [], /no identity service answers/, 1],
  ['with an unknown option', ['--force'], /usage: npm run rotate-keys \[-- \[--audit\]/, 2],
])('%s it fails with one line and creates no key', async (_, args, line, exitCode) => {
  const { code, output } = await rotateKeys(join(folder, 'empty'), ...args)
  expect(output).toMatch(line)
  expect(output.trim().split('\n')).toHaveLength(1)
  expect(code).toBe(exitCode)
})
