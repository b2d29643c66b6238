import { randomUUID } from 'node:crypto'
import type { FastifyRateLimitStore } from '@fastify/rate-limit'
import { subjects } from '@gantry/contracts'
import type { Bus, Json } from '@gantry/messaging'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { RateLimitStore } from './rate-limits.ts'

/**
 * Requests up to a twentieth of a limit are counted without waiting for the bus. Each further replica can therefore admit
 * at most a twentieth more, when requests reach all replicas within the same 100 ms.
 */
const UNHEARD_PART = 20
/** Interval of messages with counts that no request waits for. */
const TELL_MS = 100
/** How long a request waits for the bus to deliver its own count. */
const HEAR_MS = 200
/** How far the clock of another replica may be ahead. */
const AHEAD_MS = 60_000
/** Maximum number of keys that are counted at the same time. */
const KEPT = 100_000
/** Maximum number of counts in one message, which keeps it far below the size limit of the bus. */
const BATCH = 2_000

/** By key: start of the window, in milliseconds since 1970, and number of requests in it. */
const Counted = z.record(z.string(), z.tuple([z.number(), z.number()]))
const Told = z.object({
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
  heard: number
  /** Requests that this replica has counted and the bus has not delivered yet. */
  unheard: number
}

/** What one message reports of one key, with the requests that wait for their place in the order of the bus. */
interface Addition {
  window: number
  count: number
  waiting: { index: number; answer(place: number): void }[]
}

type Answer = Parameters<FastifyRateLimitStore['incr']>[1]

/** Rate limits of all replicas together. */
export interface RateCounts {
  Store: RateLimitStore
  /** Listens to the other replicas, until the returned function is called. */
  start(): () => void
}

/**
 * Shared counters: replicas broadcast what they count, in windows that begin at full minutes of the reference time. Up to
 * a twentieth of the limit a request is counted without waiting. Above that it waits until the bus has delivered its own
 * count, for one round trip; the order of the bus decides which requests are within the limit. So the limit holds for all
 * replicas together, up to a twentieth per replica. While the bus is unavailable each replica counts for itself.
 */
export function rateCounts({
  bus,
  now,
}: {
  bus: Pick<Bus, 'broadcast' | 'listen'>
  now(): Date
}): RateCounts {
  const from = randomUUID()
  const counts = new LRUCache<string, Count>({ max: KEPT })
  let additions = new Map<string, Addition>()
  let underWay: { number: number; additions: Map<string, Addition>; late: NodeJS.Timeout } | undefined
  let number = 0
  let timer: NodeJS.Timeout | undefined
  /** True while the bus does not deliver: requests do not wait until it delivers a message again. */
  let away = false

  const countOf = (key: string, window: number): Count => {
    const known = counts.get(key)
    // The window never goes back: the clock of another replica may be slightly ahead.
    if (known && known.window >= window) return known
    const count = { window, heard: 0, unheard: 0 }
    counts.set(key, count)
    return count
  }

  const tell = () => {
    clearTimeout(timer)
    timer = undefined
    if (underWay || additions.size === 0) return
    const told = new Map([...additions].slice(0, BATCH))
    additions = new Map([...additions].slice(BATCH))
    const own = ++number
    const late = setTimeout(() => unheard(own), HEAR_MS)
    underWay = { number: own, additions: told, late }
    const more = Object.fromEntries([...told].map(([key, { window, count }]) => [key, [window, count]]))
    bus.broadcast(subjects.rateCounts, { from, number: own, more }).catch(() => unheard(own))
  }
  const unheard = (own: number) => {
    if (underWay?.number !== own) return
    away = true
    settle()
  }

  /** Ends the message under way: its requests get their places, by the order of the bus or without it after a timeout. */
  const settle = () => {
    if (!underWay) return
    const settled = underWay.additions
    clearTimeout(underWay.late)
    underWay = undefined
    for (const [key, { window, count, waiting }] of settled) {
      const known = countOf(key, window)
      const before = known.window === window ? known.heard : 0
      if (known.window === window) {
        known.heard += count
        known.unheard -= count
      }
      for (const { index, answer } of waiting) answer(before + index)
    }
    if ([...additions.values()].some(({ waiting }) => waiting.length > 0)) tell()
    else if (additions.size > 0) timer ??= setTimeout(tell, TELL_MS)
  }

  const hear = (told: Json) => {
    const { from: other, number: heard, more = {}, all = {}, asks } = Told.parse(told)
    away = false
    if (other === from) {
      if (heard === underWay?.number) settle()
      return
    }
    for (const [known, count] of current(more)) known.heard += count
    for (const [known, count] of current(all)) known.heard = Math.max(known.heard, count)
    if (asks) tellAll()
  }

  /** The counts of open windows. A window far in the future is ignored: it would replace all windows before it. */
  const current = (counted: z.infer<typeof Counted>) =>
    Object.entries(counted).flatMap(([key, [window, count]]): [Count, number][] => {
      if (window > now().getTime() + AHEAD_MS) return []
      const known = countOf(key, window)
      return known.window === window ? [[known, count]] : []
    })

  const tellAll = () => {
    const alive = [...counts].filter(
      ([, { window, heard }]) => heard > 0 && window > now().getTime() - 60_000,
    )
    for (let begin = 0; begin < alive.length; begin += BATCH) {
      const batch = alive.slice(begin, begin + BATCH)
      const all = Object.fromEntries(batch.map(([key, { window, heard }]) => [key, [window, heard]]))
      bus.broadcast(subjects.rateCounts, { from, all }).catch(() => {})
    }
  }

  const add = (key: string, count: Count): Addition => {
    const known = additions.get(key)
    count.unheard++
    if (known?.window === count.window) {
      known.count++
      return known
    }
    const addition: Addition = { window: count.window, count: 1, waiting: [] }
    // These requests belong to a window that has ended.
    for (const { index, answer } of known?.waiting ?? []) answer(index)
    additions.set(key, addition)
    return addition
  }

  const look = (key: string, windowMs: number) => {
    const time = now().getTime()
    const count = countOf(key, time - (time % windowMs))
    return { count, ttl: Math.max(1, count.window + windowMs - time) }
  }

  class Store implements FastifyRateLimitStore {
    incr(key: string, answer: Answer, windowMs: number, max: number) {
      const { count, ttl } = look(key, windowMs)
      const place = count.heard + count.unheard + 1
      // Requests over the limit are neither counted nor reported.
      if (place > max) return answer(null, { current: place, ttl })
      const addition = add(key, count)
      if (away || place <= max / UNHEARD_PART) {
        answer(null, { current: place, ttl })
        timer ??= setTimeout(tell, TELL_MS)
        return
      }
      addition.waiting.push({
        index: addition.count,
        answer: current => answer(null, { current, ttl }),
      })
      tell()
    }
    read(key: string, answer: Answer, windowMs: number) {
      const { count, ttl } = look(key, windowMs)
      answer(null, { current: count.heard + count.unheard, ttl })
    }
    child() {
      return this
    }
  }

  return {
    Store,
    start() {
      const unlisten = bus.listen(subjects.rateCounts, hear)
      bus.broadcast(subjects.rateCounts, { from, asks: true }).catch(() => {})
      return () => {
        unlisten()
        clearTimeout(timer)
        if (underWay) clearTimeout(underWay.late)
      }
    },
  }
}
