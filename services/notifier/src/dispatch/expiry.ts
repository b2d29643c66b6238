import { setTimeout as pause } from 'node:timers/promises'
import { type Aggregate, type Log, pastQuarantine } from '@gantry/event-sourcing'
import type { Collection } from '@gantry/read-models'
import type { DeliveryCommand } from '../delivery/delivery.decide.ts'
import type { DeliveryDocument } from '../delivery/delivery.projection.ts'
import type { DeliveryEvent, DeliveryState } from '../delivery/delivery.ts'

export interface ExpiryOptions {
  delivery: Aggregate<DeliveryState, DeliveryCommand, DeliveryEvent>
  deliveries: Collection<DeliveryDocument>
  /** What finished before this time is to be forgotten, ISO 8601. */
  before: string
  signal: AbortSignal
  log: Log
}

/** Deliveries removed at a time. */
const BATCH = 200
/** What should have been removed so long ago goes before deliveries that are made meanwhile. */
const LATE_MS = 60_000

/**
 * Removes deliveries that finished before a time: first the stream with payload and answers, then the record, by which
 * the delivery is found again when the process dies in between. Streams that the audit log is made from stay.
 */
export async function removeFinished({
  delivery,
  deliveries,
  before,
  signal,
  log,
}: ExpiryOptions): Promise<void> {
  const removeOne = async (id: string, revision: number): Promise<boolean> => {
    const { state, revision: last } = await delivery.load(id)
    if (state.status !== 'Absent') {
      // Somebody has it sent again, and the record does not know yet.
      if (state.finishedAt === null || state.finishedAt >= before) return false
      if (!state.audited && !(await delivery.remove(id, last))) return false
    }
    return deliveries.remove(id, revision)
  }

  const late = new Date(Date.parse(before) - LATE_MS).toISOString()
  while (!signal.aborted) {
    const startedAt = performance.now()
    const old = await deliveries.list({
      where: { finishedAt: { lt: before } },
      sort: [{ field: 'finishedAt', direction: 'asc' }],
      limit: BATCH,
    })
    const removed = await Promise.all(
      old.map(({ doc, revision }) => removeOne(doc.id, revision).catch(pastQuarantine(log))),
    )
    if (old.length < BATCH || !removed.includes(true)) return
    // Deliveries that are made meanwhile have as much of the machine, unless more of them come than are removed.
    if (old.some(({ doc }) => doc.finishedAt !== null && doc.finishedAt < late)) continue
    await pause(performance.now() - startedAt, undefined, { signal }).catch(() => {})
  }
}
