import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Topology } from './topology.ts'

export interface Receiver {
  /** The ids of events that arrived, by the id of the API and the type. */
  arrived(api: string, type: string): ReadonlySet<string>
  stop(): Promise<void>
}

interface Delivered {
  id: string
  type: string
  data: { id: string } | { api: string }
}

/** A webhook for everything that happens to APIs, and who receives it. */
export async function receiveFrom(topology: Topology, eventTypes: string[]): Promise<Receiver> {
  const arrived = new Map<string, Set<string>>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { id, type, data } = JSON.parse(Buffer.concat(chunks).toString()) as Delivered
    const key = `${'api' in data ? data.api : data.id} ${type}`
    arrived.set(key, (arrived.get(key) ?? new Set()).add(id))
    response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const webhook = { displayName: 'Journey', url, active: true, eventTypes }
  const made = await topology.send('/webhooks', { method: 'POST', body: JSON.stringify(webhook) })
  if (made.status !== 201) throw new Error(`no webhook: ${made.status} ${await made.text()}`)
  return {
    arrived: (api, type) => arrived.get(`${api} ${type}`) ?? new Set(),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
