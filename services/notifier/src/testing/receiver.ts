import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished, vi } from 'vitest'

export interface Arrival {
  path: string
  headers: IncomingHttpHeaders
  /** The body as text. */
  body: string
}

export interface Reply {
  status: number
  headers?: Record<string, string>
  body?: string
}

/** Determines the response to a request. `number` counts the requests on the path including this one. */
export type Respond = (arrival: Arrival, number: number) => Reply | Promise<Reply>

export interface Receiver {
  url(path: string): string
  /** The requests that arrived on a path so far. */
  on(path: string): Arrival[]
  /** The responses from now on. */
  respond: Respond
  /** Waits until at least `count` requests have arrived on the path. */
  arrivals(path: string, count: number): Promise<Arrival[]>
}

export const ok: Respond = () => ({ status: 200 })
export const failing: Respond = () => ({ status: 500, body: 'out of order' })
/** The public event that a request carries. */
export const eventOf = ({ body }: Arrival) =>
  JSON.parse(body) as { id: string; type: string; data: Record<string, unknown> }

/** Responses that wait until `letGo` is called. */
export function delayedReply(reply: Reply = { status: 200 }) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const respond: Respond = async () => {
    await promise
    return reply
  }
  return { respond, letGo: resolve }
}

/** Starts a receiver of webhooks on this machine, until the end of the test. Responds 200 unless `respond` is replaced. */
export async function openReceiver(): Promise<Receiver> {
  const arrived: Arrival[] = []
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { url: path = '', headers } = request
    const arrival = { path, headers, body: Buffer.concat(chunks).toString() }
    arrived.push(arrival)
    const { status, headers: answered, body } = await receiver.respond(arrival, on(path).length)
    response.writeHead(status, answered).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const on = (path: string) => arrived.filter(arrival => arrival.path === path)
  const receiver: Receiver = {
    url: path => `http://127.0.0.1:${port}${path}`,
    on,
    respond: ok,
    async arrivals(path, count) {
      return vi.waitFor(() => {
        if (on(path).length < count) throw new Error(`${on(path).length} of ${count} arrived on ${path}`)
        return on(path)
      })
    },
  }
  return receiver
}
