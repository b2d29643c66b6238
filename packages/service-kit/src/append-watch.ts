import { AsyncLocalStorage } from 'node:async_hooks'
import { AppendTooLarge, type EventStore, WrongExpectedRevision } from '@gantry/event-sourcing'

/** What was seen of a piece of work. */
export interface Watched {
  /** Appends that the work has begun, without those that are known to have changed nothing. */
  appends: number
}

/** An event store that notes which work appends to it. */
export interface WatchedEventStore extends EventStore {
  /** Runs the work, and counts in `watched` the appends that it begins. */
  watch<Result>(watched: Watched, work: () => Promise<Result>): Promise<Result>
}

/** The same dependencies; `router` needs the event store in this form, for requests under an Idempotency-Key. */
export function watchingAppends<Given extends { eventStore: EventStore }>(
  dependencies: Given,
): Omit<Given, 'eventStore'> & { eventStore: WatchedEventStore } {
  const { eventStore } = dependencies
  const underWay = new AsyncLocalStorage<Watched>()
  const append: EventStore['append'] = async (...append) => {
    const watched = underWay.getStore()
    if (!watched) return eventStore.append(...append)
    watched.appends++
    try {
      return await eventStore.append(...append)
    } catch (error) {
      if (error instanceof WrongExpectedRevision || error instanceof AppendTooLarge) watched.appends--
      throw error
    }
  }
  const watch: WatchedEventStore['watch'] = (watched, work) => underWay.run(watched, work)
  return { ...dependencies, eventStore: { ...eventStore, append, watch } }
}
