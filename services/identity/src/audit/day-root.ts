import type { DayRoot } from '@gantry/audit-proofs'
import type { RecordedEvent } from '@gantry/event-sourcing'
import { defineCollection, type Write } from '@gantry/read-models'

/** Category of the stream of day roots. */
export const DAY_ROOTS = 'auditroot'

/** The signed root of a day, as it is in the log. */
interface SignedRoot {
  root: DayRoot
  signature: string
}

export interface DayRootDocument extends SignedRoot {
  /** The day, e.g. 2026-11-22. */
  id: string
  /** Number of the last record up to the end of the day. */
  through: number
}

export const dayRoots = defineCollection<DayRootDocument>({
  name: 'identity.auditroots',
  version: 1,
  fields: { id: 'string', through: 'number' },
})

/** The document of an event of the stream. */
export function dayRootIn({ data }: RecordedEvent): Write {
  const { root, signature } = data as unknown as SignedRoot
  const doc: DayRootDocument = { id: root.day, through: root.after.number, root, signature }
  return { collection: dayRoots, id: doc.id, doc, revision: 0 }
}
