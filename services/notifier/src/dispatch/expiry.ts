import { setTimeout as pause } from 'node:timers/promises'
import { type Log, pastQuarantine } from '@gantry/event-sourcing'
import type { Stored } from '@gantry/stores'
import type { Deliveries } from '../delivery/deliveries.ts'
import type { DeliveryDocument } from '../delivery/delivery.projection.ts'

export interface ExpiryOptions {
  deliveries: Deliveries
  /** Deliveries that finished before this time are removed, ISO 8601. */
  before: string
  signal: AbortSignal
  log: Log
}

/** Number of deliveries that are removed concurrently. */
const BATCH = 200
/** Deliveries that are overdue for removal by more than this time are removed without pauses. */
const LATE_MS = 60_000

/**
 * Removes deliveries that finished before a time: the payload of the event before its last delivery, then the stream with
 * response bodies, then the document. If the process dies in between, the document leads to the rest again. Streams with
 * events for the audit log are kept.
 */
export async function removeFinished({ deliveries, before, signal, log }: ExpiryOptions): Promise<void> {
  const { documents, payloads } = deliveries
  const isRemovable = async ({ doc: { id } }: Stored<DeliveryDocument>): Promise<boolean> => {
    const { state } = await deliveries.load(id)
    // A delivery that is retried has an older document.
    return state.status === 'Absent' || (state.finishedAt !== null && state.finishedAt < before)
  }
  const removeOne = async ({ doc: { id }, revision }: Stored<DeliveryDocument>): Promise<boolean> => {
    const { state, revision: last } = await deliveries.load(id)
    const isKept = state.status === 'Absent' || state.audited
    if (!isKept && !(await deliveries.aggregate.remove(id, last))) return false
    return documents.remove(id, revision)
  }
  /** @returns whether any of these deliveries of an event is removed */
  const removeOf = async (eventId: string, old: readonly Stored<DeliveryDocument>[]): Promise<boolean> => {
    const removable: Stored<DeliveryDocument>[] = []
    for (const stored of old) if (await isRemovable(stored).catch(pastQuarantine(log))) removable.push(stored)
    if ((await documents.count({ where: { eventId } })) <= removable.length) await payloads.remove(eventId)
    const removed = await Promise.all(removable.map(removeOne))
    return removed.includes(true)
  }

  const late = new Date(Date.parse(before) - LATE_MS).toISOString()
  while (!signal.aborted) {
    const startedAt = performance.now()
    const old = await documents.list({
      where: { finishedAt: { lt: before } },
      sort: [{ field: 'finishedAt', direction: 'asc' }],
      limit: BATCH,
    })
    const byEvent = Map.groupBy(old, ({ doc }) => doc.eventId)
    const removed = await Promise.all([...byEvent].map(([eventId, those]) => removeOf(eventId, those)))
    if (old.length < BATCH || !removed.includes(true)) return
    // Pauses as long as the batch took, so that removal takes at most half of the time. When it falls behind, it does not
    // pause.
    if (old.some(({ doc }) => doc.finishedAt !== null && doc.finishedAt < late)) continue
    await pause(performance.now() - startedAt, undefined, { signal }).catch(() => {})
  }
}
