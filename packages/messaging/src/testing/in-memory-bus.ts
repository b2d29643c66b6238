import { setTimeout } from 'node:timers/promises'
import {
  type Bus,
  BusUnavailable,
  type Delivered,
  type Json,
  type Message,
  NoResponder,
  Overtaken,
  type RequestOptions,
  RequestTimeout,
  type StoredMessage,
  subjectMatches,
} from '../bus.ts'
import { replyOf, resultOf } from '../reply.ts'

export interface InMemoryBroker {
  /** Opens another connection, as each replica has. A closed connection stops consuming and responding. */
  connect(): Bus
}

const REDELIVER_MS = 30_000

interface ConsumerState {
  sequence: number
  /** The connection and call of `consume` that receives messages. */
  holder?: { connection: AbortSignal } | undefined
}

interface Attached<Handler> {
  subject: string
  handler: Handler
  connection: AbortSignal
}

/** A bus in memory, for tests that need a deterministic order of calls. */
export function inMemoryBroker({ now = () => new Date() }: { now?: () => Date } = {}): InMemoryBroker {
  const messages: StoredMessage[] = []
  const ids = new Set<string>()
  const consumers = new Map<string, ConsumerState>()
  const listeners = new Set<Attached<Parameters<Bus['listen']>[1]>>()
  const responders = new Set<Attached<Parameters<Bus['respond']>[1]>>()
  let changes = Promise.withResolvers<void>()
  let asked = 0

  const announce = () => {
    changes.resolve()
    changes = Promise.withResolvers()
  }

  const fallsUnder = (subjects: readonly string[]) => (message: StoredMessage) =>
    subjects.some(pattern => subjectMatches(pattern, message.subject))
  const last = (subjects: readonly string[]) => messages.findLast(fallsUnder(subjects))

  const publish = (list: readonly Message[], after = Number.POSITIVE_INFINITY) => {
    const [first] = list
    const end = first ? (messages.findLast(({ subject }) => subject === first.subject)?.sequence ?? 0) : 0
    if (first && end > after) throw new Overtaken(first.subject, { after, end })
    for (const message of list) {
      if (ids.has(message.id)) continue
      ids.add(message.id)
      messages.push(copy({ ...message, sequence: messages.length + 1, storedAt: now().toISOString() }))
    }
    announce()
    const id = list.at(-1)?.id
    return messages.find(message => message.id === id)?.sequence ?? 0
  }

  const nextAfter = (sequence: number, subjects: readonly string[]) =>
    messages.slice(sequence).find(fallsUnder(subjects))

  async function* read({ subjects, after, live }: Parameters<Bus['read']>[0], ending: AbortSignal) {
    const until = live ? Number.POSITIVE_INFINITY : messages.length
    let position = after
    while (!ending.aborted) {
      const changed = changes.promise
      const next = nextAfter(position, subjects)
      if (next && next.sequence <= until) {
        position = next.sequence
        yield copy(next)
      } else if (live) await either(changed, ending)
      else return
    }
  }

  async function* consume(
    { consumer, subjects }: Parameters<Bus['consume']>[0],
    { ending, connection }: { ending: AbortSignal; connection: AbortSignal },
  ): AsyncGenerator<Delivered> {
    const holder = { connection }
    const state = consumers.get(consumer) ?? { sequence: 0 }
    consumers.set(consumer, state)
    try {
      while (!ending.aborted) {
        const changed = changes.promise
        const next = nextAfter(state.sequence, subjects)
        if (!state.holder) state.holder = holder
        if (state.holder !== holder || !next) {
          await either(changed, ending)
          continue
        }
        const handled = Promise.withResolvers<void>()
        const ack = async () => {
          if (state.holder !== holder) throw new BusUnavailable(`${consumer} has gone to another holder`)
          state.sequence = Math.max(state.sequence, next.sequence)
          handled.resolve()
        }
        yield { message: copy(next), ack }
        if (state.sequence < next.sequence) await either(handled.promise, ending, REDELIVER_MS)
      }
    } finally {
      if (state.holder === holder) state.holder = undefined
      announce()
    }
  }

  const broadcast = (subject: string, data: Json) => {
    for (const { subject: pattern, handler } of [...listeners])
      if (subjectMatches(pattern, subject)) handler(copy(data))
  }

  const request = async (
    subject: string,
    data: Json,
    { timeoutMs, headers }: RequestOptions,
  ): Promise<Json> => {
    const able = [...responders].filter(({ subject: pattern }) => subjectMatches(pattern, subject))
    const responder = able[asked++ % able.length]
    if (!responder) throw new NoResponder(subject)
    const late = new AbortController()
    try {
      const result = replyOf(() => responder.handler(copy(data), headers)).then(reply =>
        resultOf(copy(reply)),
      )
      const deadline = setTimeout(timeoutMs, undefined, { signal: late.signal }).then(() => {
        throw new RequestTimeout(subject)
      })
      deadline.catch(() => {})
      return await Promise.race([result, deadline])
    } finally {
      late.abort()
    }
  }

  const leave = (connection: AbortSignal) => {
    for (const attached of [listeners, responders] as Set<{ connection: AbortSignal }>[])
      for (const each of attached) if (each.connection === connection) attached.delete(each)
    for (const state of consumers.values())
      if (state.holder?.connection === connection) state.holder = undefined
    announce()
  }

  const connect = (): Bus => {
    const closing = new AbortController()
    const connection = closing.signal
    const answering = async <T>(call: () => T | Promise<T>): Promise<T> => {
      if (connection.aborted) throw new BusUnavailable('it is closed')
      return call()
    }
    const until = (signal: AbortSignal) => AbortSignal.any([signal, connection])
    const attach = <Handler>(to: Set<Attached<Handler>>, subject: string, handler: Handler) => {
      const attached = { subject, handler, connection }
      to.add(attached)
      return () => void to.delete(attached)
    }
    return {
      system: 'memory',
      publish: (list, { after } = {}) => answering(() => publish(list, after)),
      last: subjects => answering(() => copy(last(subjects))),
      consume: options => consume(options, { ending: until(options.signal), connection }),
      read: options => read(options, until(options.signal)),
      head: () => answering(() => messages.length),
      backlog: ({ consumer, subjects }) =>
        answering(() => {
          const { sequence = messages.length } = consumers.get(consumer) ?? {}
          return messages.slice(sequence).filter(fallsUnder(subjects)).length
        }),
      // Nothing is removed: a broker only lives as long as a test.
      removedThrough: () => answering(() => 0),
      broadcast: (subject, data) => answering(() => broadcast(subject, data)),
      listen: (subject, handler) => attach(listeners, subject, handler),
      request: (subject, data, options) => answering(() => request(subject, data, options)),
      respond: (subject, handler) => attach(responders, subject, handler),
      ping: () => answering(() => {}),
      async close() {
        closing.abort()
        leave(connection)
      },
    }
  }

  return { connect }
}

const copy = <T>(value: T): T => structuredClone(value)

/** Waits for a promise until the signal is aborted or the time is up. */
async function either(promise: Promise<void>, ending: AbortSignal, atMostMs?: number): Promise<void> {
  if (ending.aborted) return
  const over = new AbortController()
  const aborted = Promise.withResolvers<void>()
  const abort = () => aborted.resolve()
  ending.addEventListener('abort', abort)
  const late =
    atMostMs === undefined ? [] : [setTimeout(atMostMs, undefined, { signal: over.signal }).catch(() => {})]
  await Promise.race([promise, aborted.promise, ...late])
  ending.removeEventListener('abort', abort)
  over.abort()
}
