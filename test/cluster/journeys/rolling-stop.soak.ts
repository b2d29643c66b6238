import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startTopology, type Topology } from './support/topology.ts'

const CLIENTS = 12
/** Interval of the health checks of the load balancer. */
const CHECK_MS = 250
/** Time for clients of a process to find out that it is ready again, like `minReadySeconds`. */
const FOUND_MS = 2_000

let topology: Topology
beforeAll(async () => {
  topology = await startTopology({ environment: { SHUTDOWN_DELAY: '2s' } })
})
afterAll(() => topology?.stop())

/** A load balancer in front of the gateways: it keeps connections open, and never repeats a request. */
function openBalancer(urls: readonly string[]) {
  const agent = new Agent({ keepAlive: true })
  const ready = new Set(urls)
  const checking = setInterval(async () => {
    for (const url of urls) {
      const health = await fetch(`${url}/health/ready`).catch(() => undefined)
      if (health?.ok) ready.add(url)
      else ready.delete(url)
    }
  }, CHECK_MS)
  let turn = 0
  return {
    /** @returns the status and the body */
    async send(method: string, path: string, body?: object): Promise<[number, string]> {
      const url = [...ready][turn++ % ready.size] ?? ''
      const headers = {
        authorization: topology.authorization,
        ...(body && { 'content-type': 'application/json' }),
      }
      const sent = request(`${url}${path}`, { agent, method, headers })
      sent.end(body && JSON.stringify(body))
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      return [response.statusCode ?? 0, await text(response)]
    },
    close() {
      clearInterval(checking)
      agent.destroy()
    },
  }
}

test('the rolling stop of every process fails no request on connections that stay open', async () => {
  const balancer = openBalancer(topology.urls)
  const failed: string[] = []
  let answered = 0
  let isOver = false
  const sent = async (expected: number, ...given: Parameters<typeof balancer.send>) => {
    try {
      const [status, body] = await balancer.send(...given)
      if (status === expected) answered++
      else failed.push(`${given[0]} ${given[1]}: ${status} ${body}`)
    } catch (error) {
      failed.push(`${given[0]} ${given[1]}: ${error}`)
    }
  }
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let n = 0; !isOver; n++) {
      const name = `rolling-${client}-${n}`
      if (n % 3) await sent(200, 'GET', '/apis?size=5')
      else await sent(201, 'POST', '/apis', { name, displayName: name, status: 'ACTIVE', tags: [] })
      await setTimeout(20)
    }
  })
  for (const replica of topology.processes) {
    const { name } = replica
    process.kill(topology.pid(name), 'SIGTERM')
    await vi.waitFor(() => expect(topology.said.join('\n')).toContain(`${name} is ready again`), {
      timeout: 60_000,
      interval: 100,
    })
    await setTimeout(FOUND_MS)
  }
  isOver = true
  await Promise.all(clients)
  balancer.close()
  process.stderr.write(`rolling stop: ${answered} requests answered, ${failed.length} failed\n`)
  expect(failed).toEqual([])
  expect(answered).toBeGreaterThan(1_000)
  const ends = topology.said.filter(line => line.includes(' ended with '))
  expect(ends).toHaveLength(topology.processes.length)
  expect(ends.filter(line => !line.includes('ended with 0'))).toEqual([])
})
