import { type AppendResult, DeadlineExceededError, type EventData, NO_STREAM } from '@eventstore/db-client'
import type { ExpectedRevision } from '@gantry/event-sourcing'
import { connect, disconnect } from './connection.ts'
import { isAnswer } from './errors.ts'

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
  expected: ExpectedRevision
  deadline: number
  resolve(result: AppendResult): void
  reject(error: unknown): void
}

/** The way of this process to append to one server. */
export interface Appends {
  /**
   * An append that is under way already is not sent twice, its repetitions get its answer: while it is under way, the
   * server times out on a repetition.
   * @throws what the client throws, or an error after the time when the outcome is unknown */
  append(
    stream: string,
    events: EventData[],
    expected: ExpectedRevision,
    timeoutMs: number,
  ): Promise<AppendResult>
  /** Lets go of it; the last user closes the connection. */
  release(): Promise<void>
}

const open = new Map<
  string,
  { appends: Omit<Appends, 'release'> & { dispose(): Promise<void> }; users: number }
>()

/**
 * Appends without credentials of their own share one stream, which makes twice as many of them a second. The client
 * keeps what it waits for in one place for all its instances, and a failure of one fails the others: so there is one
 * instance in a process, however many stores use the same server.
 */
export function appendsTo(connectionString: string): Appends {
  const entry = open.get(connectionString) ?? { appends: appendsOver(connectionString), users: 0 }
  open.set(connectionString, entry)
  entry.users++
  return {
    append: entry.appends.append,
    async release() {
      entry.users--
      if (entry.users > 0) return
      open.delete(connectionString)
      await entry.appends.dispose()
    },
  }
}

function appendsOver(connectionString: string) {
  let client = connect(connectionString, 'appends')
  let underWay = 0
  let stuck = false
  const waiting: Append[] = []
  const answers = new Map<string, Promise<AppendResult>>()

  const start = (append: Append) => {
    const { stream, events, expected, resolve, reject } = append
    underWay++
    const answer = client.appendToStream(stream, events, {
      expectedRevision: expected < 0 ? NO_STREAM : BigInt(expected),
      deadline: SERVER_DEADLINE_MS,
    })
    answer.then(resolve, error => {
      stuck ||= isStuck(error)
      // Another process repeats it at the same time. Once that one is stored, the answer is the same.
      if (error instanceof DeadlineExceededError) setTimeout(enqueue, AGAIN_MS, append)
      else reject(error)
    })
    void ended(answer).then(async () => {
      underWay--
      if (stuck && underWay === 0) await renew()
      next()
    })
  }

  const next = () => {
    while (underWay < UNDER_WAY) {
      const append = waiting.shift()
      if (!append) return
      if (append.deadline > performance.now()) start(append)
    }
  }

  const enqueue = (append: Append) => {
    waiting.push(append)
    next()
  }

  /** Only when nothing is under way: the end of a stream fails every append of the process. */
  const renew = async () => {
    stuck = false
    underWay = UNDER_WAY
    await disconnect(client)
    client = connect(connectionString, 'appends')
    underWay = 0
  }

  const append: Appends['append'] = (stream, events, expected, timeoutMs) => {
    const attempt = JSON.stringify([stream, expected, ...events.map(({ id }) => id)])
    const known = answers.get(attempt)
    if (known) return known
    const { promise, resolve, reject } = Promise.withResolvers<AppendResult>()
    const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
    enqueue({ stream, events, expected, deadline: performance.now() + timeoutMs, resolve, reject })
    const answer = promise.finally(() => {
      clearTimeout(timer)
      answers.delete(attempt)
    })
    answers.set(attempt, answer)
    return answer
  }

  return { append, dispose: () => disconnect(client) }
}

/**
 * The client asks once for what the server can do and keeps the answer; it forgets it when the server was away, but
 * keeps every other failure for ever.
 */
const isStuck = (error: unknown) =>
  !isAnswer(error) &&
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'number' &&
  error.code !== AWAY

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
