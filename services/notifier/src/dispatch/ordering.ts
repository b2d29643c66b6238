import { pagesOf } from '@gantry/stores'
import type { Deliveries } from '../delivery/deliveries.ts'
import { orderingKey, queueEnd, queuePrefix } from '../delivery/delivery.projection.ts'
import { blockerAfter, type DeliveryState, type OrderPosition, type Pending } from '../delivery/delivery.ts'

/** Page size of queries for blocked deliveries. */
const PAGE = 250

/**
 * Serial delivery for ordered webhooks. The ordering key is the webhook and the resource: a delivery starts after the
 * previous one of its key has finished. `DeliveryCreated` records the predecessor, and whether it has finished is read
 * from the log. So the order does not depend on how far the read models are. The read models serve to find the last
 * delivery of a key and the successor of a delivery. They contain every delivery whose event was handled.
 */
export class Ordering {
  readonly #deliveries: Deliveries

  constructor(deliveries: Deliveries) {
    this.#deliveries = deliveries
  }

  /** The position of a new delivery: after the last unfinished delivery of the resource to the webhook. */
  async last(webhook: string, resource: string): Promise<OrderPosition> {
    const [found] = await this.#deliveries.documents.list({
      where: { line: orderingKey(webhook, resource) },
      sort: [{ field: 'turn', direction: 'desc' }],
      limit: 1,
    })
    if (!found) return { resource, number: 1, after: null }
    return { resource, number: (found.doc.turn ?? 0) + 1, after: found.doc.id }
  }

  /** Whether all predecessors of the delivery have finished. */
  async isUnblocked({ line }: Pending): Promise<boolean> {
    let before = line?.after ?? null
    while (before !== null) {
      const next = blockerAfter((await this.#deliveries.load(before)).state)
      if (next === before) return false
      before = next
    }
    return true
  }

  /** Id of the delivery that may start because this one has finished; undefined when there is none. */
  async next(state: DeliveryState): Promise<string | undefined> {
    if (state.status === 'Absent' || !state.line?.ended) return undefined
    const { resource, number } = state.line
    const [found] = await this.#deliveries.documents.list({
      where: { line: orderingKey(state.webhook, resource), turn: { gte: number } },
      sort: [{ field: 'turn', direction: 'asc' }],
      limit: 1,
    })
    return found?.doc.id
  }

  /**
   * Ids of blocked deliveries of a webhook whose predecessor has finished according to the read models. They remain when
   * the process dies before it starts the successor.
   */
  async *unblocked(webhook: string, signal: AbortSignal): AsyncIterable<string> {
    const { documents } = this.#deliveries
    const queue = { webhook, kind: 'turn' } as const
    const where = { queue: { gt: `${queuePrefix(queue)}/`, lt: queueEnd(queue) } }
    for await (const blocked of pagesOf(documents, { where, by: 'queue', size: PAGE })) {
      if (signal.aborted) return
      const before = await documents.getMany(blocked.flatMap(({ waitsFor }) => waitsFor ?? []))
      const blocking = new Set(before.filter(({ doc }) => doc.line !== null).map(({ doc }) => doc.id))
      for (const { id, waitsFor } of blocked) if (waitsFor && !blocking.has(waitsFor)) yield id
    }
  }
}
