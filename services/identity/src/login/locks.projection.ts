import { projectionOfEach, streamId, upcast } from '@gantry/event-sourcing'
import type { Write } from '@gantry/read-models'
import { type LockDocument, locks } from '../user/user.projection.ts'
import { type LoginEvent, loginEvents } from './logins.ts'

const MONTH_LENGTH = 'yyyy-mm'.length
/** Exceeds the length of any stream. Revisions restart with each month's stream, but those of a document must increase. */
const REVISIONS_OF_MONTH = 2 ** 32

/** The documents that an event in a stream of logins writes. @param revision of the event */
export function lockWrites(stream: string, revision: number, event: LoginEvent): Write[] {
  if (event.type !== 'UserLocked') return []
  const { id, month } = userAndMonth(stream)
  const { until: lockedUntil, state } = event.data
  const doc: LockDocument = { id, lockedUntil, userRevision: state.userRevision }
  return [{ collection: locks, id, doc, revision: month * REVISIONS_OF_MONTH + revision }]
}

function userAndMonth(stream: string) {
  const id = streamId(stream)
  const [year, month] = id.slice(-MONTH_LENGTH).split('-')
  return { id: id.slice(0, -MONTH_LENGTH - 1), month: Number(year) * 12 + Number(month) }
}

/** Writes the locks that a process recorded but did not write to the read model before a crash. */
export const locksProjection = projectionOfEach('logins', event => {
  const known = upcast(loginEvents, event)
  return known ? lockWrites(event.stream, event.revision, known) : []
})
