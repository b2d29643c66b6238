import { normalUsername, type UserRecord } from '@gantry/contracts'
import type { EventSchemas } from '@gantry/event-sourcing'

/** What an administrator says of a user. */
export type UserFields = Pick<UserRecord, 'username' | 'displayName' | 'email' | 'role' | 'status' | 'sso'>

export type UserEvent =
  | { type: 'UserCreated'; data: UserFields & { id: string; passwordHash: string | null; createdAt: string } }
  | { type: 'UserUpdated'; data: UserFields & { updatedAt: string } }
  | { type: 'PasswordChanged'; data: { passwordHash: string; changedAt: string } }
  | { type: 'UserDeleted'; data: { deletedAt: string } }
  | { type: 'UserLoggedOut'; data: { at: string } }
  /** `lockedUntil` is the end of the lock that it lifts; events of earlier releases do not have it. */
  | { type: 'UserUnlocked'; data: { at: string; lockedUntil?: string | null } }
  /** Written by earlier releases: logins have streams of their own now; see logins.ts. */
  | { type: 'UserLoggedIn'; data: { at: string } }
  | { type: 'LoginFailed'; data: { at: string } }
  | { type: 'UserLocked'; data: { until: string } }
  /** Somebody took over a name that this user was announced to take; see reservation. */
  | { type: 'NameClaimFenced'; data: object }
  /** An announced removal of this administrator was not carried out and cannot be any more; see administrators. */
  | { type: 'RemovalFenced'; data: object }

export interface LiveUser {
  status: 'Live'
  record: UserRecord
  /** Of the event that changed the record last: its ETag. */
  recordRevision: number
  /** In PHC string format; null for a user who has no password. */
  passwordHash: string | null
  /** What this stream tells of logins, for those that have streams of their own; see logins.ts. */
  logins: {
    /** Revision of the last event that ended wrong passwords in a row, and set or lifted the lock of the record. */
    revision: number
    /** Revisions of the wrong passwords since then, at most as many as lock the user. */
    failed: readonly number[]
    /** Generation of the login tokens of the last login; null when there is none. */
    generation: number | null
  }
  /** Login tokens of an earlier generation are revoked. */
  generation: number
}

export type UserState =
  | { status: 'Absent' }
  | LiveUser
  /** What it was, for those who are told of its end. */
  | { status: 'Deleted'; last: UserRecord }

/** Every event type that this release knows, with its upcasters. */
export const userEvents: EventSchemas<UserEvent> = {
  UserCreated: [],
  UserUpdated: [],
  PasswordChanged: [],
  UserDeleted: [],
  UserLoggedIn: [],
  UserLoggedOut: [],
  LoginFailed: [],
  UserLocked: [],
  UserUnlocked: [],
  NameClaimFenced: [],
  RemovalFenced: [],
}

/** Wrong passwords that lock a user. */
const MOST_FAILED = 5

/** Releases before usernames were stored in NFC wrote them as they were sent. */
const normal = <Fields extends { username: string }>(fields: Fields): Fields => ({
  ...fields,
  username: normalUsername(fields.username),
})

export const initialUser: UserState = { status: 'Absent' }

export function evolveUser(state: UserState, event: UserEvent, revision: number): UserState {
  if (event.type === 'UserCreated') {
    const { passwordHash, createdAt, ...fields } = event.data
    return {
      status: 'Live',
      record: { ...normal(fields), lockedUntil: null, createdAt, updatedAt: createdAt },
      recordRevision: revision,
      passwordHash,
      logins: { revision, failed: [], generation: null },
      generation: 0,
    }
  }
  if (state.status !== 'Live') return state
  const { record, generation, logins } = state
  const anew = { logins: { ...logins, revision, failed: [] } }
  const changed = (fields: Partial<UserRecord>, rest: Partial<LiveUser> = {}): LiveUser => ({
    ...state,
    ...rest,
    record: { ...record, ...fields },
    recordRevision: revision,
  })

  switch (event.type) {
    case 'UserUpdated': {
      const deactivated = record.status === 'ACTIVE' && event.data.status === 'INACTIVE'
      return changed(normal(event.data), { generation: deactivated ? generation + 1 : generation })
    }
    case 'PasswordChanged': {
      const { passwordHash, changedAt } = event.data
      return changed({ updatedAt: changedAt }, { passwordHash, generation: generation + 1 })
    }
    case 'UserDeleted':
      return { status: 'Deleted', last: record }
    case 'UserLoggedIn':
      // A lock that is over by now is not one to readers either: the record is as it was.
      return {
        ...state,
        record: { ...record, lockedUntil: null },
        logins: { revision, failed: [], generation },
      }
    case 'UserLoggedOut':
      return { ...state, generation: generation + 1 }
    case 'LoginFailed':
      return { ...state, logins: { ...logins, failed: [...logins.failed, revision].slice(-MOST_FAILED) } }
    case 'UserLocked':
      return changed({ lockedUntil: event.data.until }, anew)
    case 'UserUnlocked':
      return changed({ lockedUntil: null }, anew)
    case 'NameClaimFenced':
    case 'RemovalFenced':
      return state
    default:
      event satisfies never
      return state
  }
}

export const usernameOf = (state: UserState): string | undefined =>
  state.status === 'Live' ? state.record.username : undefined

/** Whether the user is one of those of whom there must always be one. */
export const isGlobalAdministrator = (state: UserState): boolean =>
  state.status === 'Live' && state.record.role === 'GLOBAL_ADMIN' && state.record.status === 'ACTIVE'

/** Until when the user is locked; null when it is not, or no longer. */
export const lockOf = ({ lockedUntil }: Pick<UserRecord, 'lockedUntil'>, now: string): string | null =>
  lockedUntil !== null && lockedUntil > now ? lockedUntil : null
