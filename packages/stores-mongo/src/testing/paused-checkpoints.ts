import type { Checkpoints } from '@gantry/stores'
import { PROGRESS, type Progress } from '../connection/progress.ts'
import { type MongoOptions, openClient } from '../connection/settings.ts'
import { mongoCheckpoints } from '../read-models/checkpoints.ts'

/** Checkpoints of a process that is paused before each write, until `meanwhile` has resolved. */
export function pausedCheckpoints(
  options: MongoOptions,
  meanwhile: () => Promise<void>,
): Checkpoints & { close(): Promise<void> } {
  const { client, database } = openClient(options)
  const progress = client.db(database).collection<Progress>(PROGRESS)
  const updateOne: typeof progress.updateOne = async (...change) => {
    await meanwhile()
    return progress.updateOne(...change)
  }
  return {
    ...mongoCheckpoints(Object.assign(Object.create(progress), { updateOne })),
    close: () => client.close(),
  }
}
