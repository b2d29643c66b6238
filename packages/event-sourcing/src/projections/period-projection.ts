import { isDeepStrictEqual } from 'node:util'
import type { Document, FieldKind, Write } from '@gantry/stores'
import { LRUCache } from 'lru-cache'
import { type DomainEvent, knowsSchema, type RecordedEvent, streamId } from '../log/event.ts'
import { type EventStore, NO_STREAM } from '../log/event-store.ts'
import { type Fold, folding, StreamQuarantined, type StreamState } from '../log/fold.ts'
import { PersistentMap } from '../log/persistent-map.ts'
import { type Project, type Projected, type Projection, writesOf } from './projection.ts'

/**
 * A document that shows a resource in one period between two of its changes. Documents of all periods of a resource
 * together are its history: at each time at most one of them is valid.
 */
export interface Period extends Document {
  /** `{id of the resource}/{revision of the event that began the period}`. */
  id: string
  resource: string
  /** ISO 8601 UTC with milliseconds, inclusive. */
  validFrom: string
  /** ISO 8601 UTC with milliseconds, exclusive; NOT_ENDED for the current period. */
  validTo: string
}

/** Later than the time of any query. */
const NOT_ENDED = '9999-12-31T23:59:59.999Z'

/** The fields of a period that queries need, for the declaration of a collection. */
export const periodFields = {
  resource: 'string',
  validFrom: 'string',
  validTo: 'string',
} as const satisfies Record<string, FieldKind>

/** The validity of a period, for the declaration of a collection. */
export const validity = { from: 'validFrom', to: 'validTo' }

export interface PeriodProjectionOptions<State, Event extends DomainEvent> {
  eventStore: EventStore
  category: string
  decider: Fold<State, Event>
  /**
   * The documents of a state, as for a read model, in collections whose documents are periods. Called for each event with
   * the state after that event; the fields of the period are added to the documents.
   */
  project: Project<State, Event>
  /** More writes for an event. Called for each document that `project` gives, also if the event left it unchanged. */
  changed?(change: DocumentChange): Write[]
}

/** A document before and after an event of its stream; null where it does not exist. */
export interface DocumentChange {
  collection: Write['collection']
  id: string
  before: Document | null
  /** The same object as `before` if the event left the document unchanged. */
  after: Document | null
  event: RecordedEvent
  /** Time of the event. If an earlier event of the stream has a later time, that time. */
  at: string
}

/** The period of a resource that has not ended. */
interface Current {
  doc: Document
  /** Revision of the event that began the period. */
  revision: number
  validFrom: string
}

/** A stream up to a revision. */
interface Timeline<State> extends StreamState<State> {
  /** The latest time of its events. */
  at: string
  /** By collection and id. */
  current: PersistentMap<Current>
}

/** Maximum number of cached streams, and of the resources in them. */
const KEPT = { max: 5_000, maxSize: 50_000 }
/** In a rebuild, fewer streams are cached, so that few objects survive a garbage collection. */
const KEPT_IN_REBUILD = { max: 200, maxSize: 50_000 }

/**
 * Projects the periods of the resources of a category. An event that changes the document of a resource ends one period
 * and begins another; a document that stays the same gets no new one. A change has the time in the metadata of its
 * event, or a later time of an earlier event of the stream, so that times never go back. The documents of a period
 * depend on the events of its stream alone. The id of a period has the revision of the event that begins it. The event
 * that ends it stores it again with a higher revision, so that projecting twice changes nothing. Periods end at the
 * first event that this release does not know: what they would show afterwards may be wrong, and the stream is
 * projected again once its events are known.
 */
export class PeriodProjection<State, Event extends DomainEvent> implements Projection {
  readonly category: string
  readonly #options: PeriodProjectionOptions<State, Event>
  readonly #fold: (state: StreamState<State>, events: readonly RecordedEvent[]) => StreamState<State>
  readonly #timelines: Timelines<State>
  readonly #rebuilding: Timelines<State>

  constructor(options: PeriodProjectionOptions<State, Event>) {
    this.category = options.category
    this.#options = options
    // The read models of the aggregate count and report unknown events.
    this.#fold = folding(options.decider, () => {})
    const sizeOf = ({ state, current }: Timeline<State>) =>
      Math.max(1, current.size, options.decider.size?.(state) ?? 1)
    this.#timelines = new Timelines(KEPT, sizeOf)
    this.#rebuilding = new Timelines(KEPT_IN_REBUILD, sizeOf)
  }

  async writes(events: readonly RecordedEvent[], again: boolean): Promise<Projected> {
    const [first] = events
    if (!first) return { writes: [], unknown: [] }
    const kept = again ? this.#rebuilding : this.#timelines
    const known = kept.get(first.stream)
    let timeline = known?.revision === first.revision - 1 ? known : await this.#before(first)
    const writes = new Map<string, Write>()
    for (const event of events) timeline = this.#after(timeline, event, writes)
    kept.keep(first.stream, timeline)
    return { writes: [...writes.values()], unknown: timeline.unknown ?? [] }
  }

  written(): void {}

  // A property, so that it can be passed on alone.
  readonly knows = (schema: string): boolean => knowsSchema(this.#options.decider.events, schema)

  async #before({ stream, revision }: RecordedEvent): Promise<Timeline<State>> {
    const { eventStore, decider } = this.#options
    const earlier = revision === 0 ? [] : await eventStore.readStream(stream)
    let timeline: Timeline<State> = {
      state: decider.initial,
      revision: NO_STREAM,
      at: '',
      current: PersistentMap.of(),
    }
    for (const event of earlier) if (event.revision < revision) timeline = this.#after(timeline, event)
    return timeline
  }

  /** @param writes by collection and id, to which those of the event are added */
  #after(before: Timeline<State>, event: RecordedEvent, writes?: Map<string, Write>): Timeline<State> {
    const { decider, project, changed } = this.#options
    const { at: time } = event.metadata
    const at = time > before.at ? time : before.at
    const folded = this.#fold(before, [event])
    let { current } = before
    if (folded.unknown) return { ...folded, at, current }
    let documents: Write[]
    try {
      documents = writesOf(project, decider.events, streamId(event.stream), folded, [event])
    } catch (error) {
      throw new StreamQuarantined(event, error)
    }
    const { revision } = event
    for (const { collection, id, doc } of documents) {
      const store = (shown: Current, validTo: string) => {
        const period: Period = {
          ...shown.doc,
          id: `${id}/${shown.revision}`,
          resource: id,
          validFrom: shown.validFrom,
          validTo,
        }
        writes?.set(`${collection.name}/${period.id}`, { collection, id: period.id, doc: period, revision })
      }
      const key = `${collection.name}/${id}`
      const shown = current.get(key)
      const was = shown?.doc ?? null
      const isSame = isDeepStrictEqual(was, doc)
      if (writes && changed) {
        const change = { collection, id, before: was, after: isSame ? was : doc, event, at }
        for (const write of changed(change)) writes.set(`${write.collection.name}/${write.id}`, write)
      }
      if (isSame) continue
      if (shown) store(shown, at)
      if (doc) {
        const next = { doc, revision, validFrom: at }
        store(next, NOT_ENDED)
        current = current.set(key, next)
      } else current = current.delete(key)
    }
    return { ...folded, at, current }
  }
}

/** Streams with many events. */
const LONG = 100

/**
 * The timelines of streams that were projected last. Long streams are kept apart: to read one again takes long, and
 * streams that change once must not displace it.
 */
class Timelines<State> {
  readonly #short: LRUCache<string, Timeline<State>>
  readonly #long: LRUCache<string, Timeline<State>>

  constructor(kept: { max: number; maxSize: number }, sizeOf: (timeline: Timeline<State>) => number) {
    // Without `max`, see atMost. A timeline that is larger than the cache is the only one in it.
    const least = kept.maxSize / kept.max
    const sizeCalculation = (timeline: Timeline<State>) =>
      Math.min(Math.max(sizeOf(timeline), least), kept.maxSize)
    this.#short = new LRUCache({ maxSize: kept.maxSize, sizeCalculation })
    this.#long = new LRUCache({ maxSize: kept.maxSize, sizeCalculation })
  }

  get(stream: string): Timeline<State> | undefined {
    return this.#long.get(stream) ?? this.#short.get(stream)
  }

  keep(stream: string, timeline: Timeline<State>): void {
    if (timeline.revision < LONG) this.#short.set(stream, timeline)
    else {
      this.#short.delete(stream)
      this.#long.set(stream, timeline)
    }
  }
}
