import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Topology } from './topology.ts'

export interface Receiver {
  /** Ids of the events that arrived, by API id and event type. */
  arrived(api: string, type: string): ReadonlySet<string>
  /** All requests: the header `webhook-id`, and the id of the API. */
  readonly requests: readonly { id: string; api: string }[]
  stop(): Promise<void>
}

interface Delivered {
  id: string
  type: string
  data: { id: string } | { api: string }
}

/** Creates a webhook for events of APIs, and the server that receives its deliveries. */
export async function receiveFrom(topology: Topology, eventTypes: string[]): Promise<Receiver> {
  const arrived = new Map<string, Set<string>>()
  const requests: { id: string; api: string }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { id, type, data } = JSON.parse(Buffer.concat(chunks).toString()) as Delivered
    const api = 'api' in data ? data.api : data.id
    requests.push({ id: String(request.headers['webhook-id']), api })
    const key = `${api} ${type}`
    arrived.set(key, (arrived.get(key) ?? new Set()).add(id))
    response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const webhook = { displayName: 'Journey', url, active: true, eventTypes }
  const made = await topology.send('/webhooks', { method: 'POST', body: JSON.stringify(webhook) })
  if (made.status !== 201) throw new Error(`no webhook: ${made.status} ${await made.text()}`)
  return {
    requests,
    arrived: (api, type) => arrived.get(`${api} ${type}`) ?? new Set(),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
