import { projectionOfEach, streamId, upcast } from '@gantry/event-sourcing'
import { defineCollection, type Write } from '@gantry/read-models'
import { type LoginEvent, loginEvents } from './logins.ts'

/** The lock of a user that ends last. */
export interface LockDocument {
  /** Of the user. */
  id: string
  lockedUntil: string
  /** Of the state after the lock: the lock is lifted when the user's stream has lifted it after this revision. */
  userRevision: number
}

export const locks = defineCollection<LockDocument>({ name: 'identity.locks', version: 1, fields: {} })

/** @param id of the user */
export function lockWrites(id: string, event: LoginEvent): Write[] {
  if (event.type !== 'UserLocked') return []
  const { until: lockedUntil, state } = event.data
  const doc: LockDocument = { id, lockedUntil, userRevision: state.userRevision }
  // Revisions begin anew with each month; locks of a user follow one another in time.
  return [{ collection: locks, id, doc, revision: Date.parse(lockedUntil) }]
}

const MONTH = /-\d{4}-\d{2}$/

export const locksProjection = projectionOfEach('logins', event => {
  const known = upcast(loginEvents, event)
  return known ? lockWrites(streamId(event.stream).replace(MONTH, ''), known) : []
})
