import { join } from 'node:path'

/** Whether `npm run soak` runs a journey, with more stories and on MongoDB. */
export const isSoak = process.env.SOAK === '1'

/**
 * Settings of the stores of a journey. FerretDB, which stands in for MongoDB, takes nearly half of the processor time
 * of a topology, so journeys keep read models in files.
 */
export const storesOfJourneys = (folder: string): NodeJS.ProcessEnv =>
  process.env.READ_MODEL_URL || isSoak
    ? {}
    : {
        READ_MODEL_URL: `sqlite:${join(folder, 'read-models.db')}`,
        BLOB_URL: `file:${join(folder, 'images')}`,
      }
