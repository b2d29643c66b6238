import { type RecordedEvent, StreamQuarantined, streamName } from '@gantry/event-sourcing'
import { defineCollection, type Write } from '@gantry/stores'
import type { DayRoot } from './statements.ts'

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

/** Type of the events of the stream. */
export const DAY_CLOSED = 'AuditDayClosed'

/** The root in an event of the stream. @throws StreamQuarantined when the event has none */
export function rootIn(event: RecordedEvent): SignedRoot {
  const { root, signature } = event.data as Partial<SignedRoot>
  const isRoot = event.type === DAY_CLOSED && typeof root?.day === 'string' && typeof signature === 'string'
  if (!isRoot || typeof root.after?.number !== 'number' || typeof root.log?.events !== 'number')
    throw new StreamQuarantined(event, event.malformed ?? 'it has no signed root of a day')
  return { root, signature }
}

/** The document of an event of the stream; undefined when the event has no root. */
export function dayRootIn(event: RecordedEvent): Write | undefined {
  let signed: SignedRoot
  try {
    signed = rootIn(event)
  } catch {
    return undefined
  }
  const { root, signature } = signed
  const { day, after } = root
  const doc: DayRootDocument = { id: day, day, through: after.number, root, signature }
  return { collection: dayRoots, id: doc.id, doc, revision: 0 }
}
