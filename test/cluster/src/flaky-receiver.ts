import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'

/** How the receiver handles a request. */
export type Treatment =
  | 'answers 200'
  | 'answers 500'
  /** Closes the connection without counting the event as received. */
  | 'drops'
  /** Receives the event, and closes the connection before it answers. */
  | 'loses the answer'
  /** Receives the event, and answers after the sender's timeout. */
  | 'is slow'

export interface Arrival {
  /** Milliseconds since 1970. */
  at: number
  webhookId: string
  headers: Record<string, string>
  body: string
  /** Why the signature is invalid; undefined when it is valid. */
  refused: unknown
  treatment: Treatment
}

/** Treatments of the first attempts of an event, by the event number modulo 20. */
const TROUBLE: Readonly<Record<number, Treatment[]>> = {
  0: ['answers 500', 'answers 500'],
  1: ['answers 500'],
  5: ['drops'],
  9: ['loses the answer'],
  13: ['is slow'],
  17: ['loses the answer', 'drops', 'answers 500'],
}

/**
 * A receiver that fails in every way, depending on the event number, the same in every run.
 * @param slowMs delay of a slow answer, longer than the sender's timeout
 * @param secretOf returns the secret of the webhook
 */
export async function flakyReceiver(slowMs: number, secretOf: () => string) {
  const arrivals: Arrival[] = []
  const timesSeen = new Map<string, number>()

  const treatmentOf = (webhookId: string, number: number): Treatment => {
    const before = timesSeen.get(webhookId) ?? 0
    timesSeen.set(webhookId, before + 1)
    return TROUBLE[number % 20]?.[before] ?? 'answers 200'
  }
  const treat = async (response: ServerResponse, treatment: Treatment) => {
    if (treatment === 'is slow') await setTimeout(slowMs)
    if (treatment === 'loses the answer') return response.destroy()
    response.writeHead(treatment === 'answers 500' ? 500 : 200).end()
  }

  const server = createServer(async (request, response) => {
    const at = Date.now()
    const headers = request.headers as Record<string, string>
    const webhookId = headers['webhook-id'] ?? ''
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      // The sender was killed during the request: the event has not arrived.
      return
    }
    const body = Buffer.concat(chunks).toString()
    const treatment = treatmentOf(webhookId, JSON.parse(body).data.number)
    arrivals.push({ at, webhookId, headers, body, treatment, refused: refusal(secretOf(), body, headers) })
    if (treatment === 'drops') return response.destroy()
    await treat(response, treatment)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    arrivals,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function refusal(secret: string, body: string, headers: Record<string, string>): unknown {
  try {
    new Webhook(secret).verify(body, headers)
    return undefined
  } catch (error) {
    return error
  }
}
