import { Refusal } from '@gantry/contracts'
import { type Slot, Slots } from '@gantry/service-runtime'
import { Gauge, type Registry } from 'prom-client'

/** How long a request waits for a slot before it is refused. */
const WAIT_MS = 10_000

/** Permissions of event streams to read past events from the bus. */
export interface ReplaySlots {
  /** For a request without a response yet. @throws Refusal too-many-replays after 10 s without a slot */
  begin(signal: AbortSignal): Promise<Slot>
  /** For a stream that has begun: waits without a timeout, behind all that already wait. */
  resume(signal: AbortSignal): Promise<Slot | undefined>
}

/** Limits how many event streams read past events at the same time. */
export function replaySlots(limit: number, metrics: Registry, waitMs = WAIT_MS): ReplaySlots {
  const slots = new Slots(limit)
  new Gauge({
    name: 'gantry_event_replays',
    help: 'Streams of GET /events that read past events, and those that wait for a slot',
    labelNames: ['state'],
    registers: [metrics],
    collect() {
      this.set({ state: 'running' }, slots.running)
      this.set({ state: 'waiting' }, slots.waiting)
    },
  })
  return {
    async begin(signal) {
      const slot = await slots.take(undefined, { waitMs, signal })
      if (slot?.held()) return slot
      if (signal.aborted) throw new Refusal('unavailable')
      throw new Refusal('too-many-replays', {
        detail: `${limit} streams are reading past events: try again later`,
      })
    },
    resume: signal => slots.take(undefined, { signal }),
  }
}
