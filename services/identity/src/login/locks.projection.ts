import { projectionOfEach, streamId, upcast } from '@gantry/event-sourcing'
import { defineCollection, type Write } from '@gantry/read-models'
import { type LoginEvent, loginEvents } from './logins.ts'

/** The last lock of a user. */
export interface LockDocument {
  /** Of the user. */
  id: string
  lockedUntil: string
  /** Of the state after the lock: the lock is lifted when the user's stream has lifted it after this revision. */
  userRevision: number
}

export const locks = defineCollection<LockDocument>({ name: 'identity.locks', version: 1, fields: {} })

const MONTH_LENGTH = 'yyyy-mm'.length
/** More than a stream of a month gets: revisions begin anew with each month, those of the document must not. */
const REVISIONS_OF_MONTH = 2 ** 32

/** What an event of a stream of logins writes. @param revision of the event */
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

/** Repairs what a crash left out of the locks. */
export const locksProjection = projectionOfEach('logins', event => {
  const known = upcast(loginEvents, event)
  return known ? lockWrites(event.stream, event.revision, known) : []
})
