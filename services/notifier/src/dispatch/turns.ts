import type { Aggregate } from '@gantry/event-sourcing'
import type { Collection } from '@gantry/read-models'
import type { DeliveryCommand } from '../delivery/delivery.decide.ts'
import type { DeliveryDocument } from '../delivery/delivery.projection.ts'
import {
  type DeliveryEvent,
  type DeliveryState,
  obstacle,
  type Pending,
  type Place,
} from '../delivery/delivery.ts'
import { laneEnd, laneKey, lineKey } from '../delivery/lane.ts'

/**
 * The lines of ordered webhooks, one for each resource. Who is behind whom is recorded when a delivery is made, and
 * whether the one before has come to its end is asked of the log: so the order holds whatever the read models have
 * missed. They only serve to find the end of a line and who is next, and have every delivery whose event was handled.
 */
export interface Turns {
  /** The place behind everything that the webhook has not yet been told of the resource. */
  last(webhook: string, resource: string): Promise<Place>
  /** Whether nothing before it is still to be delivered. */
  hasCome(waiting: Pending): Promise<boolean>
  /** Who may be next, now that this one has come to its end. */
  next(ended: DeliveryState): Promise<string | undefined>
  /** Those of a webhook that wait for what seems to have come to its end: their process died before it called them. */
  forgotten(webhook: string, signal: AbortSignal): AsyncIterable<string>
}

/** Deliveries looked at together. */
const LOOK = 250

export function turns(
  delivery: Aggregate<DeliveryState, DeliveryCommand, DeliveryEvent>,
  deliveries: Collection<DeliveryDocument>,
): Turns {
  return {
    async last(webhook, resource) {
      const [found] = await deliveries.list({
        where: { line: lineKey(webhook, resource) },
        sort: [{ field: 'turn', direction: 'desc' }],
        limit: 1,
      })
      if (!found) return { resource, number: 1, after: null }
      return { resource, number: (found.doc.turn ?? 0) + 1, after: found.doc.id }
    },
    async hasCome({ line }) {
      let before = line?.after ?? null
      while (before !== null) {
        const next = obstacle((await delivery.load(before)).state)
        if (next === before) return false
        before = next
      }
      return true
    },
    async next(state) {
      if (state.status === 'Absent' || !state.line?.ended) return undefined
      const { resource, number } = state.line
      const [found] = await deliveries.list({
        where: { line: lineKey(state.webhook, resource), turn: { gte: number } },
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
