import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { Webhook as Signature } from 'standardwebhooks'
import { eventually, service, unique } from './gantry.ts'
import type { Payload } from './records.ts'

export interface Received {
  headers: IncomingHttpHeaders
  /** The bytes that were signed. */
  body: string
  payload: Payload
}
export interface Reply {
  status: number
  headers?: Record<string, string>
  body?: string
}
/** @param number number of the request to this inbox, from 1 */
export type Respond = (received: Received, number: number) => Reply | Promise<Reply>

export interface Inbox {
  url: string
  /** The requests so far that belong to the story. */
  received: Received[]
  respond: Respond
  /** Waits for the request with this number, from 1. */
  arrival: (number: number) => Promise<Received>
}

const HOST = process.env.RECEIVER_HOST ?? '127.0.0.1'
const inboxes = new Map<string, { inbox: Inbox; about: string }>()

const reply = (response: ServerResponse, { status, headers = {}, body = '' }: Reply) => {
  response.writeHead(status, headers).end(body)
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString('utf8')
  service.seen?.(new Headers(request.headers as Record<string, string>), undefined)
  const known = inboxes.get(request.url ?? '')
  if (!known || !body.includes(known.about)) return reply(response, { status: known ? 200 : 404 })
  const { inbox } = known
  const received = { headers: request.headers, body, payload: JSON.parse(body) }
  const number = inbox.received.push(received)
  reply(response, await inbox.respond(received, number))
}).listen(0, HOST === '127.0.0.1' ? HOST : '0.0.0.0')
await once(server, 'listening')
server.unref()

const address = server.address()
const port = typeof address === 'object' && address ? address.port : 0
export const RECEIVER_URL = `http://${HOST}:${port}`

/**
 * A URL that webhooks can be sent to. It responds with 200 by default. Requests that do not mention `about` belong to
 * other stories: they get 200 and are not recorded. With an empty `about` all requests are recorded.
 */
export const openInbox = (about = '', respond: Respond = () => ({ status: 200 })): Inbox => {
  const path = `/${unique('inbox')}`
  const inbox: Inbox = {
    url: RECEIVER_URL + path,
    received: [],
    respond,
    arrival: number =>
      eventually(() => {
        const received = inbox.received[number - 1]
        if (!received) throw new Error(`${inbox.received.length} arrived instead of ${number}`)
        return received
      }),
  }
  inboxes.set(path, { inbox, about })
  return inbox
}

/** A reply that waits for `letGo`, so that a story can act during an attempt. */
export const heldReply = () => {
  const { promise, resolve } = Promise.withResolvers<Reply>()
  return { respond: () => promise, letGo: resolve }
}

/** @throws Error unless the official library of Standard Webhooks verifies the signature with the secret */
export const verify = (secret: string, { body, headers }: Received) =>
  new Signature(secret).verify(body, headers as Record<string, string>)
