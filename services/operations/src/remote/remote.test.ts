import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { remoteOf } from './remote.ts'

test('an endless text of a refusal is not read to its end', async () => {
  const server = createServer((_, response) => {
    response.writeHead(400)
    const endless = () => {
      while (response.write('x'.repeat(1_000)));
    }
    response.on('drain', endless)
    endless()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const remote = remoteOf({ BASE_URL, GANTRY_TOKEN: 'token' })
  const options = { accept: 'application/json', signal: AbortSignal.timeout(5_000) }
  await expect(remote.get('/', {}, options)).rejects.toThrow(/^400 Bad Request$/)
  expect(options.signal.aborted).toBe(false)
})
