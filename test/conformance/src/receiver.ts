import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { Webhook as Signature } from 'standardwebhooks'
import { afterAll } from 'vitest'
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
/** Told which attempt on this inbox it answers, from 1. */
export type Respond = (received: Received, number: number) => Reply | Promise<Reply>

export interface Inbox {
  url: string
  /** What arrived so far that is about the story. */
  received: Received[]
  respond: Respond
  /** The arrival of this number, from 1, waited for. */
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
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const address = server.address()
const port = typeof address === 'object' && address ? address.port : 0
export const RECEIVER_URL = `http://${HOST}:${port}`

/**
 * An address that webhooks can be sent to. It answers 200 unless told otherwise. Events that do not mention
 * `about` are those of other stories and are waved through; none are when it is empty.
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

/** A reply that waits until it is let go, so that a story can act while an attempt is under way. */
export const heldReply = () => {
  const { promise, resolve } = Promise.withResolvers<Reply>()
  return { respond: () => promise, letGo: resolve }
}

/** Throws unless the official library of Standard Webhooks takes what arrived for signed with the secret. */
export const verify = (secret: string, { body, headers }: Received) =>
  new Signature(secret).verify(body, headers as Record<string, string>)
