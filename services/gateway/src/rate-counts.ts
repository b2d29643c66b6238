import { randomUUID } from 'node:crypto'
import type { FastifyRateLimitStore } from '@fastify/rate-limit'
import { subjects } from '@gantry/contracts'
import type { Bus, Json } from '@gantry/messaging'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { RateLimitStore } from './rate-limits.ts'

/**
 * Up to a twentieth of a limit a request is counted without waiting; by so much at most can each further replica let
 * more in, when callers come to all of them in the same tenth of a second.
 */
const UNHEARD_PART = 20
/** Between two messages of what nobody waits for. */
const TELL_MS = 100
/** How long a request waits to hear how many came before it. */
const HEAR_MS = 200
/** How far the clock of another may be ahead. */
const AHEAD_MS = 60_000
/** Callers that are counted at the same time. */
const KEPT = 100_000
/** Counts in one message, far below the largest that a bus takes. */
const BATCH = 2_000

/** How many in the window that began then, in milliseconds since 1970. */
const Counted = z.record(z.string(), z.tuple([z.number(), z.number()]))
const Told = z.object({
  from: z.string(),
  /** More of them, told once. */
  more: Counted.optional(),
  number: z.number().optional(),
  /** All of them, for one who has just come. */
  all: Counted.optional(),
  /** Asks for that. */
  asks: z.boolean().optional(),
})

interface Count {
  /** When its window began. */
  window: number
  /** What the bus told of, in its order: the same at every replica. */
  heard: number
  /** Counted here, and not heard of yet. */
  unheard: number
}

/** What one message tells of one key, and who wants to know the place of theirs. */
interface Addition {
  window: number
  count: number
  waiting: { index: number; answer(place: number): void }[]
}

type Answer = Parameters<FastifyRateLimitStore['incr']>[1]

/** Rate limits of all replicas together. */
export interface RateCounts {
  Store: RateLimitStore
  /** Hears the others, until the returned function is called. */
  start(): () => void
}

/**
 * Replicas count together by telling each other over the bus what they count, in windows that begin at full minutes by
 * the clock that all processes go by. Far below its limit a caller is counted without waiting; nearer to it, a request
 * waits until it is heard of on the bus, whose order decides which came first: so for one round trip the limit holds for
 * all replicas together, to a twentieth. While the bus is away each counts for itself.
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
  /** Nothing was heard when it should have been: it is not worth waiting, until there is something. */
  let away = false

  const countOf = (key: string, window: number): Count => {
    const known = counts.get(key)
    // A window never goes back: another's clock may be a moment ahead.
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

  /** What was told stands where the order of the bus has put it, or where it is when the bus says nothing. */
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

  /** Of the window that is open; one that is far ahead would keep the key from every window before it. */
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
    // Of a window that is over, and nobody asks any more.
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
      // Those who are refused anyway are neither counted nor told of, however many they are.
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
