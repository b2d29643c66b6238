import { type PublicEvent, subjects } from '@gantry/contracts'
import { LOG_POSITION } from '@gantry/event-sourcing'
import type { Bus, Json, Message } from '@gantry/messaging'
import { answerProblem, localPeers, type Peers } from '@gantry/service-runtime'
import Fastify, { type FastifyInstance } from 'fastify'
import { Registry } from 'prom-client'
import { type EventStreamOptions, eventStream } from '../feed/event-stream.ts'
import { replaySlots } from '../feed/replay-slots.ts'
import { grace } from './edge-host.ts'

/** The identity of the log of messages. */
export const LOG = 'log-1'

/** A message of a service about its event at a position in the log. @param part of several messages about one event */
export function eventMessage(position: number, fields: Partial<PublicEvent> = {}, part = 1): Message {
  const id = `5b1f1c9e-6d0f-4c58-9a4${part}-${String(position).padStart(12, '0')}`
  const data: PublicEvent = {
    ...{ id, type: 'API_CREATED', source: 'catalog', subject: 'api-1', revision: position },
    ...{ time: '2026-11-21T09:30:00.000Z', data: { name: `api ${position}`, part }, requestId: 'request-1' },
    actor: { id: grace.userId, name: 'grace' },
    ...fields,
  }
  const headers = { 'log-identity': LOG, [LOG_POSITION]: String(position).padStart(16, '0') }
  return { id, subject: subjects.events(data.source, data.type), data: data as unknown as Json, headers }
}

/** Messages about events from the first position to the last. @param length of their data */
export const eventMessages = (first: number, last: number, length = 0): Message[] =>
  Array.from({ length: last - first + 1 }, (_, index) =>
    eventMessage(first + index, { data: { name: `api ${first + index}`, padding: 'x'.repeat(length) } }),
  )

/** A bus whose reads go through a function. */
export const readingThrough = (
  bus: Bus,
  read: (...call: Parameters<Bus['read']>) => ReturnType<Bus['read']>,
): Bus => new Proxy(bus, { get: (target, name) => (name === 'read' ? read : Reflect.get(target, name)) })

/** Serves GET /events of a bus to grace, without a limit of replays. @returns the server, which listens at `url` */
export async function serveFeed({
  bus,
  peers = localPeers(),
  ...options
}: { bus: Bus; peers?: Peers } & Partial<EventStreamOptions>): Promise<{
  app: FastifyInstance
  url: string
}> {
  const app = Fastify()
  app.setErrorHandler((error, request, reply) => answerProblem(error, request, reply, new Date()))
  const end = eventStream(app, {
    feed: { bus, peers },
    admit: async () => grace,
    recheck: async () => grace,
    slots: replaySlots(Number.POSITIVE_INFINITY, new Registry()),
    metrics: new Registry(),
    now: () => new Date(),
    ...options,
  })
  app.addHook('preClose', async () => end())
  return { app, url: await app.listen({ port: 0, host: '127.0.0.1' }) }
}

interface Line {
  revision?: number
  position: string
  data: { name: string }
}

/** A reader of GET /events that reads all the time. */
export async function readFeed(url: string, query = '', headers: Record<string, string> = {}) {
  const leaving = new AbortController()
  const answer = await fetch(`${url}/events${query}`, {
    headers: { accept: 'application/x-ndjson', ...headers },
    signal: leaving.signal,
  })
  let text = ''
  let ended: 'clean' | 'broken' | undefined
  const read = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of answer.body ?? []) text += decoder.decode(chunk, { stream: true })
  }
  const reading = read().then(
    () => {
      ended = 'clean'
    },
    () => {
      ended = 'broken'
    },
  )
  const lines = () =>
    text
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line) as Line)
  return {
    answer,
    text: () => text,
    numbers: () => lines().flatMap(({ revision }) => revision ?? []),
    positions: () => lines().map(({ position }) => position),
    names: () => lines().map(({ data }) => data.name),
    ended: () => ended,
    async leave() {
      leaving.abort()
      await reading
    },
  }
}
