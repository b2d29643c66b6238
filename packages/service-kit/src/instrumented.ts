import type { RecordedEvent } from '@gantry/event-sourcing'
import { type WatchedEventStore, watchingAppends } from './append-watch.ts'
import { unknownEventCounter } from './event-metrics.ts'
import type { Dependencies } from './service.ts'

/** Dependencies whose event store counts the appends of a request, with a counter of unknown events for aggregates. */
export interface Instrumented extends Omit<Dependencies, 'eventStore'> {
  eventStore: WatchedEventStore
  unknownEvent(event: RecordedEvent): void
}

export const instrumented = (dependencies: Dependencies): Instrumented => ({
  ...watchingAppends(dependencies),
  unknownEvent: unknownEventCounter(dependencies.process.metrics),
})
