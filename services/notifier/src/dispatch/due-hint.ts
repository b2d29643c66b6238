import type { Json } from '@gantry/messaging'
import type { Queue } from '../delivery/delivery.projection.ts'
import type { Entry } from './due-index.ts'

/** A pending delivery in a broadcast. Replicas of earlier releases send and expect these fields. */
interface DueHint {
  id: string
  lane: Queue
  dueAt: string
}

export const dueHint = ({ id, queue, dueAt }: Entry): Json => {
  const hint: DueHint = { id, lane: queue, dueAt }
  return hint as unknown as Json
}

export const entryOfHint = (hint: Json): Entry => {
  const { id, lane, dueAt } = hint as unknown as DueHint
  return { id, queue: lane, dueAt }
}
