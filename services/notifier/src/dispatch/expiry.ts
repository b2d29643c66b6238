import { setTimeout as pause } from 'node:timers/promises'
import { type Log, pastQuarantine } from '@gantry/event-sourcing'
import type { Deliveries } from '../delivery/deliveries.ts'

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
 * Removes deliveries that finished before a time. The stream with payload and response bodies is removed first, then the
 * document: if the process dies in between, the document leads to the delivery again. Streams with events for the audit
 * log are kept.
 */
export async function removeFinished({ deliveries, before, signal, log }: ExpiryOptions): Promise<void> {
  const removeOne = async (id: string, revision: number): Promise<boolean> => {
    const { state, revision: last } = await deliveries.load(id)
    if (state.status !== 'Absent') {
      // The delivery is retried, and the document is older.
      if (state.finishedAt === null || state.finishedAt >= before) return false
      if (!state.audited && !(await deliveries.aggregate.remove(id, last))) return false
    }
    return deliveries.documents.remove(id, revision)
  }

  const late = new Date(Date.parse(before) - LATE_MS).toISOString()
  while (!signal.aborted) {
    const startedAt = performance.now()
    const old = await deliveries.documents.list({
      where: { finishedAt: { lt: before } },
      sort: [{ field: 'finishedAt', direction: 'asc' }],
      limit: BATCH,
    })
    const removed = await Promise.all(
      old.map(({ doc, revision }) => removeOne(doc.id, revision).catch(pastQuarantine(log))),
    )
    if (old.length < BATCH || !removed.includes(true)) return
    // Pauses as long as the batch took, so that removal takes at most half of the time. When it falls behind, it does not
    // pause.
    if (old.some(({ doc }) => doc.finishedAt !== null && doc.finishedAt < late)) continue
    await pause(performance.now() - startedAt, undefined, { signal }).catch(() => {})
  }
}
