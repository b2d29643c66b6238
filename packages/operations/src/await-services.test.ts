import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { RELEASE, RELEASE_HEADER } from '@gantry/service-kit'
import { PROGRAM_ENVIRONMENT } from '@gantry/service-kit/testing'
import { afterEach, expect, test } from 'vitest'
import { endsWithParent } from '../../../bin/orphans.mjs'

const ended: (() => void)[] = []
afterEach(() => {
  for (const end of ended.splice(0)) end()
})

/** A replica that is not ready and announces a release, which can be changed. */
async function startReplica(release?: string) {
  const replica = { url: '', release }
  const server = createServer((request, response) => {
    const headers = replica.release === undefined ? {} : { [RELEASE_HEADER]: replica.release }
    response.writeHead(request.url === '/manage/health/ready' ? 503 : 404, headers).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ended.push(() => server.close())
  replica.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return replica
}

/** Starts the command for a catalog. The other services have one replica of the release. */
async function start(catalog: readonly string[]) {
  const { url } = await startReplica(RELEASE)
  const child = endsWithParent(
    spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), 'await-services'], {
      env: {
        ...PROGRAM_ENVIRONMENT,
        BASE_PATH: '/manage',
        CATALOG_URL: catalog.join(','),
        IDENTITY_URL: url,
        MEDIA_URL: url,
        NOTIFIER_URL: url.replace('127.0.0.1', 'localhost'),
      },
    }),
  )
  ended.push(() => child.kill())
  let printed = ''
  child.stdout.on('data', chunk => (printed += chunk))
  return { printed: () => printed, end: once(child, 'close') }
}

test.each([
  ['an earlier release', '0.0.9', 'release 0.0.9'],
  ['a release that announces none', undefined, 'an earlier release'],
])('the command waits for a replica with %s, and ends when it has this one', async (_, release, named) => {
  const newer = await startReplica('999.0.0')
  const older = await startReplica(release)
  const { printed, end } = await start([newer.url, older.url, 'http://127.0.0.1:1'])
  const line = `waits for CATALOG_URL: a replica has ${named}, not ${RELEASE}\n`
  await expect.poll(printed, { timeout: 60_000 }).toBe(line)
  older.release = RELEASE
  expect(await end).toEqual([0, null])
  expect(printed()).toBe(line)
})

test('the command waits for a service without a replica that answers', async () => {
  const { printed } = await start(['http://127.0.0.1:1'])
  await expect.poll(printed, { timeout: 60_000 }).toBe('waits for CATALOG_URL: no replica answers\n')
})
