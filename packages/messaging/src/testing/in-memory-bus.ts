import {
  type Bus,
  BusUnavailable,
  type Json,
  type Message,
  Overtaken,
  type StoredMessage,
  subjectMatches,
} from '../bus.ts'

export interface InMemoryBroker {
  /** Opens another connection, as each replica has. A closed connection hears and reads no more. */
  connect(): Bus
}

interface Listener {
  subject: string
  handler: Parameters<Bus['listen']>[1]
  connection: AbortSignal
}

/** A bus in memory, for tests that need a deterministic order of calls. */
export function inMemoryBroker({ now = () => new Date() }: { now?: () => Date } = {}): InMemoryBroker {
  const messages: StoredMessage[] = []
  const ids = new Set<string>()
  const listeners = new Set<Listener>()
  let changes = Promise.withResolvers<void>()

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

  const broadcast = (subject: string, data: Json) => {
    for (const { subject: pattern, handler } of [...listeners])
      if (subjectMatches(pattern, subject)) handler(copy(data))
  }

  const leave = (connection: AbortSignal) => {
    for (const listener of listeners) if (listener.connection === connection) listeners.delete(listener)
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
    return {
      system: 'memory',
      publish: (list, { after } = {}) => answering(() => publish(list, after)),
      last: subjects => answering(() => copy(last(subjects))),
      read: options => read(options, until(options.signal)),
      head: () => answering(() => messages.length),
      backlog: ({ subjects, after }) =>
        answering(() => messages.slice(after).filter(fallsUnder(subjects)).length),
      // Nothing is removed: a broker only lives as long as a test.
      removedThrough: () => answering(() => 0),
      broadcast: (subject, data) => answering(() => broadcast(subject, data)),
      listen(subject, handler) {
        const listener = { subject, handler, connection }
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
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

/** Waits for a promise until the signal is aborted. */
async function either(promise: Promise<void>, ending: AbortSignal): Promise<void> {
  if (ending.aborted) return
  const aborted = Promise.withResolvers<void>()
  const abort = () => aborted.resolve()
  ending.addEventListener('abort', abort)
  await Promise.race([promise, aborted.promise])
  ending.removeEventListener('abort', abort)
}
