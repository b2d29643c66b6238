import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, statfsSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { runServiceProcess, type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { allApis, apiNamed, call, createApi, newFolder, uploadImage } from './src/service.ts'

const mount = newFolder()
// A data folder takes 4 to 5 MB, a write of a test 1 MB, and the test write that finds space 1 MB.
const notMounted = mountTmpfs(mount, '8m')
const ballast = join(mount, 'ballast')

/** @returns why this machine cannot mount it; undefined when it is mounted */
function mountTmpfs(folder: string, size: string): string | undefined {
  if (process.platform !== 'linux') return 'tmpfs exists only on Linux'
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'pipe' })
  } catch (error) {
    return `mount of a tmpfs is not permitted: ${(error as Error).message.split('\n').at(-2)}`
  }
  afterAll(() => void execFileSync('umount', ['--lazy', folder]))
  return undefined
}

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

/** Metrics are expensive, and a lease runs for many seconds. */
const EACH_SECOND = { interval: 1_000 }

/** Fills the disk, free space inside the files included, until a write is refused. @returns the names that were created */
async function fillUp(service: ServiceProcess, prefix: string): Promise<string[]> {
  const created: string[] = []
  for (;;) {
    fill()
    const name = `${prefix}${created.length}`
    if ((await call(service, 'POST', '/apis', apiNamed(name))).status !== 201) return created
    created.push(name)
  }
}

const largeImage = () => {
  const comment = randomBytes(100_000).toString('base64')
  return new Blob([`<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2"><!--${comment}--></svg>`])
}
const expectUnavailable = ({ status, headers }: { status: number; headers: Headers }) => {
  expect(status).toBe(503)
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
}

/** Runs the service, which fails. @returns its lines, without those that a slow start prints while it waits */
async function failedStart(dataFolder: string) {
  const { code, output } = await runServiceProcess({ DATA_DIR: dataFolder, PORT: '0' })
  expect(code).toBe(1)
  return output.split('\n').filter(line => line !== '' && !line.startsWith('waits for '))
}
const logged = (service: ServiceProcess) =>
  service
    .output()
    .split('\n')
    .filter(line => line.startsWith('{') || /error|warning/i.test(line))

describe.skipIf(notMounted !== undefined)('on a full disk', { meta: { skipped: notMounted } }, () => {
  test('reads continue, writes are answered 503, and a write succeeds as soon as there is space', async () => {
    const data = join(mount, 'data')
    const service = await startServiceProcess(data)
    const id = await createApi(service, 'first')
    const created = ['first', ...(await fillUp(service, 'before-'))]

    expectUnavailable(await call(service, 'POST', '/apis', apiNamed('refused')))
    expectUnavailable(await uploadImage(service, id, largeImage()))
    for (const path of [`/apis/${id}`, '/apis', '/users', '/health/live', '/health/ready'])
      expect((await call(service, 'GET', path)).status, path).toBe(200)
    // Leases cannot be renewed, and their workers try again.
    await vi.waitFor(async () => {
      const metrics = await (await fetch(`${service.url}/metrics`)).text()
      const leases = [...metrics.matchAll(/^gantry_lease_held\{.*\} (\d)$/gm)].map(([, held]) => held)
      expect(new Set(leases)).toEqual(new Set(['0']))
    }, EACH_SECOND)
    expectUnavailable(await call(service, 'POST', '/apis', apiNamed('refused')))
    expect((await call(service, 'GET', '/apis')).status).toBe(200)
    expect(logged(service)).toEqual([
      expect.stringMatching(/cannot be written: the disk is full; writes are refused/),
    ])

    empty()
    await createApi(service, 'again')
    created.push('again')
    expect((await uploadImage(service, id, largeImage())).status).toBe(200)
    await vi.waitFor(() => expect(logged(service)).toHaveLength(2))
    expect(logged(service)[1]).toMatch(/takes writes again/)

    created.push(...(await fillUp(service, 'after-')))
    expect(await service.stop()).toBe(0)
    fill()
    expect(await failedStart(data)).toEqual([
      expect.stringMatching(/^gantry: .* cannot be written: the disk is full/),
    ])

    empty()
    const next = await startServiceProcess(data)
    expect((await allApis(next)).map(({ name }) => name).toSorted()).toEqual(created.toSorted())
    expect(await next.stop()).toBe(0)
    rmSync(data, { recursive: true })
  })

  test('a first start is refused with one line, and the next one works', async () => {
    const data = join(mount, 'new')
    // A first start needs about 4 MB, most of it for the tables of indexes: the disk is full from the beginning, or when
    // the data folder is sealed, or when these tables are created.
    for (const kilobytes of [0, 288, 768]) {
      leave(kilobytes * 1024)
      const refusal = expect.stringMatching(/^gantry: \S*\/new\S* cannot be written: the disk is full/)
      expect(await failedStart(data)).toEqual([refusal])
      empty()
    }
    expect(await (await startServiceProcess(data)).stop()).toBe(0)
  })
})
