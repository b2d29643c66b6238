import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { runServiceProcess, type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { scaledTimeout } from '../../bin/timeouts.mjs'

const mount = mkdtempSync(join(tmpdir(), 'gantry-small-disk-'))
// A data folder takes up most of 3 MB, and a write of a test 1 MB.
const notMounted = mountTmpfs(mount, '5m')

/** @returns why this machine cannot mount it; undefined when it is mounted */
function mountTmpfs(folder: string, size: string): string | undefined {
  if (process.platform !== 'linux') return 'tmpfs exists only on Linux'
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'pipe' })
    return undefined
  } catch (error) {
    return `mount of a tmpfs is not permitted: ${(error as Error).message.split('\n').at(-2)}`
  }
}

afterAll(() => {
  if (notMounted === undefined) execFileSync('umount', ['--lazy', mount])
  rmdirSync(mount)
})

const ballast = join(mount, 'ballast')

/** Uses all remaining space. */
function fill() {
  const file = openSync(ballast, 'a')
  try {
    for (const size of [65_536, 4_096]) for (;;) if (writeSync(file, Buffer.alloc(size)) < size) break
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(file)
  }
}
/** Uses all space except this number of bytes. */
function leave(bytes: number) {
  const { bavail, bsize } = statfsSync(mount)
  writeFileSync(ballast, Buffer.alloc(bavail * bsize - bytes))
}
const empty = () => rmSync(ballast)

interface Client {
  get(path: string): Promise<Response>
  createApi(name: string): Promise<Response>
  upload(api: string): Promise<Response>
}

function clientOf({ url, authorization }: ServiceProcess): Client {
  const headers = { authorization }
  return {
    get: path => fetch(`${url}${path}`, { headers }),
    createApi: name =>
      fetch(`${url}/apis`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name, displayName: 'x', status: 'ACTIVE', tags: [] }),
      }),
    upload(api) {
      const form = new FormData()
      const comment = randomBytes(100_000).toString('base64')
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2"><!--${comment}--></svg>`
      form.append('file', new Blob([svg]), 'logo.svg')
      return fetch(`${url}/apis/${api}/image`, { method: 'PUT', headers, body: form })
    },
  }
}

/** Fills the disk, free space inside the files included, until a write is refused. @returns the names that were created */
async function fillUp({ createApi }: Client, prefix: string): Promise<string[]> {
  const created: string[] = []
  for (let n = 0; ; n++) {
    fill()
    const { status } = await createApi(`${prefix}${n}`)
    if (status !== 201) return created
    created.push(`${prefix}${n}`)
  }
}

const expectUnavailable = async (answer: Promise<Response>) => {
  const { status, headers } = await answer
  expect(status).toBe(503)
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
}
/** What a start that takes longer than a second waits for. */
const WAITS = [
  'the registration of its routes',
  'its start',
  'its last message on the bus',
  'the first administrator',
  ...['signing-keys', 'audit-keys'].map(name => `the keys of identity.${name}`),
  ...['catalog', 'identity', 'media', 'notifier'].map(name => `the read models of ${name}`),
].map(what => `waits for ${what}`)
/** What a process printed, without the lines that a slow start prints while it waits. */
const startFailure = (output: string) =>
  output
    .trim()
    .split('\n')
    .filter(line => !WAITS.includes(line))
const lines = (service: ServiceProcess) =>
  service
    .output()
    .split('\n')
    .filter(line => line.startsWith('{') || /error|warning/i.test(line))

afterEach(() => rmSync(join(mount, 'data'), { recursive: true, force: true }))

describe.skipIf(notMounted !== undefined)('on a full disk', { meta: { skipped: notMounted } }, () => {
  test('reads continue, writes are answered 503, and a write succeeds as soon as there is space', {
    timeout: scaledTimeout(120_000),
  }, async () => {
    const data = join(mount, 'data')
    let service = await startServiceProcess(data)
    try {
      let client = clientOf(service)
      const { id } = (await (await client.createApi('first')).json()) as { id: string }
      const created = ['first', ...(await fillUp(client, 'before-'))]

      await expectUnavailable(client.createApi('refused'))
      await expectUnavailable(client.upload(id))
      for (const path of [`/apis/${id}`, '/apis', '/users', '/health/live', '/health/ready'])
        expect((await client.get(path)).status, path).toBe(200)
      // Leases, heartbeats and workers fail during this time, and are retried.
      await setTimeout(8_000)
      await expectUnavailable(client.createApi('refused'))
      expect((await client.get('/apis')).status).toBe(200)
      expect(lines(service)).toHaveLength(1)
      expect(lines(service)[0]).toMatch(/cannot be written: the disk is full; writes are refused/)

      empty()
      const again = await client.createApi('again')
      expect(again.status).toBe(201)
      created.push('again')
      expect((await client.upload(id)).status).toBe(200)
      await vi.waitFor(() => expect(lines(service)).toHaveLength(2), { timeout: scaledTimeout(10_000) })
      expect(lines(service)[1]).toMatch(/takes writes again/)
      expect((await client.get(`/apis/${id}`)).status).toBe(200)

      created.push(...(await fillUp(client, 'after-')))
      expect(await service.stop()).toBe(0)

      fill()
      const { code, output } = await runServiceProcess({ DATA_DIR: data, PORT: '0' })
      expect(startFailure(output)).toEqual([
        expect.stringMatching(/^gantry: .* cannot be written: the disk is full/),
      ])
      expect(code).toBe(1)

      empty()
      service = await startServiceProcess(data)
      client = clientOf(service)
      const listed = (await (await client.get('/apis?size=100')).json()) as { content: { name: string }[] }
      expect(listed.content.map(({ name }) => name).toSorted()).toEqual(created.toSorted())
      expect(await service.stop()).toBe(0)
    } finally {
      await service.kill()
    }
  })

  test('a first start is refused with one line, and the next one works', {
    timeout: scaledTimeout(60_000),
  }, async () => {
    const data = join(mount, 'new')
    // A first start needs about 1 MB: the disk is full from the beginning, or when the data folder is sealed, or
    // after the service has begun to listen.
    for (const kilobytes of [0, 288, 768]) {
      leave(kilobytes * 1024)
      const { code, output } = await runServiceProcess({ DATA_DIR: data, PORT: '0' })
      const [line, ...others] = startFailure(output)
      const [path, reason] = line?.split(' cannot be written: ') ?? []
      expect(path).toContain(`gantry: ${data}`)
      expect(reason).toMatch(/^the disk is full/)
      expect(others).toEqual([])
      expect(code).toBe(1)
      empty()
    }
    const service = await startServiceProcess(data)
    expect(await service.stop()).toBe(0)
  })
})
