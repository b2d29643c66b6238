import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { client } from './client.ts'

test('a request whose connection breaks is sent again, except POST, which could create twice', async () => {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method}`)
    if (seen.length === 2) response.end('{}')
    else request.socket.destroy()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const caller = client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, '')
  expect(await caller.call('PUT', '/')).toEqual({ status: 200, body: {} })
  await expect(caller.call('POST', '/', {})).rejects.toThrow('fetch failed')
  expect(seen).toEqual(['PUT', 'PUT', 'POST'])
})
