import { sleep } from '@gantry/pacing'
import { REMOVALS_KEPT_MS } from '@gantry/stores'
import { type ModelGeneration, projectedPosition } from '../projections/projected-models.ts'

const EVERY_MS = 60_000
const POLL_MS = 100

/**
 * Deletes tombstones in the read models once all earlier events are projected. A tombstone refuses writes of earlier
 * events, and commands do not write documents of states that they read longer ago.
 */
export async function forgetRemovals(models: ModelGeneration, signal: AbortSignal): Promise<void> {
  const { name, generation, eventStore, readModels, collections, log } = models
  while (!signal.aborted) {
    try {
      const head = await eventStore.head()
      while (!signal.aborted && (await projectedPosition(models, generation)) < head)
        await sleep(POLL_MS, { signal })
      for (const definition of collections) {
        const collection = readModels.collection(definition)
        while (!signal.aborted && (await collection.forgetRemoved(REMOVALS_KEPT_MS)) > 0);
      }
    } catch (error) {
      if (!signal.aborted) log.warn({ projector: name, err: error }, 'cannot forget removals, tries again')
    }
    await sleep(EVERY_MS, { signal })
  }
}
