import { asProblem, RequestFailed } from '../http/problem.ts'
import { chunksOf, linesOf, openStream } from '../http/stream.ts'
import { EventBuffer, type FeedEvent, STEP } from './buffer.ts'
import { type EventsSearch, lengthOf, periodOf } from './search.ts'

/** The service sends something at least every 15 seconds. */
const SILENT_MS = 40_000
/** Longest time between two attempts, unless the service asks for a longer one. */
const LONGEST_DELAY_MS = 10_000
/** Received events are shown together, so that the list is drawn at most this often. */
const DRAWN_MS = 100

export type Connection =
  | { kind: 'connecting' }
  /** Earlier events arrive, oldest first. They are shown when all are there, so that the list does not run away. */
  | { kind: 'reading' }
  | { kind: 'live' }
  /** The connection is made again after the last position at `retryAt`, in milliseconds since 1970. */
  | { kind: 'lost'; error: unknown; retryAt: number }
  /** Enough events wait for a paused list. */
  | { kind: 'full' }
  | { kind: 'refused'; error: unknown }
  /** All events before the end of the period were received. */
  | { kind: 'ended' }

export interface FeedState {
  connection: Connection
  shown: readonly FeedEvent[]
  waiting: number
  paused: boolean
  /** Whether a person has paused the list. Otherwise it pauses when it is filled for the first time. */
  pausedByHand: boolean
  removed: number
  /** Number of events that arrived, and the time of the last one. */
  received: number
  reached: string | undefined
}

/** The events that a page asks for, while it is connected. It keeps what it has received after a lost connection. */
export interface Feed {
  subscribe(listener: () => void): () => void
  state(): FeedState
  /** Connects, after the last position. @returns function that disconnects */
  connect(): () => void
  pause(): void
  /** Shows the waiting events. @param count events after which the list pauses again; all if left out */
  show(count?: number): void
  /** Connects at once instead of at the time of the next attempt. */
  retry(): void
}

export function createFeed(search: EventsSearch): Feed {
  const buffer = new EventBuffer(lengthOf(search) ? Number.POSITIVE_INFINITY : STEP)
  const wake = new EventTarget()
  const wakeUp = () => wake.dispatchEvent(new Event('wake'))
  const drawing = drawingOf(buffer, periodOf(search) === 'all')
  const run = receiver({ buffer, wake, drawing, asked: queryOf(search, new Date()) })
  return {
    subscribe: drawing.subscribe,
    state: drawing.state,
    connect() {
      const ending = new AbortController()
      run(ending.signal)
      addEventListener('online', wakeUp)
      return () => {
        ending.abort()
        removeEventListener('online', wakeUp)
      }
    },
    pause() {
      buffer.pause()
      drawing.draw()
    },
    show(count) {
      buffer.show(count)
      drawing.draw()
      wakeUp()
    },
    retry: wakeUp,
  }
}

const NOTHING = { shown: [], waiting: 0, removed: 0, received: 0, reached: undefined } as const

type Drawing = ReturnType<typeof drawingOf>

/**
 * What the page draws: a copy of the buffer, which is made again after changes.
 * @param grows whether the first events are drawn while the later ones are read
 */
function drawingOf(buffer: EventBuffer, grows: boolean) {
  const listeners = new Set<() => void>()
  let connection: Connection = { kind: 'connecting' }
  let timer: ReturnType<typeof setTimeout> | undefined
  const copy = (): FeedState => {
    const { waiting, paused, pausedByHand, removed, received, reached } = buffer
    const shown = connection.kind === 'reading' && !grows ? state.shown : buffer.shown
    return { connection, shown, waiting, paused, pausedByHand, removed, received, reached }
  }
  let state: FeedState = { ...NOTHING, connection, paused: buffer.paused, pausedByHand: false }
  const draw = () => {
    clearTimeout(timer)
    timer = undefined
    state = copy()
    for (const listener of listeners) listener()
  }
  return {
    state: () => state,
    draw,
    drawSoon() {
      timer ??= setTimeout(draw, DRAWN_MS)
    },
    become(next: Connection) {
      connection = next
      draw()
    },
    connection: () => connection,
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

interface ReceiverOptions {
  buffer: EventBuffer
  /** Gets the event `wake` when the person wants the connection now, or takes waiting events. */
  wake: EventTarget
  drawing: Drawing
  asked: URLSearchParams
}

/**
 * First receives the events until now, of which the service ends the response, then follows.
 * @returns function that receives events until the signal is aborted, and connects again after the last position
 */
function receiver({ buffer, wake, drawing, asked }: ReceiverOptions) {
  const follows = asked.has('follow')
  let position: string | undefined
  let isLive = false

  const receive = (line: string) => {
    if (line === '') return
    const event = parsed(line)
    position = event.position
    if (!('id' in event)) return
    buffer.add(event, line.length)
  }

  /** Receives events until the connection ends or enough events wait. @returns whether any arrived */
  const follow = async (signal: AbortSignal): Promise<boolean> => {
    const before = buffer.received
    const query = new URLSearchParams(asked)
    if (position) query.set('after', position)
    if (!isLive) query.delete('follow')
    const ending = new AbortController()
    const either = AbortSignal.any([signal, ending.signal])
    try {
      const accept = 'application/x-ndjson'
      const body = await openStream({ path: '/events', query, accept, signal: either })
      drawing.become({ kind: isLive ? 'live' : 'reading' })
      for await (const lines of linesOf(chunksOf(body, signal, SILENT_MS))) {
        for (const line of lines) receive(line)
        if (buffer.paused && drawing.connection().kind === 'reading') drawing.become({ kind: 'live' })
        else drawing.drawSoon()
        if (buffer.full) break
      }
      return buffer.received > before
    } finally {
      ending.abort()
    }
  }

  return async (signal: AbortSignal): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      if (buffer.full) {
        drawing.become({ kind: 'full' })
        await woken(wake, signal)
        continue
      }
      if (drawing.connection().kind !== 'lost' && !isOpen(drawing.connection()))
        drawing.become({ kind: 'connecting' })
      let error: unknown
      let more = true
      try {
        more = await follow(signal)
      } catch (caught) {
        error = caught
      }
      if (signal.aborted) return
      if (isOpen(drawing.connection())) failures = 0
      if (buffer.full) continue
      if (!error && !isLive) {
        if (follows) {
          isLive = true
          drawing.become({ kind: 'live' })
          continue
        }
        // A service that stops ends the response early: the period is over when nothing is left after the last position.
        if (more) continue
        return drawing.become({ kind: 'ended' })
      }
      if (error && isFinal(error)) return drawing.become({ kind: 'refused', error })
      const retryAt = Date.now() + delayAfter(error, failures++)
      drawing.become({ kind: 'lost', error: error ?? new RequestFailed(ENDED), retryAt })
      await woken(wake, signal, retryAt - Date.now())
    }
  }
}

const isOpen = ({ kind }: Connection) => kind === 'live' || kind === 'reading'

/** The query of the first request. Further ones continue after the last position. */
function queryOf(search: EventsSearch, now: Date): URLSearchParams {
  const { type = [], api, webhook, user, after, from, to } = search
  const minutes = lengthOf(search)?.minutes
  const begin = minutes ? new Date(now.getTime() - minutes * 60_000).toISOString() : from
  const query = new URLSearchParams(type.map(each => ['type', each]))
  for (const [name, value] of Object.entries({ api, webhook, user, after, from: begin, to }))
    if (value) query.set(name, value)
  if (!to || Date.parse(to) > now.getTime()) query.set('follow', 'true')
  return query
}

/** An event, or the position alone. @throws RequestFailed for a line that is neither */
function parsed(line: string): FeedEvent | { position: string } {
  try {
    const value = JSON.parse(line)
    if (typeof value?.position === 'string') return value
  } catch {
    // Answered below.
  }
  throw new RequestFailed(UNREADABLE)
}

/** Whether the same request would be refused again. */
function isFinal(error: unknown): boolean {
  const { status, code } = asProblem(error)
  if (code === 'console-error') return true
  return status >= 400 && status < 500 && status !== 429
}

function delayAfter(error: unknown, failures: number): number {
  const seconds = error === undefined ? undefined : asProblem(error).retryAfterSeconds
  return seconds ? seconds * 1_000 : Math.min(500 * 2 ** failures, LONGEST_DELAY_MS)
}

/** Resolves when the feed is woken, after a time, or when the signal is aborted. */
function woken(wake: EventTarget, signal: AbortSignal, ms?: number): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer)
      wake.removeEventListener('wake', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = ms === undefined ? undefined : setTimeout(done, ms)
    wake.addEventListener('wake', done)
    signal.addEventListener('abort', done)
  })
}

const ENDED = {
  status: 0,
  code: 'unreachable',
  title: 'The service has ended the connection',
  detail: 'It may be restarting.',
}
const UNREADABLE = {
  status: 0,
  code: 'invalid-response',
  title: 'The events cannot be read',
  detail: 'A line of the response is not an event.',
}
