import type { ReadModels } from '@gantry/stores'
import type { ProjectionTarget } from '../projections/projection.ts'

/** The read models of an aggregate whose commands project all documents, because no projector runs. */
export const withoutProjector = (readModels: Pick<ReadModels, 'write'>): ProjectionTarget => ({
  readModels,
  register() {},
  contains: async () => false,
})
