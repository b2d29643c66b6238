import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from './free-port.ts'

const ports = () => Promise.all(Array.from({ length: 50 }, freePort))

test('a free port is outside the range for outgoing connections', async () => {
  const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => '49152 65535')
  const [lowest = 0] = range.split(/\s/).map(Number)
  expect(Math.max(...(await ports()))).toBeLessThan(lowest)
})

test('a server can listen on a free port', async () => {
  const port = await freePort()
  const server = createServer().listen(port, '127.0.0.1')
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject))
  await new Promise(resolve => server.close(resolve))
})

test('a free port is given once', async () => {
  const given: number[] = []
  while (given.length < 700) given.push(await freePort())
  expect(new Set(given).size).toBe(given.length)
})
