import { Refusal } from '@gantry/event-sourcing'
import { Gauge, type Registry } from 'prom-client'

/** How long a request waits for a slot before it is refused. */
const WAIT_MS = 10_000

/** The right of an event stream to read events of the past. */
export interface ReplaySlot {
  held(): boolean
  /** Gives the slot back, once. The end of the stream does so too. */
  release(): void
}

export interface ReplaySlots {
  /** Of a request that was not answered yet. @throws Refusal too-many-replays after 10 s without a slot */
  begin(signal: AbortSignal): Promise<ReplaySlot>
  /** Of a stream that has begun: waits as long as it takes, behind all that wait already. */
  resume(signal: AbortSignal): Promise<ReplaySlot>
}

export interface ReplaySlotsOptions {
  /** Replays at once; 0 for any number. */
  limit: number
  metrics: Registry
  waitMs?: number
}

/** Bounds how many event streams read events of the past at once. */
export function replaySlots({ limit, metrics, waitMs = WAIT_MS }: ReplaySlotsOptions): ReplaySlots {
  const slots = limit === 0 ? Number.POSITIVE_INFINITY : limit
  const waiting = new Set<() => void>()
  let running = 0

  new Gauge({
    name: 'gantry_event_replays',
    help: 'Streams of GET /events that read events of the past, and those that wait for it (MAX_EVENT_REPLAYS)',
    labelNames: ['state'],
    registers: [metrics],
    collect() {
      this.set({ state: 'running' }, running)
      this.set({ state: 'waiting' }, waiting.size)
    },
  })

  /** Hands the slot on, or leaves it free. */
  const handOn = () => {
    const [next] = waiting
    if (next) next()
    else running--
  }

  /** @returns whether there was a slot before the time was over and the signal aborted */
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
      handOn()
    }
    signal.addEventListener('abort', release)
    if (signal.aborted) release()
    return { held: () => held, release }
  }

  const take = async (signal: AbortSignal, atMostMs?: number): Promise<ReplaySlot | undefined> => {
    if (signal.aborted) return undefined
    if (running < slots) running++
    else if (!(await wait(signal, atMostMs))) return undefined
    return slotFor(signal)
  }

  return {
    async begin(signal) {
      const slot = await take(signal, waitMs)
      if (slot?.held()) return slot
      if (signal.aborted) throw new Refusal('unavailable')
      throw new Refusal('too-many-replays', {
        detail: `${limit} streams are reading events of the past (MAX_EVENT_REPLAYS): try again later`,
      })
    },
    async resume(signal) {
      const slot = await take(signal)
      return slot ?? { held: () => false, release() {} }
    },
  }
}
