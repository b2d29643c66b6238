import type { UserRecord } from '@gantry/contracts'
import type { Project } from '@gantry/event-sourcing'
import { defineCollection, type Write } from '@gantry/stores'
import { type Lock, unliftedLock } from './login-state.ts'
import { lockOf, type UserEvent, type UserState } from './user.ts'

export interface UserDocument extends Omit<UserRecord, 'lockedUntil'> {
  recordRevision: number
  /** Revision of the event that last lifted a lock. A lock of `identity.locks` may be newer. */
  unlockedRevision: number
}

export const users = defineCollection<UserDocument>({
  name: 'identity.users',
  version: 4,
  fields: {
    username: 'string',
    displayName: 'string',
    email: 'string',
    role: 'string',
    status: 'string',
    createdAt: 'string',
  },
  text: ['username', 'displayName', 'email'],
})

/** A user whose erasure is in the log. The key may still have to be deleted. See erasure/erasures.ts. */
export interface ErasedUserDocument {
  /** Id of the user. */
  id: string
  erasedAt: string
}

export const erasedUsers = defineCollection<ErasedUserDocument>({
  name: 'identity.erasures',
  version: 1,
  fields: {},
})

/** The last lock of a user. A later event in the user's stream may have lifted it. */
export interface LockDocument extends Lock {
  /** Id of the user. */
  id: string
}

export const locks = defineCollection<LockDocument>({ name: 'identity.locks', version: 1, fields: {} })

export const projectUser: Project<UserState, UserEvent> = (id, { state, revision }) => {
  if (state.status === 'Absent') return []
  const doc =
    state.status === 'Live'
      ? { ...state.record, recordRevision: state.recordRevision, unlockedRevision: state.unlockedRevision }
      : null
  const writes: Write[] = [{ collection: users, id, doc, revision }]
  if (state.status === 'Erased' && state.erasedAt !== null)
    writes.push({
      collection: erasedUsers,
      id,
      doc: { id, erasedAt: state.erasedAt } as ErasedUserDocument,
      revision,
    })
  return writes
}

/** The user as the API shows it, without a lock that has expired. */
export function userRecord(
  { recordRevision, unlockedRevision, ...record }: UserDocument,
  lock: LockDocument | undefined,
  now: string,
): UserRecord {
  const unlifted = unliftedLock({ unlockedRevision }, lock)
  return { ...record, lockedUntil: unlifted && lockOf(unlifted, now) }
}
