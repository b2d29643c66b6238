import type { Lane } from '../delivery/lane.ts'
import { BREAKER, Breaker, type BreakerRules, type BreakerState } from './breaker.ts'

export interface RoomSize {
  /** Attempts under way at once. */
  overall: number
  /** Attempts begun in a second to one webhook; as many as there are when left out or 0. */
  perSecond?: number
}

/** A place for an attempt. */
export interface Place {
  /**
   * Gives the place back, once.
   * @param succeeded undefined when no attempt was made, or its end says nothing of the endpoint
   */
  giveBack(succeeded?: boolean): void
}

/** Why an attempt has to wait. */
export type Deferral = 'room' | 'rate' | 'breaker'

export interface Endpoint {
  webhook: string
  state: BreakerState
  /** For how long it has not been closed, in milliseconds. */
  troubledMs: number
}

/**
 * Bounds the attempts that are under way, so that no endpoint takes what others need. An endpoint is a webhook, not an
 * origin: many people's webhooks lie at one origin, and one of them that fails must not hold up the others.
 *
 * Of what is free, a webhook gets an eighth at most (dynamic thresholds: Choudhury and Hahne, 1998): however many
 * endpoints do not answer, there is a place left for one that does. A quarter of each bound is kept free of retries.
 * What a person asked for waits for neither breaker nor rate.
 */
export interface Room {
  /** @returns why there is none */
  take(lane: Lane): Place | Deferral
  /** For how many milliseconds nothing can be begun in the lane, whatever is given back. */
  heldForMs(lane: Lane): number
  /**
   * Resolves when more than half of the places are free, one who waits after the other, or after that time. What is made
   * then can begin at once, which takes less than leaving it to be taken up later.
   */
  halfFree(atMostMs: number): Promise<void>
  /** A webhook changed: what was known of its endpoint is of the past. */
  forget(webhook: string): void
  readonly taken: number
  /** Those whose breaker is not closed. */
  troubled(): Endpoint[]
}

export const ROOM: RoomSize = { overall: 256 }
const SHARE_OF_WEBHOOK = 1 / 8
const SHARE_OF_RETRIES = 0.75

/** Places that are taken, and how many of them by retries. */
class Places {
  all = 0
  retries = 0

  has(size: number, retry: boolean) {
    return this.all < size && (!retry || this.retries < size * SHARE_OF_RETRIES)
  }
  add(retry: boolean, count: 1 | -1) {
    this.all += count
    if (retry) this.retries += count
  }
}

interface Known {
  readonly places: Places
  readonly breaker: Breaker
  /** When the next attempt would begin at an even pace (GCRA: ITU-T I.371, Annex A). */
  evenly: number
}

const BURST_MS = 1_000

export function room(
  { overall, perSecond }: RoomSize = ROOM,
  { now = () => performance.now(), rules = BREAKER }: { now?: () => number; rules?: BreakerRules } = {},
): Room {
  const all = new Places()
  const known = new Map<string, Known>()
  const anew = (): Known => ({
    places: new Places(),
    breaker: new Breaker(rules),
    evenly: Number.NEGATIVE_INFINITY,
  })
  const waiting = new Set<() => void>()
  const isHalfFree = () => all.all < overall / 2
  const paceMs = perSecond ? 1_000 / perSecond : 0
  const byHand = ({ kind }: Lane) => kind === 'test' || kind === 'manual'
  /** From when on the rate lets another attempt begin. */
  const nextAt = ({ evenly }: Known) => (paceMs > 0 ? evenly + paceMs - BURST_MS : Number.NEGATIVE_INFINITY)

  const deferral = (own: Known, lane: Lane, time: number): Deferral | undefined => {
    const retry = lane.kind === 'retry'
    if (!byHand(lane)) {
      if (!own.breaker.admits(time)) return 'breaker'
      if (nextAt(own) > time) return 'rate'
    }
    const share = Math.ceil((overall - all.all) * SHARE_OF_WEBHOOK)
    return all.has(overall, retry) && own.places.has(share, retry) ? undefined : 'room'
  }

  return {
    get taken() {
      return all.all
    },
    take(lane) {
      const { webhook, kind } = lane
      const retry = kind === 'retry'
      const own = known.get(webhook) ?? anew()
      const time = now()
      const deferred = deferral(own, lane, time)
      if (deferred) return deferred
      known.set(webhook, own)
      all.add(retry, 1)
      own.places.add(retry, 1)
      if (paceMs > 0) own.evenly = Math.max(own.evenly, time) + paceMs
      const probe = own.breaker.begin(time)
      let given = true
      return {
        giveBack(succeeded) {
          if (!given) return
          given = false
          all.add(retry, -1)
          own.places.add(retry, -1)
          own.breaker.end(now(), probe, succeeded)
          const idle = own.places.all === 0 && own.breaker.untroubled && nextAt(own) <= now() - BURST_MS
          if (idle && known.get(webhook) === own) known.delete(webhook)
          if (isHalfFree()) for (const proceed of waiting) return proceed()
        },
      }
    },
    heldForMs(lane) {
      const own = known.get(lane.webhook)
      if (!own || byHand(lane)) return 0
      const time = now()
      return Math.max(own.breaker.openForMs(time), nextAt(own) - time, 0)
    },
    async halfFree(atMostMs) {
      if (waiting.size === 0 && isHalfFree()) return
      await new Promise<void>(resolve => {
        const proceed = () => {
          clearTimeout(timer)
          waiting.delete(proceed)
          resolve()
        }
        const timer = setTimeout(proceed, atMostMs)
        waiting.add(proceed)
      })
    },
    forget(webhook) {
      known.delete(webhook)
    },
    troubled() {
      const time = now()
      return [...known].flatMap(([webhook, { breaker }]) =>
        breaker.openedAt === undefined
          ? []
          : [{ webhook, state: breaker.state(time), troubledMs: time - breaker.openedAt }],
      )
    },
  }
}
