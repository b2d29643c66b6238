import { invalidField, Refusal } from '@gantry/contracts'
import {
  type DomainEvent,
  type Period,
  PeriodProjection,
  type PeriodProjectionOptions,
  Projector,
  START,
  streamName,
} from '@gantry/event-sourcing'
import type { Collection, CollectionDefinition, Document, Filter, Query, Stored } from '@gantry/stores'
import type { Instrumented } from '../service/append-watch.ts'

/** Reads documents of one moment. */
export type Moment<D extends Document> = Pick<Collection<D>, 'get' | 'find' | 'list'>

/** Documents as they are, and as they were at earlier times. */
export interface Moments<D extends Document> {
  /**
   * The documents at a time, ISO 8601 UTC; without one, as they are now. A time at which a document changed shows it
   * after the change. For an earlier time it waits like `upToDate`.
   * @param id of the aggregate, if only its documents are read
   * @throws Refusal invalid-request for a time in the future
   * @throws Refusal unavailable when the temporal read model lacks changes for longer
   */
  at(time: string | undefined, id?: string): Promise<Moment<D>>
}

export interface TemporalOptions<State, Event extends DomainEvent>
  extends Omit<PeriodProjectionOptions<State, Event>, 'eventStore'> {
  /** Name of the projector, e.g. catalog.periods. */
  name: string
  // biome-ignore lint/suspicious/noExplicitAny: collections of different documents
  collections: readonly CollectionDefinition<any>[]
}

/** The resources of an aggregate as they were at earlier times. */
export interface Temporal {
  projector: Projector
  /**
   * Waits, for a limited time, for the changes that are in the log now: those of one aggregate, or all. All of them can
   * take 100 ms longer, because a projector notices events of other categories with a delay.
   * @throws Refusal unavailable when the temporal read model lacks changes for longer
   */
  upToDate(id?: string): Promise<void>
  /** @param now the documents as they are */
  moments<D extends Document>(now: Moment<D>, periods: CollectionDefinition<D & Period>): Moments<D>
}

/** Maximum time that a reader of an earlier time waits for the projector, in milliseconds. */
const TIMEOUT_MS = 3_000
/** Maximum difference between the clocks of replicas: a time that another replica has written is not in the future. */
const SKEW_MS = 1_000

/** Accepts a time that a replica whose clock is a second ahead has written. @throws Refusal invalid-request */
export function requirePast(at: string, now: Date): void {
  if (Date.parse(at) > now.getTime() + SKEW_MS) throw invalidField('at', 'must not be in the future')
}

/**
 * A temporal read model, with a projector of its own. While it is behind, e.g. at the first start after an upgrade, only
 * readers of earlier times are refused: the service does not wait for it.
 */
export function temporal<State, Event extends DomainEvent>(
  { process, ...dependencies }: Instrumented,
  { name, collections, ...projection }: TemporalOptions<State, Event>,
): Temporal {
  const { eventStore, readModels, now: clock } = dependencies
  const projector = new Projector({ ...dependencies, ...process, name, collections, background: true })
  projector.register(new PeriodProjection({ ...projection, eventStore }))
  const lastChange = async (id: string) =>
    (await eventStore.readLast(streamName(projection.category, id)))?.position ?? START
  const upToDate = async (id?: string) => {
    const position = await (id === undefined ? eventStore.head() : lastChange(id))
    if (position !== START && !(await projector.reached(position, TIMEOUT_MS)))
      throw new Refusal('unavailable', { detail: `${name} does not have the latest changes yet` })
  }
  return {
    projector,
    upToDate,
    moments: (now, periods) => ({
      async at(time, id) {
        if (time === undefined) return now
        requirePast(time, clock())
        await upToDate(id)
        return momentOf(readModels.collection(periods), time)
      },
    }),
  }
}

function momentOf<D extends Document>(periods: Collection<D & Period>, time: string): Moment<D> {
  const valid = <Q extends Filter>(query: Q): Q => ({
    ...query,
    where: { validTo: { gt: time }, validFrom: { lte: time }, ...query.where },
  })
  const list = async (query: Query) => (await periods.list(valid(query))).map(shown)
  return {
    list,
    get: async id => (await list({ where: { resource: id }, limit: 1 }))[0],
    async find(query) {
      const { items, total } = await periods.find(valid(query))
      return { items: items.map(shown), total }
    },
  }
}

/** The document that a period shows, without the fields of the period. */
function shown<D extends Document>({ doc, revision }: Stored<D & Period>): Stored<D> {
  const { resource, validFrom, validTo, ...fields } = doc
  return { doc: { ...fields, id: resource } as unknown as D, revision }
}
