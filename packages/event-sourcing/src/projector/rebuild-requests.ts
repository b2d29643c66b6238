import { type Generations, type ReadModels, storedGenerations } from '@gantry/stores'
import { latestIdOf } from './read-model-record.ts'
import { formerOf } from './rebuild.ts'

const requestedOf = (projector: string) => `${projector}.rebuild.requested`
const cancelledOf = (projector: string) => `${projector}.rebuild.cancelled`
/** Stands for the request before the first one. */
const NONE = 'none'

/** The last request for a rebuild, whether it has ended or not. */
export const requestedRebuild = async (projector: string, { checkpoints }: ReadModels): Promise<string> =>
  (await checkpoints.get(requestedOf(projector))) ?? NONE

export const isCancelled = async (
  projector: string,
  { checkpoints }: ReadModels,
  id: string,
): Promise<boolean> => (await checkpoints.get(cancelledOf(projector))) === id

/** The request that has not ended; undefined when there is none. */
export async function pendingRebuild(projector: string, readModels: ReadModels): Promise<string | undefined> {
  const id = await requestedRebuild(projector, readModels)
  if (id === NONE || (await isCancelled(projector, readModels, id))) return undefined
  return id === (await generationsOf(projector, readModels))?.ended ? undefined : id
}

/**
 * Requests a rebuild of the read models from the log, or joins the pending request. The projector carries it out in the
 * process that runs it, while readers continue.
 * @returns a function that tells whether the request has ended: whether it was cancelled, has failed, or all processes
 *   read what was built
 */
export async function requestRebuild(
  projector: string,
  readModels: ReadModels,
  id: string,
): Promise<() => Promise<boolean>> {
  const earlier: (string | undefined)[] = [(await generationsOf(projector, readModels))?.ended, undefined]
  if ((await pendingRebuild(projector, readModels)) === undefined) {
    // Its end may be saved later, if it was cancelled.
    earlier.push(await requestedRebuild(projector, readModels))
    await readModels.checkpoints.save(requestedOf(projector), id)
  }
  return async () => {
    const generations = await generationsOf(projector, readModels)
    return (
      generations !== undefined && !earlier.includes(generations.ended) && formerOf(generations).length === 0
    )
  }
}

/** Cancels a request. The projector drops what it has built for it. */
export const cancelRebuild = (projector: string, { checkpoints }: ReadModels, id: string): Promise<void> =>
  checkpoints.save(cancelledOf(projector), id)

/** The generations of the read models of the projector that started last. */
async function generationsOf(projector: string, readModels: ReadModels): Promise<Generations | undefined> {
  const id = await latestIdOf(projector, readModels)
  return id === undefined ? undefined : storedGenerations(id, readModels)
}
