import type { Checkpoints } from '@gantry/stores'
import { mongoCheckpoints } from '../checkpoints.ts'
import { PROGRESS, type Progress } from '../progress.ts'
import { type MongoOptions, openClient } from '../settings.ts'

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
