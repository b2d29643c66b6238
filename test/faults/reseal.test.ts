import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  runCommand,
  runServiceProcess,
  type ServiceProcess,
  startServiceProcess,
} from '@gantry/standalone/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scaledTimeout } from '../../bin/timeouts.mjs'

const OLD = randomBytes(32).toString('base64')
const NEXT = randomBytes(32).toString('base64')

let folder: string
let service: ServiceProcess | undefined
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-reseal-'))
})
afterAll(async () => {
  await service?.stop()
  await rm(folder, { recursive: true })
})

/** The bytes of every file in a folder, by its path. */
async function contents(path: string): Promise<Record<string, string>> {
  const files = (await readdir(path, { recursive: true, withFileTypes: true })).filter(entry =>
    entry.isFile(),
  )
  const paths = files.map(file => join(file.parentPath, file.name))
  return Object.fromEntries(
    await Promise.all(paths.map(async file => [file, await readFile(file, 'base64')] as const)),
  )
}

/** Runs `npm run reseal`. */
const reseal = (dataFolder = folder, ...args: string[]) =>
  runCommand(['reseal', ...args], { DATA_DIR: dataFolder })
const start = async (keys: string) => {
  await service?.stop()
  await writeFile(join(folder, 'encryption.key'), keys, { mode: 0o600 })
  service = await startServiceProcess(folder, { WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' })
  return service
}
const send = (method: string, path: string, body?: object) =>
  fetch(`${service?.url}${path}`, {
    method,
    headers: {
      authorization: String(service?.authorization),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })

test(
  'after a rotation of ENCRYPTION_KEY all secrets are used without the old key, which is no longer needed',
  async () => {
    const signatures: string[] = []
    const receiver = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': given } = request.headers
      const signed = createHmac('sha256', secret).update(`${id}.${at}.${body}`).digest('base64')
      signatures.push(String(given).includes(`v1,${signed}`) ? 'valid' : 'invalid')
      response.end()
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`

    await start(OLD)
    const webhook = { displayName: 'x', url, active: true, eventTypes: ['API_CREATED'] }
    const made = (await (await send('POST', '/webhooks', webhook)).json()) as { id: string; secret: string }
    const secret = Buffer.from(made.secret.replace('whsec_', ''), 'base64')
    expect((await send('POST', '/users', { username: 'ada', displayName: 'Ada', sso: true })).status).toBe(
      201,
    )
    const [login, proofs] = ['jwks', 'audit-keys'].map(name => `/.well-known/${name}.json`) as [
      string,
      string,
    ]
    const published = async () => [
      await (await send('GET', login)).json(),
      await (await send('GET', proofs)).json(),
    ]
    const keys = await published()

    await start(`1:${NEXT},0:${OLD}`)
    const { code, output } = await reseal()
    expect([code, output]).toEqual([
      0,
      expect.stringMatching(
        /^5 of 5 secrets were sealed again, with key 1\nAll 5 secrets are sealed with key 1\nNo longer in use: key 0\./,
      ),
    ])
    expect(await reseal()).toEqual({
      code: 0,
      output: 'All 5 secrets are sealed with key 1\nNo other key is in use\n',
    })

    await start(`1:${NEXT}`)
    expect(await published()).toEqual(keys)
    expect((await send('GET', '/users?size=10')).status).toBe(200)
    const api = { name: 'a', displayName: 'A', status: 'ACTIVE', tags: [] }
    expect((await send('POST', '/apis', api)).status).toBe(201)
    await expect.poll(() => signatures, { timeout: scaledTimeout(10_000) }).toEqual(['valid'])
    receiver.closeAllConnections()
    receiver.close()

    await service?.stop()
    service = undefined
    const manifest = await readFile(join(folder, 'gantry.json'), 'utf8')
    const refused = await runServiceProcess({ DATA_DIR: folder, PORT: '0', ENCRYPTION_KEY: `0:${OLD}` })
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('ENCRYPTION_KEY lacks key 1')])
    expect(await readFile(join(folder, 'gantry.json'), 'utf8')).toBe(manifest)
  },
  scaledTimeout(60_000),
)

test.each([
  ['without a running service', [], /no identity service answers/, 1],
  ['with an argument', ['now'], /^gantry reseal: usage: npm run reseal/, 2],
])('%s it changes nothing', async (_, args, line, exitCode) => {
  const before = await contents(folder)
  const { code, output } = await reseal(folder, ...args)
  expect(output).toMatch(line)
  expect(code).toBe(exitCode)
  expect(await contents(folder)).toEqual(before)
})
