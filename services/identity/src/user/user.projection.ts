import type { UserRecord } from '@gantry/contracts'
import type { Project } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/read-models'
import { lockOf, type UserEvent, type UserState } from './user.ts'

export interface UserDocument extends UserRecord {
  recordRevision: number
}

export const users = defineCollection<UserDocument>({
  name: 'identity.users',
  version: 1,
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

export const projectUser: Project<UserState, UserEvent> = (id, { state, revision }) => {
  if (state.status === 'Absent') return []
  const doc = state.status === 'Live' ? { ...state.record, recordRevision: state.recordRevision } : null
  return [{ collection: users, id, doc, revision }]
}

/** The user as its readers see it: a lock that is over is none. */
export const userRecord = ({ recordRevision, ...record }: UserDocument, now: string): UserRecord => ({
  ...record,
  lockedUntil: lockOf(record, now),
})
