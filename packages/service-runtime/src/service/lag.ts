import type { Lag as LagOfPart } from '@gantry/contracts'
import {
  type EventStore,
  handledThrough,
  type Lag,
  lagAfter,
  listReadModels,
  MAX_READ,
  type Reaction,
  START,
} from '@gantry/event-sourcing'
import type { Bus, StoredMessage } from '@gantry/messaging'
import { inTime } from '@gantry/pacing'
import type { ReadModels } from '@gantry/stores'
import { Gauge, type Registry } from 'prom-client'
import { singleFlight } from './event-metrics.ts'

/** A part of a service that follows the log or the bus. */
export interface Follower extends Pick<LagOfPart, 'name' | 'kind'> {
  /** Its lag; undefined for a projector that was never started. Metrics and `GET /system` share a read that is running. */
  lag(): Promise<Lag | undefined>
}

/**
 * The projectors and the relay of a service. They follow shared stores, so that their lag is the same in all replicas. A read
 * takes one checkpoint, and at most MAX_READ events of a part that is behind.
 */
export function logFollowers(
  { eventStore, readModels }: { eventStore: EventStore; readModels: ReadModels },
  { projectors, relay, now }: { projectors: readonly string[]; relay: string; now(): Date },
): Follower[] {
  const lagOf = async (checkpoint: string) =>
    lagAfter(eventStore, (await readModels.checkpoints.get(checkpoint)) ?? START, now())
  const records = singleFlight(() => listReadModels(readModels))
  const ofProjector = async (name: string) => {
    const record = (await records()).find(known => known.name === name)
    return record && lagOf(record.checkpoint)
  }
  return [
    ...projectors.map(
      (name): Follower => ({ name, kind: 'PROJECTOR', lag: singleFlight(() => ofProjector(name)) }),
    ),
    { name: relay, kind: 'RELAY', lag: singleFlight(() => lagOf(relay)) },
  ]
}

/** How long a message that could not be handled counts as being handled: longer than the pause before the next try. */
const RETRIED_WITHIN_MS = 15_000

export interface FollowingConsumer extends Follower {
  /** Handles a message while its age counts as the lag of the consumer. */
  handling(message: StoredMessage, handle: () => Promise<void>): Promise<void>
  /** Size of the data of the messages that are being handled. */
  bytes(): number
}

/**
 * A consumer. The number of messages is the same in all replicas; only the replica that handles messages knows the age of
 * the first one, and the others have 0.
 */
export function followingConsumer(
  { bus, readModels, now }: { bus: Bus; readModels: Pick<ReadModels, 'checkpoints'>; now(): Date },
  { consumer, subjects }: Pick<Reaction, 'consumer' | 'subjects'>,
): FollowingConsumer {
  const handled = new Set<StoredMessage>()
  let failed: { message: StoredMessage; until: number } | undefined
  const seconds = () => {
    const retried = failed && performance.now() < failed.until ? [failed.message] : []
    const stored = [...handled, ...retried].map(({ storedAt }) => Date.parse(storedAt))
    return Math.max(0, now().getTime() - Math.min(...stored)) / 1_000
  }
  return {
    name: consumer,
    kind: 'CONSUMER',
    lag: singleFlight(async () => ({
      events: await bus.backlog({
        reader: consumer,
        subjects,
        after: await handledThrough({ consumer }, readModels),
      }),
      seconds: seconds(),
    })),
    async handling(message, handle) {
      handled.add(message)
      try {
        await handle()
        if (failed?.message.sequence === message.sequence) failed = undefined
      } catch (error) {
        failed = { message, until: performance.now() + RETRIED_WITHIN_MS }
        throw error
      } finally {
        handled.delete(message)
      }
    },
    bytes: () => handled.values().reduce((sum, { data }) => sum + Buffer.byteLength(JSON.stringify(data)), 0),
  }
}

/** Time for the stores to tell the lag. */
const TIMEOUT_MS = 2_000

/** The lag of each part, for `GET /system`; null while a store does not answer in time. Never throws. */
export const lagOfParts = (followers: readonly Follower[]): Promise<LagOfPart[]> =>
  Promise.all(
    followers.map(async ({ name, kind, lag }) => ({
      name,
      kind,
      ...((await inTime(
        lag().catch(() => undefined),
        TIMEOUT_MS,
      )) ?? { events: null, seconds: null }),
    })),
  )

const counted = `estimated above ${MAX_READ.toLocaleString('en')}`
const METRICS = {
  PROJECTOR: {
    metric: 'read_model',
    events: `Events in the log that the projector has not passed; ${counted}`,
    seconds: 'Age of the oldest event that is not projected, 0 without one',
  },
  RELAY: {
    metric: 'relay',
    events: `Events in the log that the relay has not passed; ${counted}`,
    seconds: 'Age of the oldest event that the relay has not passed, 0 without one',
  },
  CONSUMER: {
    metric: 'consumer',
    events: 'Messages on the bus that the consumer has not handled',
    seconds: 'Age of the oldest message that the consumer handles in this process, 0 without one',
  },
} as const

/** The parts whose lag a gauge has. The services of one process share it. */
const shown = new WeakMap<Gauge, Follower[]>()

/** Adds the lag of a part to gauges. A store that fails leaves out the values of the part. */
export function showLag(registry: Registry, follower: Follower): void {
  const label = follower.kind.toLowerCase()
  const { metric, ...help } = METRICS[follower.kind]
  for (const unit of ['events', 'seconds'] as const) {
    const name = `gantry_${metric}_lag_${unit}`
    let gauge = registry.getSingleMetric(name) as Gauge | undefined
    if (!gauge) {
      gauge = new Gauge({
        name,
        help: help[unit],
        labelNames: [label],
        registers: [registry],
        async collect() {
          this.reset()
          const read = async ({ name, lag }: Follower) => {
            const found = await lag().catch(() => undefined)
            if (found) this.set({ [label]: name }, found[unit])
          }
          await Promise.all((shown.get(this) ?? []).map(read))
        },
      })
      shown.set(gauge, [])
    }
    shown.get(gauge)?.push(follower)
  }
}
