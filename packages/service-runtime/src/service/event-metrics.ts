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

const UNKNOWN_EVENTS = 'gantry_unknown_events_total'
const FOREIGN_EVENTS = 'gantry_foreign_events_total'
const MISSED_MESSAGES = 'gantry_missed_messages_total'
const LOG_ERRORS = 'gantry_log_errors_total'
/** Number of types of foreign events that are logged. */
const MOST_TYPES = 100
const STATUSES = ['QUARANTINED', 'INCOMPLETE'] as const

/** A counter of folded events that this release does not know. The services of one process share it. */
export function unknownEventCounter(registry: Registry): (event: RecordedEvent) => void {
  const counter =
    (registry.getSingleMetric(UNKNOWN_EVENTS) as Counter<'category' | 'type'> | undefined) ??
    new Counter({
      name: UNKNOWN_EVENTS,
      help: 'Folded events of an unknown type or a newer schema version; each fold of an event counts',
      labelNames: ['category', 'type'],
      registers: [registry],
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
    name: FOREIGN_EVENTS,
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
 * A counter of errors in the log by the worker that failed, empty for other errors. The services of one process share it.
 * A worker should begin with 0: a counter that begins with its first failure has no increase for `rate()`.
 */
export const logErrorCounter = (registry: Registry): Counter<'worker'> =>
  (registry.getSingleMetric(LOG_ERRORS) as Counter<'worker'> | undefined) ??
  new Counter({
    name: LOG_ERRORS,
    help: 'Errors in the log, by the worker that failed and is restarted (empty for other errors)',
    labelNames: ['worker'],
    registers: [registry],
  })

/** A counter of how often consumers missed messages. The services of one process share it. */
export function missedMessageCounter(registry: Registry): (consumer: string) => () => void {
  const counter =
    (registry.getSingleMetric(MISSED_MESSAGES) as Counter<'consumer'> | undefined) ??
    new Counter({
      name: MISSED_MESSAGES,
      help: 'How often messages were removed because of their age before the consumer had handled them',
      labelNames: ['consumer'],
      registers: [registry],
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
