import type { Aggregate } from '@gantry/event-sourcing'
import type { Collection } from '@gantry/read-models'
import type { DeliveryCommand } from '../delivery/delivery.decide.ts'
import type { DeliveryDocument } from '../delivery/delivery.projection.ts'
import {
  blockerAfter,
  type DeliveryEvent,
  type DeliveryState,
  type OrderPosition,
  type Pending,
} from '../delivery/delivery.ts'
import { laneEnd, laneKey, orderingKey } from '../delivery/lane.ts'

/**
 * Serial delivery for ordered webhooks. The ordering key is the webhook and the resource: a delivery starts after the
 * previous one of its key has finished. `DeliveryCreated` records the predecessor, and whether it has finished is read
 * from the log. So the order does not depend on how far the read models are. The read models serve to find the last
 * delivery of a key and the successor of a delivery. They contain every delivery whose event was handled.
 */
export interface Ordering {
  /** The position of a new delivery: after the last unfinished delivery of the resource to the webhook. */
  last(webhook: string, resource: string): Promise<OrderPosition>
  /** Whether all predecessors of the delivery have finished. */
  hasCome(waiting: Pending): Promise<boolean>
  /** Id of the delivery that may start because `ended` has finished; undefined when there is none. */
  next(ended: DeliveryState): Promise<string | undefined>
  /**
   * Ids of blocked deliveries of a webhook whose predecessor has finished according to the read models. They remain when
   * the process dies before it starts the successor.
   */
  forgotten(webhook: string, signal: AbortSignal): AsyncIterable<string>
}

/** Page size of queries for blocked deliveries. */
const LOOK = 250

export function ordering(
  delivery: Aggregate<DeliveryState, DeliveryCommand, DeliveryEvent>,
  deliveries: Collection<DeliveryDocument>,
): Ordering {
  return {
    async last(webhook, resource) {
      const [found] = await deliveries.list({
        where: { line: orderingKey(webhook, resource) },
        sort: [{ field: 'turn', direction: 'desc' }],
        limit: 1,
      })
      if (!found) return { resource, number: 1, after: null }
      return { resource, number: (found.doc.turn ?? 0) + 1, after: found.doc.id }
    },
    async hasCome({ line }) {
      let before = line?.after ?? null
      while (before !== null) {
        const next = blockerAfter((await delivery.load(before)).state)
        if (next === before) return false
        before = next
      }
      return true
    },
    async next(state) {
      if (state.status === 'Absent' || !state.line?.ended) return undefined
      const { resource, number } = state.line
      const [found] = await deliveries.list({
        where: { line: orderingKey(state.webhook, resource), turn: { gte: number } },
        sort: [{ field: 'turn', direction: 'asc' }],
        limit: 1,
      })
      return found?.doc.id
    },
    async *forgotten(webhook, signal) {
      const lane = { webhook, kind: 'turn' } as const
      for (let after = `${laneKey(lane)}/`; !signal.aborted; ) {
        const waiting = await deliveries.list({
          where: { queue: { gt: after, lt: laneEnd(lane) } },
          sort: [{ field: 'queue', direction: 'asc' }],
          limit: LOOK,
        })
        const before = await deliveries.getMany(waiting.flatMap(({ doc }) => doc.waitsFor ?? []))
        const holding = new Set(before.filter(({ doc }) => doc.line !== null).map(({ doc }) => doc.id))
        for (const { doc } of waiting) if (doc.waitsFor && !holding.has(doc.waitsFor)) yield doc.id
        if (waiting.length < LOOK) return
        after = waiting.at(-1)?.doc.queue ?? after
      }
    },
  }
}
