import type { ReadModelState } from '@gantry/contracts'
import {
  type EventStore,
  heldStreams,
  type Log,
  type RecordedEvent,
  readModelStates,
  relaysOf,
  streamCategory,
} from '@gantry/event-sourcing'
import type { ReadModels } from '@gantry/stores'
import { Counter, Gauge, type Registry } from 'prom-client'

/** A read that callers share: a call while it runs gets the same result instead of another read. */
export function singleFlight<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let reading: Promise<Result> | undefined
  return () => {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }
}

/** Number of types of foreign events that are logged. */
const MOST_TYPES = 100
const STATUSES = ['QUARANTINED', 'INCOMPLETE'] as const

/** A counter that the services of one process share. */
const sharedCounter = <Label extends string>(
  registry: Registry,
  counter: { name: string; help: string; labelNames: Label[] },
) =>
  (registry.getSingleMetric(counter.name) as Counter<Label> | undefined) ??
  new Counter({ ...counter, registers: [registry] })

/** A counter of folded events that this release does not know. */
export function unknownEventCounter(registry: Registry): (event: RecordedEvent) => void {
  const counter = sharedCounter(registry, {
    name: 'gantry_unknown_events_total',
    help: 'Folded events of an unknown type or a newer schema version; each fold of an event counts',
    labelNames: ['category', 'type'],
  })
  return ({ stream, type }) => counter.inc({ category: streamCategory(stream), type })
}

/** Counts the events in streams of other applications, and logs the first one of each type. */
export function foreignEvents({
  metrics,
  log,
}: {
  metrics: Registry
  log: Pick<Log, 'warn'>
}): (event: RecordedEvent) => void {
  const counter = new Counter({
    name: 'gantry_foreign_events_total',
    help: 'Events in streams of other applications, which the audit log leaves out',
    registers: [metrics],
  })
  const logged = new Set<string>()
  return ({ stream, type, position }) => {
    counter.inc()
    if (logged.has(type) || logged.size === MOST_TYPES) return
    logged.add(type)
    log.warn({ stream, type, position }, 'the log has an event of another application')
  }
}

/**
 * A counter of errors in the log by the worker that failed, empty for other errors. A worker should begin with 0: a counter
 * that begins with its first failure has no increase for `rate()`.
 */
export const logErrorCounter = (registry: Registry): Counter<'worker'> =>
  sharedCounter(registry, {
    name: 'gantry_log_errors_total',
    help: 'Errors in the log, by the worker that failed and is restarted (empty for other errors)',
    labelNames: ['worker'],
  })

/** A counter of how often consumers missed messages. */
export function missedMessageCounter(registry: Registry): (consumer: string) => () => void {
  const counter = sharedCounter(registry, {
    name: 'gantry_missed_messages_total',
    help: 'How often messages were removed because of their age before the consumer had handled them',
    labelNames: ['consumer'],
  })
  return consumer => {
    counter.inc({ consumer }, 0)
    return () => counter.inc({ consumer })
  }
}

/** Registers gauges of the read models of projectors and their rebuilds. They have no values while a store is unavailable. */
export function readModelMetrics(
  registry: Registry,
  stores: { readModels: ReadModels; eventStore: EventStore },
  projectors: readonly string[],
): void {
  heldStreamMetrics(registry, stores.readModels, projectors)
  const readStates = readModelStates(stores)
  const states = singleFlight(() => readStates(projectors).catch(() => []))
  const gauge = (metric: string, help: string, measure: (state: ReadModelState) => number | undefined) =>
    new Gauge({
      name: metric,
      help,
      labelNames: ['projector'],
      registers: [registry],
      async collect() {
        this.reset()
        for (const state of await states()) {
          const value = measure(state)
          if (value !== undefined) this.set({ projector: state.name }, value)
        }
      },
    })
  gauge(
    'gantry_read_model_generation',
    'The generation of the read models that is read',
    state => state.generation,
  )
  gauge(
    'gantry_rebuild_progress_ratio',
    'Part of the log that a running rebuild has projected; absent while none runs',
    state => state.rebuild?.progress,
  )
}

/** Registers a gauge of the streams that projectors and their relays hold; NaN while the read models are unavailable. */
function heldStreamMetrics(registry: Registry, readModels: ReadModels, projectors: readonly string[]): void {
  const held = [...projectors, ...relaysOf(projectors)].map(projector => ({
    projector,
    streams: readModels.collection(heldStreams(projector)),
  }))
  new Gauge({
    name: 'gantry_held_streams',
    help: 'Streams whose documents lack events: QUARANTINED by an event that throws, INCOMPLETE by unknown events',
    labelNames: ['projector', 'status'],
    registers: [registry],
    async collect() {
      await Promise.all(
        held.flatMap(({ projector, streams }) =>
          STATUSES.map(async status => {
            this.set(
              { projector, status },
              await streams.count({ where: { status } }).catch(() => Number.NaN),
            )
          }),
        ),
      )
    },
  })
}
