import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Reply {
  status: number
  body?: string
}

export interface Receiver {
  url: string
  /** The bodies of the requests that arrived so far. */
  readonly received: readonly string[]
  /** The responses from now on. */
  respond: (body: string) => Reply | Promise<Reply>
  close(): void
}

/** Starts a receiver of webhooks on this machine, which answers 200 until `respond` is replaced. */
export async function openReceiver(
  respond: Receiver['respond'] = () => ({ status: 200 }),
): Promise<Receiver> {
  const received: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    received.push(text)
    const { status, body } = await receiver.respond(text)
    response.writeHead(status, { 'content-type': 'text/plain' }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    respond,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return receiver
}
