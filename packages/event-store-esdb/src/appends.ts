import {
  ANY,
  type AppendResult,
  DeadlineExceededError,
  type EventData,
  type EventStoreDBClient,
  NO_STREAM,
} from '@eventstore/db-client'
import type { ExpectedRevision } from '@gantry/event-sourcing'
import { connect, disconnect } from './connection.ts'
import { isAnswer, within } from './errors.ts'

/**
 * How many appends may be under way. The client writes them to one stream; those that it cannot write at once it
 * queues behind the 16th, and when a frozen server is given up it rejects what is queued where nobody can catch it,
 * which ends the process.
 */
const UNDER_WAY = 16
/** After this the client's keepalive has long found a dead connection: an append without an answer never gets one. */
const FORGOTTEN_AFTER_MS = 60_000
/**
 * The client sends the deadline as a time of its own clock, and a server whose clock is ahead of that refuses
 * everything: so it gets a day, which no clock is off, and waits here for as long as it may.
 */
const SERVER_DEADLINE_MS = 86_400_000

/** How long after the server timed out an append is sent again. */
const AGAIN_MS = 100

/** The code of gRPC for a server that cannot be reached. */
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
   * An append that is under way already is not sent twice, its repetitions get its answer: while it is under way, the
   * server times out on a repetition.
   * @throws what the client throws, or NoAnswer after the time when the outcome is unknown
   */
  append(
    stream: string,
    events: EventData[],
    expected: ExpectedRevision | typeof ANY,
    timeoutMs: number,
  ): Promise<AppendResult>
}

/**
 * The appends of a process to one server. Those without credentials of their own share one stream, which makes twice
 * as many of them a second. The client keeps what it waits for in one place for all its instances, and a failure of
 * one fails the others: so there is one of these for each connection string, with one client at a time.
 */
export function appendsOver(connectionString: string) {
  let client = connect(connectionString, 'appends')
  /** What this client has not answered yet. */
  let sent = new Set<Append>()
  let moving = false
  let stuck = false
  const waiting: Append[] = []
  const answers = new Map<string, Promise<AppendResult>>()

  const start = (append: Append) => {
    const { stream, events, expected, resolve, reject } = append
    const over = client
    sent.add(append)
    const answer = client.appendToStream(stream, events, {
      expectedRevision: expected === ANY ? ANY : expected < 0 ? NO_STREAM : BigInt(expected),
      deadline: SERVER_DEADLINE_MS,
    })
    answer.then(resolve, error => {
      // It is sent again over the client that is used now.
      if (over !== client) return
      stuck ||= isStuck(error)
      // Another process repeats it at the same time. Once that one is stored, the answer is the same.
      if (error instanceof DeadlineExceededError) setTimeout(enqueue, AGAIN_MS, append)
      else reject(error)
    })
    void ended(answer).then(() => {
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
   * Goes on over another client, which gets everything that has no answer yet: the same ids after the same revision are
   * stored once. The end of the stream of a client fails every append of the process that waits for an answer, so that
   * comes first.
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
    const known = answers.get(attempt)
    if (known) return known
    const { promise, resolve, reject } = Promise.withResolvers<AppendResult>()
    enqueue({ stream, events, expected, deadline: performance.now() + timeoutMs, resolve, reject })
    const answer = within(timeoutMs, promise).finally(() => answers.delete(attempt))
    answers.set(attempt, answer)
    return answer
  }

  return { append, moveTo, client: () => client, dispose: () => disconnect(client) }
}

/**
 * The client asks once for what the server can do and keeps the answer; it forgets it when the server was away, but
 * keeps every other failure for ever: that of the server, and that of finding a leader, which is an error of no class.
 */
const isStuck = (error: unknown) => {
  if (isAnswer(error) || !(error instanceof Error)) return false
  if ('code' in error && error.code !== undefined) return error.code !== AWAY
  return error.constructor === Error
}

/** Whichever way it ends, or never: then after a time by which it cannot be answered any more. */
async function ended(answer: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, FORGOTTEN_AFTER_MS)
  answer.then(
    () => resolve(),
    () => resolve(),
  )
  await promise
  clearTimeout(timer)
}
