import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findNats, lacksSyncInterval } from '@gantry/engines'
import { derivedPrincipalKey } from '@gantry/service-runtime'
import { freePort } from '@gantry/service-runtime/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'
import { readCompose } from './src/compose.ts'
import { ROOT } from './src/files.ts'
import { SETTINGS } from './src/settings.ts'

const { services } = readCompose('docker-compose.yml')
const folder = mkdtempSync(join(tmpdir(), 'gantry-compose-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the health check exits with 0 only for a service that is ready', async () => {
  const [, program, ...args] = services.catalog?.healthcheck?.test ?? []
  expect(program).toBe('node')
  let status = 200
  const server = createServer((request, response) =>
    response.writeHead(request.url === '/health/ready' ? status : 404).end(),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const check = async () => {
    const given = args.map(arg => arg.replace(':8080', `:${port}`))
    const [code] = await once(endsWithParent(spawn(process.execPath, given)), 'exit')
    return code
  }
  expect(await check()).toBe(0)
  status = 503
  expect(await check()).toBe(1)
  server.close().closeAllConnections()
  await once(server, 'close')
  expect(await check()).toBe(1)
})

describe('the service that generates secrets', () => {
  const inFolder = (...path: string[]) => join(folder, ...path)
  const run = (environment: NodeJS.ProcessEnv = {}) => {
    const [program, script = '', of, ...copies] = services.secrets?.entrypoint ?? []
    expect([program, of]).toEqual(['node', '/run/gantry'])
    const path = join(ROOT, script.replace(/^\/compose/, 'deploy/compose'))
    for (const copy of copies) mkdirSync(inFolder(copy.split(':')[0] ?? ''), { recursive: true })
    const args = [path, folder, ...copies.map(copy => inFolder(copy))]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      env: environment,
      encoding: 'utf8',
    })
    return { status, said: stdout + stderr }
  }
  const read = (...path: string[]) => readFileSync(inFolder(...path), 'utf8')
  const contents = () => ['encryption-key', 'admin-password', 'principal-key'].map(name => read(name))
  const principalKey = (key: Buffer) => derivedPrincipalKey(key).toString('base64')

  test('generates them once, in the format of the services, readable by their owner only', () => {
    expect(run().status).toBe(0)
    const made = contents()
    const key = Buffer.from(made[0] ?? '', 'base64')
    expect(key).toHaveLength(32)
    expect(SETTINGS.identity?.shape.GANTRY_ADMIN_PASSWORD?.safeParse(made[1]).success).toBe(true)
    expect(made[2]).toBe(principalKey(key))
    for (const file of ['encryption-key', 'run/for/gateway/principal-key'])
      expect([file, statSync(inFolder(file)).mode & 0o777]).toEqual([file, 0o400])
    expect(run()).toEqual({ status: 0, said: '' })
    expect(contents()).toEqual(made)
  })

  test('copies the named files to the folder of each argument', () => {
    const [key, password, principals] = contents()
    const of = (name: string) =>
      Object.fromEntries(
        readdirSync(inFolder('run/for', name)).map(file => [file, read('run/for', name, file)]),
      )
    expect(of('gateway')).toEqual({ 'principal-key': principals })
    const mongo = read('mongo-password')
    const url = `mongodb://gantry:${mongo}@mongodb:27017/gantry?replicaSet=rs0&authSource=admin`
    const ofServices = { 'encryption-key': key, 'principal-key': principals, 'read-model-url': url }
    expect(of('services')).toEqual(ofServices)
    expect(of('identity')).toEqual({ ...ofServices, 'admin-password': password })
    // The characters of base64, which the key of a replica set has.
    expect(mongo).toMatch(/^[\da-f]{64}$/)
    expect(of('mongodb')).toEqual({ 'mongo-password': mongo })
  })

  test('generates missing secrets, keeps the others, and refuses different ones, which would not match the data', () => {
    const [key, password] = contents()
    rmSync(inFolder('principal-key'))
    rmSync(inFolder('run'), { recursive: true })
    expect(run()).toEqual({ status: 0, said: 'PRINCIPAL_KEY: generated, stored in principal-key\n' })
    const made = contents()
    expect(made.slice(0, 2)).toEqual([key, password])
    expect(read('run/for/services/encryption-key')).toBe(key)
    expect(run({ ENCRYPTION_KEY: 'another' })).toEqual({
      status: 1,
      said: expect.stringMatching(/^ENCRYPTION_KEY: differs from the value of the first start/),
    })
    expect(run({ ENCRYPTION_KEY: key }).status).toBe(0)
    expect(contents()).toEqual(made)
  })

  test('replaces the key by a list of keys with ids, whose first one gives a new key of principals', () => {
    const [key = '', , principals] = contents()
    const [first, other] = [Buffer.alloc(32, 8), Buffer.alloc(32, 9).toString('base64')]
    const keys = `0:${key},1:${first.toString('base64')}`
    expect(run({ ENCRYPTION_KEY: '1:short' }).status).toBe(1)
    expect(contents()[0]).toBe(key)
    expect(run({ ENCRYPTION_KEY: keys }).status).toBe(0)
    expect([contents()[0], contents()[2], read('run/for/services/encryption-key')]).toEqual([
      keys,
      principals,
      keys,
    ])
    expect(SETTINGS.identity?.shape.ENCRYPTION_KEY?.safeParse(keys).success).toBe(true)
    expect(run()).toEqual({ status: 0, said: '' })
    rmSync(inFolder('principal-key'))
    expect(run({ ENCRYPTION_KEY: ` 1:${first.toString('base64')} , 0:${other}` }).status).toBe(0)
    expect(read('principal-key')).toBe(principalKey(first))
  })

  test('uses a given secret at the first start if the services would accept it', () => {
    rmSync(inFolder('encryption-key'))
    expect(run({ ENCRYPTION_KEY: 'short' })).toEqual({
      status: 1,
      said: 'ENCRYPTION_KEY: must be 32 bytes, in base64 or hexadecimal\n',
    })
    const given = Buffer.alloc(32, 7).toString('base64')
    const { status, said } = run({ ENCRYPTION_KEY: given })
    expect([status, contents()[0]]).toEqual([0, given])
    expect(said).not.toContain(given)
  })
})

test('NATS accepts its configuration and syncs every message', async ({ skip }) => {
  const found = await findNats()
  const lacking = lacksSyncInterval(found)
  if (lacking) skip(lacking)
  if (!found.found) throw new Error('unreachable')
  const monitoring = await freePort()
  const config = join(ROOT, 'deploy/compose/nats.conf')
  const { stop } = await found.start({
    args: ['--config', config, '--store_dir', join(folder, 'nats'), '--http_port', String(monitoring)],
  })
  try {
    expect((await fetch(`http://127.0.0.1:${monitoring}/healthz`)).status).toBe(200)
    const varz = (await (await fetch(`http://127.0.0.1:${monitoring}/varz`)).json()) as {
      jetstream: { config: object }
    }
    expect(varz.jetstream.config).toMatchObject({ sync_always: true })
  } finally {
    await stop()
  }
})
