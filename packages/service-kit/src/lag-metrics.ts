import { type EventStore, type Lag, lagAfter, listReadModels, MAX_READ, START } from '@gantry/event-sourcing'
import type { Bus, StoredMessage } from '@gantry/messaging'
import type { ReadModels } from '@gantry/read-models'
import { Gauge, type Registry } from 'prom-client'
import { singleFlight } from './event-metrics.ts'

interface Stores {
  eventStore: EventStore
  readModels: ReadModels
}

/** Values of a gauge by the value of its label; undefined removes the value. */
type Values = ReadonlyMap<string, number | undefined>

/** How long a message that could not be handled counts as being handled: longer than the pause before the next try. */
const RETRIED_WITHIN_MS = 15_000

const sources = new WeakMap<Gauge, (() => Promise<Values>)[]>()

/** Adds values to a gauge that the services of one process share. A failing store leaves out the values of its service. */
function addTo(
  registry: Registry,
  about: { name: string; help: string; label: string },
  source: () => Promise<Values>,
) {
  const { name, help, label } = about
  let gauge = registry.getSingleMetric(name) as Gauge | undefined
  if (!gauge) {
    gauge = new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      async collect() {
        this.reset()
        const all = await Promise.all((sources.get(this) ?? []).map(read => read().catch(() => new Map())))
        for (const values of all)
          for (const [value, number] of values) if (number !== undefined) this.set({ [label]: value }, number)
      },
    })
    sources.set(gauge, [])
  }
  sources.get(gauge)?.push(source)
}

/** Reads the lag of what follows the log. The values are those of the shared stores, hence the same in all replicas. */
export interface LogLag {
  ofRelay(): Promise<Lag>
  /** The lag of the projectors that were ever started. */
  ofProjectors(): Promise<(Lag & { name: string })[]>
}

/**
 * A read takes one checkpoint for each projector and relay, and at most MAX_READ events for one that is behind. Metrics and
 * `GET /system` share a read that is running.
 */
export function logLag(
  { eventStore, readModels }: Stores,
  { projectors, relay, now }: { projectors: readonly string[]; relay: string; now(): Date },
): LogLag {
  const lagOf = async (checkpoint: string) => {
    const position = (await readModels.checkpoints.get(checkpoint)) ?? START
    return lagAfter(eventStore, position, now())
  }
  return {
    ofRelay: singleFlight(() => lagOf(relay)),
    ofProjectors: singleFlight(async () => {
      const known = (await listReadModels(readModels)).filter(({ name }) => projectors.includes(name))
      return Promise.all(known.map(async ({ name, checkpoint }) => ({ name, ...(await lagOf(checkpoint)) })))
    }),
  }
}

/** Registers gauges of the lag of projectors and of a relay. */
export function lagMetrics(registry: Registry, { ofRelay, ofProjectors }: LogLag, relay: string): void {
  const counted = `estimated above ${MAX_READ.toLocaleString('en')}`
  addTo(
    registry,
    {
      name: 'gantry_read_model_lag_events',
      help: `Events in the log that the projector has not passed; ${counted}`,
      label: 'projector',
    },
    async () => new Map((await ofProjectors()).map(({ name, events }) => [name, events])),
  )
  addTo(
    registry,
    {
      name: 'gantry_relay_lag_events',
      help: `Events in the log that the relay has not passed; ${counted}`,
      label: 'relay',
    },
    async () => new Map([[relay, (await ofRelay()).events]]),
  )
  addTo(
    registry,
    {
      name: 'gantry_relay_lag_seconds',
      help: 'Age of the oldest event that the relay has not passed, 0 without one',
      label: 'relay',
    },
    async () => new Map([[relay, (await ofRelay()).seconds]]),
  )
}

/** What a consumer is doing, for its gauges. */
export interface ConsumerWatch {
  /** Handles a message while its age counts as the lag of the consumer. */
  handling(message: StoredMessage, handle: () => Promise<void>): Promise<void>
  /**
   * The lag of the consumer. The number of messages is the same in all replicas; only the replica that handles messages
   * knows the age of the first one, and the others have 0.
   */
  lag(): Promise<Lag>
}

/** Registers gauges of the lag of a consumer. */
export function consumerMetrics(
  registry: Registry,
  bus: Bus,
  { consumer, subjects, now }: { consumer: string; subjects: readonly string[]; now(): Date },
): ConsumerWatch {
  let current: { since: number; until: number } | undefined
  const backlog = singleFlight(() => bus.backlog({ consumer, subjects }))
  const seconds = () => {
    if (!current || performance.now() >= current.until) return 0
    return Math.max(0, now().getTime() - current.since) / 1_000
  }
  addTo(
    registry,
    {
      name: 'gantry_consumer_lag_events',
      help: 'Messages on the bus that the consumer has not acknowledged',
      label: 'consumer',
    },
    async () => new Map([[consumer, await backlog()]]),
  )
  addTo(
    registry,
    {
      name: 'gantry_consumer_lag_seconds',
      help: 'Age of the message that the consumer handles in this process, 0 without one',
      label: 'consumer',
    },
    async () => new Map([[consumer, seconds()]]),
  )
  return {
    lag: async () => ({ events: await backlog(), seconds: seconds() }),
    async handling({ storedAt }, handle) {
      const since = Date.parse(storedAt)
      current = { since, until: Number.POSITIVE_INFINITY }
      try {
        await handle()
        current = undefined
      } catch (error) {
        current = { since, until: performance.now() + RETRIED_WITHIN_MS }
        throw error
      }
    },
  }
}
