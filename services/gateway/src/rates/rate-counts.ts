import { randomUUID } from 'node:crypto'
import type { FastifyRateLimitStore } from '@fastify/rate-limit'
import { subjects } from '@gantry/contracts'
import { atMost } from '@gantry/event-sourcing'
import type { Bus, Json } from '@gantry/messaging'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { RateLimitStore } from './rate-limits.ts'

/**
 * Requests up to a twentieth of a limit are counted without waiting for the bus. Each further replica can therefore admit
 * at most a twentieth more, when requests reach all replicas within the same 100 ms.
 */
const UNORDERED_PART = 20
/** Interval of messages with counts that no request waits for. */
const SEND_MS = 100
/** How long a request waits for the bus to deliver its own count, in milliseconds. */
const DELIVERY_MS = 200
/** How far the clock of another replica may be ahead. */
const AHEAD_MS = 60_000
/** Maximum number of keys that are counted at the same time. */
const MAX_KEYS = 100_000
/** Maximum number of counts in one message, which keeps it far below the size limit of the bus. */
const BATCH = 2_000

/** By key: start of the window, in milliseconds since 1970, and number of requests in it. */
const Counted = z.record(z.string(), z.tuple([z.number(), z.number()]))
const CountsMessage = z.object({
  from: z.string(),
  /** Requests to add to the counts. Each request is reported once. */
  more: Counted.optional(),
  number: z.number().optional(),
  /** Total counts, for a replica that has just started. */
  all: Counted.optional(),
  /** Asks the other replicas for their total counts. */
  asks: z.boolean().optional(),
})

interface Count {
  /** Start of the window, in milliseconds since 1970. */
  window: number
  /** Requests that the bus has delivered. Its order is the same at every replica. */
  delivered: number
  /** Requests that this replica has counted and the bus has not delivered yet. */
  undelivered: number
}

/** What a message reports about one key, and the requests that wait for their rank in the order of the bus. */
interface Addition {
  window: number
  count: number
  waiting: { index: number; answer(rank: number): void }[]
}

type Callback = Parameters<FastifyRateLimitStore['incr']>[1]

/** Rate limits of all replicas together. */
export interface RateCounts {
  Store: RateLimitStore
  /** Listens to the other replicas, until the returned function is called. */
  start(): () => void
}

interface RateCountsOptions {
  bus: Pick<Bus, 'broadcast' | 'listen'>
  now(): Date
}

/**
 * Shared counters: replicas broadcast what they count, in windows that begin at full minutes of the reference time. Up to
 * a twentieth of the limit a request is counted without waiting. Above that it waits until the bus has delivered its own
 * count, for one round trip; the order of the bus decides which requests are within the limit. So the limit holds for all
 * replicas together, up to a twentieth per replica. While the bus is unavailable each replica counts for itself.
 */
export function rateCounts({ bus, now }: RateCountsOptions): RateCounts {
  const counts = new WindowCounts(now)
  const exchange = new CountExchange(bus, counts)

  class Store implements FastifyRateLimitStore {
    incr(key: string, answer: Callback, windowMs: number, max: number) {
      const { count, ttl } = counts.current(key, windowMs)
      const rank = count.delivered + count.undelivered + 1
      // Requests over the limit are neither counted nor reported.
      if (rank > max) return answer(null, { current: rank, ttl })
      const addition = exchange.add(key, count)
      if (exchange.away || rank <= max / UNORDERED_PART) {
        answer(null, { current: rank, ttl })
        return exchange.sendLater()
      }
      addition.waiting.push({
        index: addition.count,
        answer: current => answer(null, { current, ttl }),
      })
      exchange.send()
    }
    read(key: string, answer: Callback, windowMs: number) {
      const { count, ttl } = counts.current(key, windowMs)
      answer(null, { current: count.delivered + count.undelivered, ttl })
    }
    child() {
      return this
    }
  }

  return { Store, start: () => exchange.start() }
}

/** The count of each key in its newest window. */
class WindowCounts {
  readonly #counts = new LRUCache<string, Count>(atMost(MAX_KEYS))
  readonly #now: () => Date

  constructor(now: () => Date) {
    this.#now = now
  }

  /** The count of a key, in the given window or a later one. */
  of(key: string, window: number): Count {
    const known = this.#counts.get(key)
    // The window never goes back: the clock of another replica may be slightly ahead.
    if (known && known.window >= window) return known
    const count = { window, delivered: 0, undelivered: 0 }
    this.#counts.set(key, count)
    return count
  }

  /** The count of a key in the current window, and the time that is left of the window, in milliseconds. */
  current(key: string, windowMs: number): { count: Count; ttl: number } {
    const time = this.#now().getTime()
    const count = this.of(key, time - (time % windowMs))
    return { count, ttl: Math.max(1, count.window + windowMs - time) }
  }

  /**
   * The own counts of the windows in a message, each with the number in the message. A window far in the future is ignored:
   * it would replace all windows before it.
   */
  matching(counted: z.infer<typeof Counted>): [Count, number][] {
    return Object.entries(counted).flatMap(([key, [window, number]]): [Count, number][] => {
      if (window > this.#now().getTime() + AHEAD_MS) return []
      const known = this.of(key, window)
      return known.window === window ? [[known, number]] : []
    })
  }

  /** The delivered counts of the last minute, in parts of the size of one message. */
  *batches(): Generator<z.infer<typeof Counted>> {
    const since = this.#now().getTime() - 60_000
    const recent = [...this.#counts].filter(([, { window, delivered }]) => delivered > 0 && window > since)
    for (let begin = 0; begin < recent.length; begin += BATCH) {
      const batch = recent.slice(begin, begin + BATCH)
      yield Object.fromEntries(batch.map(([key, { window, delivered }]) => [key, [window, delivered]]))
    }
  }
}

/** Reports the requests of this replica to the others, one message at a time, and adds theirs to the counts. */
class CountExchange {
  /** True while the bus does not deliver: requests do not wait until it delivers a message again. */
  away = false
  readonly #from = randomUUID()
  readonly #bus: RateCountsOptions['bus']
  readonly #counts: WindowCounts
  #additions = new Map<string, Addition>()
  #inFlight: { number: number; additions: Map<string, Addition>; late: NodeJS.Timeout } | undefined
  #number = 0
  #timer: NodeJS.Timeout | undefined

  constructor(bus: RateCountsOptions['bus'], counts: WindowCounts) {
    this.#bus = bus
    this.#counts = counts
  }

  start(): () => void {
    const unlisten = this.#bus.listen(subjects.rateCounts, message => this.#receive(message))
    this.#broadcast({ asks: true }).catch(() => {})
    return () => {
      unlisten()
      clearTimeout(this.#timer)
      clearTimeout(this.#inFlight?.late)
    }
  }

  /** Adds a request to the next message. */
  add(key: string, count: Count): Addition {
    const known = this.#additions.get(key)
    count.undelivered++
    if (known?.window === count.window) {
      known.count++
      return known
    }
    const addition: Addition = { window: count.window, count: 1, waiting: [] }
    // These requests belong to a window that has ended.
    for (const { index, answer } of known?.waiting ?? []) answer(index)
    this.#additions.set(key, addition)
    return addition
  }

  sendLater(): void {
    this.#timer ??= setTimeout(() => this.send(), SEND_MS)
  }

  /** Sends the next message unless another one is in flight; then it follows when that one is delivered. */
  send(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#inFlight || this.#additions.size === 0) return
    const additions = new Map([...this.#additions].slice(0, BATCH))
    this.#additions = new Map([...this.#additions].slice(BATCH))
    const number = ++this.#number
    const late = setTimeout(() => this.#undelivered(number), DELIVERY_MS)
    this.#inFlight = { number, additions, late }
    const more = Object.fromEntries([...additions].map(([key, { window, count }]) => [key, [window, count]]))
    this.#broadcast({ number, more }).catch(() => this.#undelivered(number))
  }

  #broadcast(message: Record<string, Json>): Promise<void> {
    return this.#bus.broadcast(subjects.rateCounts, { from: this.#from, ...message })
  }

  #undelivered(number: number): void {
    if (this.#inFlight?.number !== number) return
    this.away = true
    this.#settle()
  }

  /**
   * Ends the message in flight. Its requests get their ranks: from the order of the bus, or after a timeout without it.
   */
  #settle(): void {
    if (!this.#inFlight) return
    const { additions, late } = this.#inFlight
    clearTimeout(late)
    this.#inFlight = undefined
    for (const [key, { window, count, waiting }] of additions) {
      const known = this.#counts.of(key, window)
      const before = known.window === window ? known.delivered : 0
      if (known.window === window) {
        known.delivered += count
        known.undelivered -= count
      }
      for (const { index, answer } of waiting) answer(before + index)
    }
    if ([...this.#additions.values()].some(({ waiting }) => waiting.length > 0)) this.send()
    else if (this.#additions.size > 0) this.sendLater()
  }

  #receive(message: Json): void {
    const { from, number, more = {}, all = {}, asks } = CountsMessage.parse(message)
    this.away = false
    if (from === this.#from) {
      if (number === this.#inFlight?.number) this.#settle()
      return
    }
    for (const [known, count] of this.#counts.matching(more)) known.delivered += count
    for (const [known, count] of this.#counts.matching(all))
      known.delivered = Math.max(known.delivered, count)
    if (asks) for (const batch of this.#counts.batches()) this.#broadcast({ all: batch }).catch(() => {})
  }
}
