import {
  ANY,
  type AppendResult,
  DeadlineExceededError,
  type EventData,
  type EventStoreDBClient,
  NO_STREAM,
} from '@eventstore/db-client'
import type { ExpectedRevision } from '@gantry/event-sourcing'
import { inTime } from '@gantry/pacing'
import { connect, disconnect } from './connection.ts'
import { isFinal, within } from './errors.ts'

/**
 * Maximum number of appends in progress. The client writes them to one gRPC stream and queues those that it cannot write at
 * once behind the 16th. When it gives up a frozen server, it rejects the queued ones with errors that cannot be caught,
 * which ends the process.
 */
const UNDER_WAY = 16
/** An append without a response is given up after this time, in which the client's keepalive detects a dead connection. */
const FORGOTTEN_AFTER_MS = 60_000
/**
 * Deadline for the server. The client sends it as a time of its own clock, so that a server whose clock is ahead would
 * refuse everything: the deadline is a day, and the timeout is measured here.
 */
const SERVER_DEADLINE_MS = 86_400_000

/** Pause before an append is sent again after the server timed out. */
const AGAIN_MS = 100

/** The gRPC status code UNAVAILABLE. */
const AWAY = 14

interface Append {
  stream: string
  events: EventData[]
  expected: ExpectedRevision | typeof ANY
  deadline: number
  resolve(result: AppendResult): void
  reject(error: unknown): void
}

export interface Appends {
  /**
   * Appends events. A repetition of an append in progress is not sent, but gets the same result: the server would time out
   * on it.
   * @throws an error of the client, or NoResponse after the timeout, when the outcome is unknown
   */
  append(
    stream: string,
    events: EventData[],
    expected: ExpectedRevision | typeof ANY,
    timeoutMs: number,
  ): Promise<AppendResult>
}

/**
 * The appends of a process to one server. Appends without their own credentials share one gRPC stream, which doubles their
 * throughput. The client keeps its pending calls in one place for all of its instances, and a failure of one fails the
 * others. There is therefore one of these per connection string, with one client at a time.
 */
export function appendsOver(connectionString: string) {
  let client = connect(connectionString, 'appends')
  /** Appends that this client has not answered yet. */
  let sent = new Set<Append>()
  let moving = false
  let stuck = false
  const waiting: Append[] = []
  const pending = new Map<string, Promise<AppendResult>>()

  const start = (append: Append) => {
    const { stream, events, expected, resolve, reject } = append
    const over = client
    sent.add(append)
    const call = client.appendToStream(stream, events, {
      expectedRevision: expected === ANY ? ANY : expected < 0 ? NO_STREAM : BigInt(expected),
      deadline: SERVER_DEADLINE_MS,
    })
    const answered = call.then(resolve, error => {
      // It is sent again over the current client.
      if (over !== client) return
      stuck ||= isStuck(error)
      // Another process repeats the append at the same time. Once that one is stored, the result is the same.
      if (error instanceof DeadlineExceededError) setTimeout(enqueue, AGAIN_MS, append)
      else reject(error)
    })
    void inTime(answered, FORGOTTEN_AFTER_MS).then(() => {
      if (over !== client) return
      sent.delete(append)
      if (stuck && sent.size === 0) void moveTo(connect(connectionString, 'appends'))
      else next()
    })
  }

  const next = () => {
    while (!moving && sent.size < UNDER_WAY) {
      const append = waiting.shift()
      if (!append) return
      if (append.deadline > performance.now()) start(append)
    }
  }

  const enqueue = (append: Append) => {
    waiting.push(append)
    next()
  }

  /**
   * Moves to another client and sends everything again that has no response yet. The server stores the same ids after the same
   * revision once. The end of a client's gRPC stream fails all pending appends of the process, so the old client is closed
   * first.
   */
  const moveTo = async (other: EventStoreDBClient) => {
    if (moving) return disconnect(other)
    moving = true
    const left = client
    waiting.unshift(...sent)
    client = other
    sent = new Set()
    stuck = false
    await disconnect(left)
    moving = false
    next()
  }

  const append: Appends['append'] = (stream, events, expected, timeoutMs) => {
    const attempt = JSON.stringify([stream, expected, ...events.map(({ id }) => id)])
    const known = pending.get(attempt)
    if (known) return known
    const { promise, resolve, reject } = Promise.withResolvers<AppendResult>()
    enqueue({ stream, events, expected, deadline: performance.now() + timeoutMs, resolve, reject })
    const result = within(timeoutMs, promise).finally(() => pending.delete(attempt))
    pending.set(attempt, result)
    return result
  }

  return { append, moveTo, client: () => client, dispose: () => disconnect(client) }
}

/**
 * Whether the client has to be replaced. It asks once for the capabilities of the server and keeps the result. It asks again
 * after the server was unavailable, but keeps every other failure: an error of the server, or that no leader was found,
 * which is a plain Error.
 */
const isStuck = (error: unknown) => {
  if (isFinal(error) || !(error instanceof Error)) return false
  if ('code' in error && error.code !== undefined) return error.code !== AWAY
  return error.constructor === Error
}
