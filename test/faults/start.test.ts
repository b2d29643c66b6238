import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@gantry/service-kit/testing'
import { runServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let parent: string
let used: string

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'gantry-start-'))
  used = join(parent, 'used')
  const service = await startServiceProcess(used)
  const headers = { authorization: service.authorization, 'content-type': 'application/json' }
  for (let n = 0; n < 50; n++) {
    const body = JSON.stringify({
      name: `api-${n}`,
      displayName: 'x',
      status: 'ACTIVE',
      tags: [],
      description: 'y'.repeat(500),
    })
    await fetch(`${service.url}/apis`, { method: 'POST', headers, body })
  }
  await service.stop()
})
afterAll(async () => {
  await rm(parent, { recursive: true })
})

let copies = 0
const copyOfUsed = async () => {
  const folder = join(parent, `copy-${copies++}`)
  await cp(used, folder, { recursive: true })
  return folder
}
const fingerprints = async (folder: string) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  const prints = files.map(async file => [
    file,
    createHash('sha256')
      .update(await readFile(file))
      .digest('hex'),
  ])
  return Object.fromEntries(await Promise.all(prints))
}

describe('an unusable data folder is refused with one line and not changed', () => {
  const overwrite = async (file: string, at: number, bytes: Buffer) => {
    const content = await readFile(file)
    bytes.copy(content, at)
    await writeFile(file, content)
  }
  test.each<[string, RegExp, (folder: string) => Promise<void>]>([
    [
      'a log that is not a database',
      /events\.db .*not a SQLite database/,
      folder => writeFile(join(folder, 'events.db'), 'x'.repeat(9000)),
    ],
    [
      'a truncated log',
      /events\.db .*(truncated|damaged|cut|short)/i,
      async folder => {
        const { size } = await stat(join(folder, 'events.db'))
        await truncate(join(folder, 'events.db'), Math.floor(size / 2 / 4096) * 4096)
      },
    ],
    [
      'a damaged log',
      /events\.db .*damaged/,
      folder => overwrite(join(folder, 'events.db'), 4096, Buffer.alloc(4096, 0xff)),
    ],
    [
      'damaged read models',
      /read-models\.db .*damaged/,
      folder => overwrite(join(folder, 'read-models.db'), 4096, Buffer.alloc(4096, 0xff)),
    ],
    [
      'a log of a newer version',
      /events\.db .*newer/,
      folder => overwrite(join(folder, 'events.db'), 60, Buffer.from([0, 0, 0, 99])),
    ],
    [
      'a folder of a newer version',
      /gantry\.json .*newer/,
      folder => writeFile(join(folder, 'gantry.json'), '{"format":99,"keyFingerprint":"x"}'),
    ],
    [
      'a manifest that is not JSON',
      /gantry\.json .*damaged/,
      folder => writeFile(join(folder, 'gantry.json'), '{'),
    ],
    ['a missing log', /events\.db .*missing/, folder => rm(join(folder, 'events.db'))],
    ['a missing key', /encryption\.key .*missing/, folder => rm(join(folder, 'encryption.key'))],
    [
      'another key',
      /another ENCRYPTION_KEY/,
      folder => writeFile(join(folder, 'encryption.key'), `${Buffer.alloc(32).toString('base64')}\n`),
    ],
    [
      'keys without the one in use',
      /ENCRYPTION_KEY lacks key 0/,
      folder => writeFile(join(folder, 'encryption.key'), `1:${Buffer.alloc(32).toString('base64')}\n`),
    ],
    [
      'two keys with one id',
      /encryption\.key is no valid ENCRYPTION_KEY: has two keys with the id 1/,
      folder => writeFile(join(folder, 'encryption.key'), `1:${'00'.repeat(32)},1:${'01'.repeat(32)}\n`),
    ],
  ])('%s', async (_name, line, damage) => {
    const folder = await copyOfUsed()
    await damage(folder)
    const before = await fingerprints(folder)
    const { code, output } = await runServiceProcess({ DATA_DIR: folder, PORT: '0' })
    expect(output).toMatch(line)
    expect(output.trim().split('\n')).toHaveLength(1)
    expect(code).toBe(1)
    expect(await fingerprints(folder)).toEqual(before)
  })
})

describe('a start is refused with a clear message for', () => {
  test('a port that is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const { code, output } = await runServiceProcess({ DATA_DIR: join(parent, 'taken'), PORT: String(port) })
    server.close()
    expect(output).toContain(`port ${port} is taken`)
    expect(output).not.toContain('password')
    expect(code).toBe(1)
  })
  test('a metrics port that is in use or equal to the port', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const settings = { DATA_DIR: join(parent, 'metrics'), METRICS_PORT: String(port) }
    const taken = await runServiceProcess({ ...settings, PORT: '0' })
    server.close()
    expect(taken.output).toContain(
      `port ${port} is taken: stop what uses it, or choose another with METRICS_PORT=`,
    )
    expect(taken.code).toBe(1)
    const same = await runServiceProcess({ ...settings, PORT: String(port) })
    expect(same.output).toBe('gantry: wrong settings\n  METRICS_PORT: must be another port than PORT\n')
    expect(same.code).toBe(1)
  })
  test('a data folder that is a file', async () => {
    await writeFile(join(parent, 'file'), '')
    const { code, output } = await runServiceProcess({ DATA_DIR: join(parent, 'file'), PORT: '0' })
    expect(output).toContain('is not a folder')
    expect(code).toBe(1)
  })
  test('a folder that the operating system does not let exist', async () => {
    const { code, output } = await runServiceProcess({ DATA_DIR: '/proc/gantry/data', PORT: '0' })
    expect(output).toBe(
      'gantry: /proc/gantry/data is not writable: set DATA_DIR to a folder that this user may write to\n',
    )
    expect(code).toBe(1)
    const settings = { DATA_DIR: join(parent, 'log'), EVENT_STORE_URL: 'sqlite:/proc/gantry/events.db' }
    expect(await runServiceProcess({ ...settings, PORT: '0' })).toEqual({
      code: 1,
      output: 'gantry: /proc/gantry cannot be created: ENOENT\n',
    })
  })
  test('wrong settings, with one line for each', async () => {
    const { code, output } = await runServiceProcess({
      PORT: 'x',
      WEBHOOK_RETRY_SCHEDULE: '5 parsecs',
      DATA_DIR: join(parent, 'settings'),
    })
    expect(output).toContain('PORT')
    expect(output).toContain('WEBHOOK_RETRY_SCHEDULE')
    expect(code).toBe(1)
  })
  test('a misspelled setting', async () => {
    const { code, output } = await runServiceProcess({ PROT: '0', DATA_DIR: join(parent, 'misspelled') })
    expect(output).toBe('gantry: wrong settings\n  PROT: is not a setting; did you mean PORT?\n')
    expect(code).toBe(1)
  })
  test('a message retention shorter than that of deliveries', async () => {
    const { code, output } = await runServiceProcess({
      MESSAGE_RETENTION: '7d',
      DATA_DIR: join(parent, 'retention'),
    })
    expect(output).toBe(
      'gantry: wrong settings\n  MESSAGE_RETENTION: must not be shorter than WEBHOOK_RETENTION, which is 30d\n',
    )
    expect(code).toBe(1)
    expect(await readdir(parent)).not.toContain('retention')
  })
})

describe('a start', () => {
  test('shows a generated password once', async () => {
    const folder = join(parent, 'generated')
    const first = await startServiceProcess(folder, { GANTRY_ADMIN_PASSWORD: '' })
    expect(first.output()).toMatch(/password {2}\S{20,}/)
    await first.stop()
    const second = await startServiceProcess(folder, { GANTRY_ADMIN_PASSWORD: first.password })
    expect(second.output()).not.toContain('First start')
    await second.stop()
  })
  test('on an existing folder is quick, keeps the data, and exits with 0', async () => {
    const service = await startServiceProcess(await copyOfUsed())
    const { totalElements } = (await (
      await fetch(`${service.url}/apis`, { headers: { authorization: service.authorization } })
    ).json()) as { totalElements: number }
    expect(totalElements).toBe(50)
    expect(service.output()).not.toContain('First start')
    expect(await service.stop()).toBe(0)
  })
  test('finds the log where EVENT_STORE_URL names it', async () => {
    const folder = await copyOfUsed()
    const elsewhere = join(parent, 'elsewhere.db')
    await rename(join(folder, 'events.db'), elsewhere)
    const settings = { EVENT_STORE_URL: `sqlite:${elsewhere}` }
    const { output, stop } = await startServiceProcess(folder, settings)
    expect(output()).not.toContain('First start')
    expect(await stop()).toBe(0)
    expect(await readdir(folder)).not.toContain('events.db')
    await rm(elsewhere)
    const refused = await runServiceProcess({ ...settings, DATA_DIR: folder, PORT: '0' })
    expect(refused).toEqual({ code: 1, output: expect.stringContaining(`${elsewhere} is missing`) })
  })
  test('is possible with a base path', async () => {
    const service = await startServiceProcess(join(parent, 'base'), { BASE_PATH: '/gantry' })
    const headers = { authorization: service.authorization, 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'a', displayName: 'x', status: 'ACTIVE', tags: [] })
    const created = await fetch(`${service.url}/apis`, { method: 'POST', headers, body })
    expect(created.headers.get('location')).toMatch(/^\/gantry\/apis\//)
    expect((await fetch(new URL('/apis', service.url), { headers })).status).toBe(404)
    expect(await service.stop()).toBe(0)
  })
})

test('the metrics are those of every process, with the label process', async () => {
  const service = await startServiceProcess(await copyOfUsed())
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  for (const setting of ['EVENT_STORE_URL', 'READ_MODEL_URL', 'DATA_DIR'])
    expect(metrics).toContain(`gantry_engine_up{setting="${setting}",process="standalone"} 1`)
  const leases = [...metrics.matchAll(/^gantry_lease_held\{lease="([^"]+)"/gm)].map(([, lease = '']) => lease)
  expect(leases).toEqual(expect.arrayContaining(['notifier.scheduler', 'media.sweeper']))
  for (const worker of ['', 'identity.audit-days', 'catalog.projector.readiness', ...leases])
    expect(metrics).toContain(`gantry_log_errors_total{worker="${worker}",process="standalone"} 0`)
  const series = metrics.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  expect(series.filter(line => !line.includes('process="standalone"'))).toEqual([])
  expect(await service.stop()).toBe(0)
})

test('with METRICS_PORT, metrics are only at that port, and health only at PORT', async () => {
  const metricsPort = await freePort()
  const service = await startServiceProcess(await copyOfUsed(), {
    METRICS_PORT: String(metricsPort),
    BASE_PATH: '/gantry',
  })
  const statusOf = async (url: string) => (await fetch(url)).status
  const metrics = `http://127.0.0.1:${metricsPort}/gantry`
  for (const path of ['/health/live', '/health/ready'])
    expect([await statusOf(service.url + path), await statusOf(metrics + path)]).toEqual([200, 404])
  expect([await statusOf(`${service.url}/metrics`), await statusOf(`${metrics}/metrics`)]).toEqual([404, 200])
  expect(await statusOf(`${metrics}/apis`)).toBe(404)
  expect(await service.stop()).toBe(0)
})
