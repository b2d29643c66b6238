import type { CollectionDefinition, ReadModels } from '@gantry/read-models'
import { type Position, START } from './event.ts'
import type { EventStore } from './event-store.ts'
import type { OrderedProjection, Projection } from './projection.ts'
import type { HeldStream } from './quarantine.ts'
import type { Log } from './worker.ts'

/** The read models of a projector, and the log and the projections that they are made from. */
export interface ReadSide {
  /** Name of the projector. */
  name: string
  /** Names its checkpoint and its lease. */
  key: string
  eventStore: EventStore
  readModels: ReadModels
  /** By category. */
  projections: ReadonlyMap<string, Projection>
  /** Gets every event, instead of `projections`. */
  ordered?: OrderedProjection
  /** The collections that the projections write to, and `held`. */
  // biome-ignore lint/suspicious/noExplicitAny: collections of different documents
  collections: readonly CollectionDefinition<any>[]
  held: CollectionDefinition<HeldStream>
  log: Log
}

/** The position up to which all events are in the documents, whichever process has projected them. */
export const projectedPosition = async ({
  key,
  readModels,
}: Pick<ReadSide, 'key' | 'readModels'>): Promise<Position> =>
  (await readModels.checkpoints.get(key)) ?? START
