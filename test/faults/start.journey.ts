import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { freePort } from '@gantry/service-runtime/testing'
import { runServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { beforeAll, describe, expect, test } from 'vitest'
import { allApis, apiNamed, call, createApi, newFolder } from './src/service.ts'

const parent = newFolder()
/** A folder that a service with one API has used. */
const used = join(parent, 'used')
let password: string
let api: string
beforeAll(async () => {
  const service = await startServiceProcess(used, { GANTRY_ADMIN_PASSWORD: '' })
  expect(service.output()).toMatch(/password {2}\S{20,}/)
  password = service.password
  api = await createApi(service, 'kept')
  expect(await service.stop()).toBe(0)
})

describe('the next start', () => {
  test('shows no password, has the data, and the metrics of every process with the label process', async () => {
    const service = await startServiceProcess(used, { GANTRY_ADMIN_PASSWORD: password })
    expect(service.output()).not.toContain('First start')
    expect(await allApis(service)).toMatchObject([{ id: api, name: 'kept' }])
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    for (const setting of ['EVENT_STORE_URL', 'READ_MODEL_URL', 'DATA_DIR'])
      expect(metrics).toContain(`gantry_engine_up{setting="${setting}",process="standalone"} 1`)
    const leases = [...metrics.matchAll(/^gantry_lease_held\{lease="([^"]+)"/gm)].map(([, name = '']) => name)
    expect(leases).toEqual(expect.arrayContaining(['notifier.scheduler', 'media.sweeper']))
    for (const worker of ['', 'identity.audit-days', 'catalog.projector.readiness', ...leases])
      expect(metrics).toContain(`gantry_log_errors_total{worker="${worker}",process="standalone"} 0`)
    const series = metrics.split('\n').filter(line => line !== '' && !line.startsWith('#'))
    expect(series.filter(line => !line.includes('process="standalone"'))).toEqual([])
    expect(await service.stop()).toBe(0)
  })

  test('finds the log at EVENT_STORE_URL, has metrics only at METRICS_PORT, and all paths under BASE_PATH', async () => {
    const folder = join(parent, 'moved')
    const elsewhere = join(parent, 'elsewhere.db')
    cpSync(used, folder, { recursive: true })
    renameSync(join(folder, 'events.db'), elsewhere)
    const metricsPort = await freePort()
    const service = await startServiceProcess(folder, {
      GANTRY_ADMIN_PASSWORD: password,
      EVENT_STORE_URL: `sqlite:${elsewhere}`,
      METRICS_PORT: String(metricsPort),
      BASE_PATH: '/gantry',
    })
    expect(service.output()).not.toContain('First start')
    const created = await call(service, 'POST', '/apis', apiNamed('a'))
    expect(created.headers.get('location')).toMatch(/^\/gantry\/apis\//)
    const { origin } = new URL(service.url)
    const metrics = `http://127.0.0.1:${metricsPort}/gantry`
    const statusOf = async (url: string) => (await fetch(url)).status
    for (const path of ['/health/live', '/health/ready'])
      expect([await statusOf(service.url + path), await statusOf(metrics + path)]).toEqual([200, 404])
    expect([await statusOf(`${service.url}/metrics`), await statusOf(`${metrics}/metrics`)]).toEqual([
      404, 200,
    ])
    for (const url of [`${metrics}/apis`, `${origin}/apis`]) expect(await statusOf(url)).toBe(404)
    expect(await service.stop()).toBe(0)
    expect(readdirSync(folder)).not.toContain('events.db')
  })
})

describe('a start is refused with a clear message for', () => {
  test('a damaged log, which is not changed', async () => {
    const folder = join(parent, 'damaged')
    cpSync(used, folder, { recursive: true })
    const log = join(folder, 'events.db')
    writeFileSync(log, readFileSync(log).fill(0xff, 4096, 8192))
    const before = readFileSync(log)
    const { code, output } = await runServiceProcess({ DATA_DIR: folder, PORT: '0' })
    expect(output).toMatch(/^gantry: .*events\.db .*damaged.*\n$/)
    expect(code).toBe(1)
    expect(readFileSync(log).equals(before)).toBe(true)
  })

  test.each(['PORT', 'METRICS_PORT'])('a %s that is in use', async setting => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const settings = { DATA_DIR: join(parent, 'taken'), PORT: '0', [setting]: String(port) }
    const { code, output } = await runServiceProcess(settings)
    server.close()
    expect(output).toContain(`port ${port} is taken: stop what uses it, or choose another with ${setting}=`)
    expect(output).not.toContain('password')
    expect(code).toBe(1)
  })

  test('settings that contradict each other, with one line for each', async () => {
    const folder = join(parent, 'settings')
    const settings = { PORT: '8080', METRICS_PORT: '8080', MESSAGE_RETENTION: '7d' }
    expect(await runServiceProcess({ ...settings, DATA_DIR: folder })).toEqual({
      code: 1,
      output: [
        'gantry: wrong settings',
        '  METRICS_PORT: must be another port than PORT',
        '  MESSAGE_RETENTION: must not be shorter than WEBHOOK_RETENTION, which is 30d\n',
      ].join('\n'),
    })
    expect(existsSync(folder)).toBe(false)
  })
})
