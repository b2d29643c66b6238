import type { CollectionDefinition, CollectionGroup, ReadModels } from '@gantry/stores'
import { type Position, START } from '../log/event.ts'
import type { EventStore } from '../log/event-store.ts'
import type { HeldStream } from '../supervision/quarantine.ts'
import type { Log } from '../supervision/worker.ts'
import type { MadeGeneration, OrderedProjection, Projection } from './projection.ts'

/** The read models of a projector in all generations, and the log and the projections that they are made from. */
export interface ProjectedModels {
  /** Name of the projector. */
  name: string
  /** Id of the projector. It names its lease, the checkpoint of generation 0 and the group of its collections. */
  id: string
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
  group: CollectionGroup
  log: Log
}

/** One generation of the read models: its collections and its checkpoint. */
export interface ModelGeneration extends ProjectedModels {
  generation: number
  checkpoint: string
}

export const checkpointOf = (id: string, generation: number): string =>
  generation === 0 ? id : `${id}~${generation}`

export const generationOf = (models: ProjectedModels, generation: number): ModelGeneration => ({
  ...models,
  generation,
  checkpoint: checkpointOf(models.id, generation),
  collections: models.collections.map(definition => models.group.of(definition, generation)),
  held: models.group.of(models.held, generation),
})

export const madeOf = ({ readModels, group, generation }: ModelGeneration): MadeGeneration => ({
  collection: definition => readModels.collection(group.of(definition, generation)),
})

/** The position up to which all events are in the documents of a generation, whichever process has projected them. */
export const projectedPosition = async (
  { id, readModels }: Pick<ProjectedModels, 'id' | 'readModels'>,
  generation: number,
): Promise<Position> => (await readModels.checkpoints.get(checkpointOf(id, generation))) ?? START
