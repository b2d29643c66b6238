import { AsyncLocalStorage } from 'node:async_hooks'
import {
  AppendTooLarge,
  type EventStore,
  type RecordedEvent,
  streamCategory,
  WrongExpectedRevision,
} from '@gantry/event-sourcing'
import { databaseSpan, inSpan } from '@gantry/tracing'
import { unknownEventCounter } from './event-metrics.ts'
import type { Dependencies } from './service.ts'

/** Appends of one piece of work, such as a request. */
interface Watched {
  /** Number of appends that the work has begun, less those that certainly changed nothing. */
  appends: number
}

/** An event store that counts appends per piece of work. */
export interface WatchedEventStore extends EventStore {
  /** Runs the work and counts its appends in `watched`. */
  watch<Result>(watched: Watched, work: () => Promise<Result>): Promise<Result>
}

/** Replaces the event store by one that records spans of appends, and counts them for requests with an Idempotency-Key. */
function watchingAppends<Given extends { eventStore: EventStore }>(
  dependencies: Given,
): Omit<Given, 'eventStore'> & { eventStore: WatchedEventStore } {
  const { eventStore } = dependencies
  const underWay = new AsyncLocalStorage<Watched>()
  const recorded: EventStore['append'] = (stream, ...append) =>
    inSpan(databaseSpan(eventStore.system, 'append', streamCategory(stream)), () =>
      eventStore.append(stream, ...append),
    )
  const append: EventStore['append'] = async (...append) => {
    const watched = underWay.getStore()
    if (!watched) return recorded(...append)
    watched.appends++
    try {
      return await recorded(...append)
    } catch (error) {
      if (error instanceof WrongExpectedRevision || error instanceof AppendTooLarge) watched.appends--
      throw error
    }
  }
  const watch: WatchedEventStore['watch'] = (watched, work) => underWay.run(watched, work)
  return { ...dependencies, eventStore: { ...eventStore, append, watch } }
}

/** Dependencies whose event store counts the appends of a request, with a counter of unknown events for aggregates. */
export interface Instrumented extends Omit<Dependencies, 'eventStore'> {
  eventStore: WatchedEventStore
  unknownEvent(event: RecordedEvent): void
}

export const instrumented = (dependencies: Dependencies): Instrumented => ({
  ...watchingAppends(dependencies),
  unknownEvent: unknownEventCounter(dependencies.process.metrics),
})
