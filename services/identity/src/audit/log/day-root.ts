import type { DayRoot } from '@gantry/audit-proofs'
import { type RecordedEvent, streamName } from '@gantry/event-sourcing'
import { defineCollection, type Write } from '@gantry/read-models'

/** Category of the stream of day roots. */
export const DAY_ROOTS = 'auditroot'
/** The stream has one event for each day, in order. The events are no changes, so they are not records themselves. */
export const DAY_ROOT_STREAM = streamName(DAY_ROOTS, 'days')

/** The signed root of a day, as it is in the log. */
export interface SignedRoot {
  root: DayRoot
  signature: string
}

export interface DayRootDocument extends SignedRoot {
  /** The day, e.g. 2026-11-22. */
  id: string
  day: string
  /** Number of the last record up to the end of the day. */
  through: number
}

export const dayRoots = defineCollection<DayRootDocument>({
  name: 'identity.auditroots',
  version: 1,
  fields: { day: 'string', through: 'number' },
})

export const rootIn = ({ data }: RecordedEvent) => data as unknown as SignedRoot

/** The document of an event of the stream. */
export function dayRootIn(event: RecordedEvent): Write {
  const { root, signature } = rootIn(event)
  const { day, after } = root
  const doc: DayRootDocument = { id: day, day, through: after.number, root, signature }
  return { collection: dayRoots, id: doc.id, doc, revision: 0 }
}
