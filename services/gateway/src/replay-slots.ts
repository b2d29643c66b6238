import { Refusal } from '@gantry/contracts'
import { Gauge, type Registry } from 'prom-client'

/** How long a request waits for a slot before it is refused. */
const WAIT_MS = 10_000

/** The permission of an event stream to read past events from the bus. */
export interface ReplaySlot {
  held(): boolean
  /** Returns the slot; further calls do nothing. The end of the stream returns it too. */
  release(): void
}

export interface ReplaySlots {
  /** For a request without a response yet. @throws Refusal too-many-replays after 10 s without a slot */
  begin(signal: AbortSignal): Promise<ReplaySlot>
  /** For a stream that has begun: waits without a timeout, behind all that already wait. */
  resume(signal: AbortSignal): Promise<ReplaySlot>
}

export interface ReplaySlotsOptions {
  /** Maximum number of concurrent replays. */
  limit: number
  metrics: Registry
  waitMs?: number
}

/** Limits how many event streams read past events at the same time. */
export function replaySlots({ limit, metrics, waitMs = WAIT_MS }: ReplaySlotsOptions): ReplaySlots {
  const waiting = new Set<() => void>()
  let running = 0

  new Gauge({
    name: 'gantry_event_replays',
    help: 'Streams of GET /events that read past events, and those that wait for a slot',
    labelNames: ['state'],
    registers: [metrics],
    collect() {
      this.set({ state: 'running' }, running)
      this.set({ state: 'waiting' }, waiting.size)
    },
  })

  /** Passes the slot to the next in the queue, or frees it. */
  const passOn = () => {
    const [next] = waiting
    if (next) next()
    else running--
  }

  /** @returns true when a slot came before the timeout and before the signal was aborted */
  const wait = (signal: AbortSignal, atMostMs: number | undefined) =>
    new Promise<boolean>(resolve => {
      const settle = (given: boolean) => {
        waiting.delete(proceed)
        clearTimeout(deadline)
        signal.removeEventListener('abort', giveUp)
        resolve(given)
      }
      const proceed = () => settle(true)
      const giveUp = () => settle(false)
      const deadline = atMostMs === undefined ? undefined : setTimeout(giveUp, atMostMs)
      signal.addEventListener('abort', giveUp)
      waiting.add(proceed)
    })

  const slotFor = (signal: AbortSignal): ReplaySlot => {
    let held = true
    const release = () => {
      if (!held) return
      held = false
      signal.removeEventListener('abort', release)
      passOn()
    }
    signal.addEventListener('abort', release)
    if (signal.aborted) release()
    return { held: () => held, release }
  }

  const take = async (signal: AbortSignal, atMostMs?: number): Promise<ReplaySlot | undefined> => {
    if (signal.aborted) return undefined
    if (running < limit) running++
    else if (!(await wait(signal, atMostMs))) return undefined
    return slotFor(signal)
  }

  return {
    async begin(signal) {
      const slot = await take(signal, waitMs)
      if (slot?.held()) return slot
      if (signal.aborted) throw new Refusal('unavailable')
      throw new Refusal('too-many-replays', {
        detail: `${limit} streams are reading past events: try again later`,
      })
    },
    async resume(signal) {
      const slot = await take(signal)
      return slot ?? { held: () => false, release() {} }
    },
  }
}
