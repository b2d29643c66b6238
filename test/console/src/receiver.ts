import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

interface Reply {
  status: number
  body?: string
}

export interface Receiver {
  url: string
  /** The requests that arrived so far. */
  readonly received: readonly { headers: IncomingHttpHeaders; body: string }[]
  /** The responses from now on. */
  respond: (body: string) => Reply | Promise<Reply>
}

/** Starts a receiver of webhooks on this machine, which answers 200 until `respond` is replaced, and ends after the test. */
export async function openReceiver(
  respond: Receiver['respond'] = () => ({ status: 200 }),
): Promise<Receiver> {
  const received: { headers: IncomingHttpHeaders; body: string }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    received.push({ headers: request.headers, body: text })
    const { status, body } = await receiver.respond(text)
    response.writeHead(status, { 'content-type': 'text/plain' }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = { url: `http://127.0.0.1:${port}/`, received, respond }
  return receiver
}
