import type { Collection } from '@gantry/read-models'
import type { DeliveryDocument } from '../delivery/delivery.projection.ts'

/** Records removed at a time. */
const BATCH = 250

/** Removes the records of deliveries that finished before a time; the log still has what they were made from. */
export async function removeFinished(
  deliveries: Collection<DeliveryDocument>,
  before: string,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const old = await deliveries.list({ where: { finishedAt: { lt: before } }, limit: BATCH })
    await Promise.all(old.map(({ doc, revision }) => deliveries.remove(doc.id, revision)))
    if (old.length < BATCH) return
  }
}
