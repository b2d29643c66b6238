import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RELEASE, RELEASE_HEADER } from '@gantry/service-runtime'
import { freePort } from '@gantry/service-runtime/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { run } from './await-services.ts'

/** A replica that is not ready and announces a release, which can be changed. */
async function startReplica(release: string, port = 0) {
  const replica = { url: '', release }
  const server = createServer((request, response) => {
    const headers = { [RELEASE_HEADER]: replica.release }
    response.writeHead(request.url === '/manage/health/ready' ? 503 : 404, headers).end()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  replica.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return replica
}

test('the command waits until each replica that answers has this release, and one of each service answers', async () => {
  const printed: unknown[] = []
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation(text => printed.push(text) > 0)
  onTestFinished(() => stdout.mockRestore())
  const reaches = (reason: string) =>
    vi.waitFor(() => expect(printed.at(-1)).toBe(`waits for CATALOG_URL: ${reason}\n`))
  const ports = [await freePort(), await freePort()]
  const { url } = await startReplica(RELEASE)
  const done = run([], {
    BASE_PATH: '/manage',
    CATALOG_URL: [...ports, 1].map(port => `http://127.0.0.1:${port}`).join(','),
    IDENTITY_URL: url,
    MEDIA_URL: url,
    NOTIFIER_URL: url.replace('127.0.0.1', 'localhost'),
  })
  await reaches('no replica answers')
  const older = await startReplica('0.0.9', ports[0])
  await startReplica('999.0.0', ports[1])
  await reaches(`a replica has release 0.0.9, not ${RELEASE}`)
  older.release = RELEASE
  expect(await done).toBe(0)
  expect(printed).toHaveLength(2)
})
