import type { UserRecord } from '@gantry/contracts'
import type { EventSchemas } from '@gantry/event-sourcing'

/** The fields of a user that an administrator sets. */
export type UserFields = Pick<UserRecord, 'username' | 'displayName' | 'email' | 'role' | 'status' | 'sso'>

/** The fields as they are read after the erasure of the user, whose personal fields can no longer be decrypted. */
type ErasedFields = Omit<UserFields, 'username' | 'displayName' | 'email'> & { personal: null }

export type UserEvent =
  | {
      type: 'UserCreated'
      data: (UserFields | ErasedFields) & { id: string; passwordHash: string | null; createdAt: string }
    }
  | { type: 'UserUpdated'; data: (UserFields | ErasedFields) & { updatedAt: string } }
  | { type: 'PasswordChanged'; data: { passwordHash: string; changedAt: string } }
  | { type: 'UserDeleted'; data: { deletedAt: string } }
  /** Follows `UserDeleted`. The key of the user's personal data is deleted after it. */
  | { type: 'UserErased'; data: { id: string; erasedAt: string } }
  | { type: 'UserLoggedOut'; data: { at: string } }
  /** `lockedUntil` is the end of the lifted lock, null for none. Locks themselves are in login/logins.ts. */
  | { type: 'UserUnlocked'; data: { at: string; lockedUntil: string | null } }
  /** Makes the append that would take a reserved name fail: another user takes over the reservation. See `reservations`. */
  | { type: 'NameClaimFenced'; data: object }
  /** Makes the append of an abandoned removal of this administrator fail. See `administrators`. */
  | { type: 'RemovalFenced'; data: object }

type Unlocked = Omit<UserRecord, 'lockedUntil'>

export interface LiveUser {
  status: 'Live'
  /** The record without its lock, which the streams of logins have. */
  record: Unlocked
  /** Revision of the event that changed the record last. Its ETag. */
  recordRevision: number
  /** PHC string; null for a user without a password. */
  passwordHash: string | null
  /** Revision of the last event that reset the count of wrong passwords and lifted the lock. See `loginsOf` in login-state.ts. */
  unlockedRevision: number
  /** Generation of the valid login tokens. Tokens of earlier generations are revoked. */
  generation: number
}

export type UserState =
  | { status: 'Absent' }
  | LiveUser
  /** `last` is the record before the deletion. */
  | { status: 'Deleted'; last: Unlocked }
  | ErasedUser

interface ErasedUser {
  status: 'Erased'
  id: string
  /** Whether the stream has `UserDeleted`. */
  deleted: boolean
  /** Time of `UserErased`; null if the stream lacks it: the log was restored from a backup, the key was not. */
  erasedAt: string | null
}

/** Every event type that this release knows, with its upcasters. Some are encrypted in the log, see personal-data/sealed-events.ts. */
export const userEvents: EventSchemas<UserEvent> = {
  UserCreated: [],
  UserUpdated: [],
  PasswordChanged: [],
  UserDeleted: [],
  UserErased: [],
  UserLoggedOut: [],
  UserUnlocked: [],
  NameClaimFenced: [],
  RemovalFenced: [],
}

/** Number of wrong passwords in a row that locks a user. */
export const WRONG_PASSWORDS_TO_LOCK = 5

export const initialUser: UserState = { status: 'Absent' }

/** @throws Error when the personal fields could not be decrypted, although the user is not erased */
function isErased(data: UserFields | ErasedFields): data is ErasedFields {
  if (!('personal' in data)) return false
  if (data.personal !== null)
    throw new Error('the personal fields cannot be decrypted: the key is missing or wrong')
  return true
}

const erased = (id: string): ErasedUser => ({ status: 'Erased', id, deleted: false, erasedAt: null })

export function evolveUser(state: UserState, event: UserEvent, revision: number): UserState {
  if (state.status === 'Erased') return evolveErased(state, event)
  if (event.type === 'UserErased') {
    const { id, erasedAt } = event.data
    return { status: 'Erased', id, deleted: state.status === 'Deleted', erasedAt }
  }
  if (event.type === 'UserCreated') {
    if (isErased(event.data)) return erased(event.data.id)
    const { passwordHash, createdAt, ...fields } = event.data
    return {
      status: 'Live',
      record: { ...fields, createdAt, updatedAt: createdAt },
      recordRevision: revision,
      passwordHash,
      unlockedRevision: revision,
      generation: 0,
    }
  }
  if (state.status !== 'Live') return state
  const { record, generation } = state
  const changed = (fields: Partial<Unlocked>, rest: Partial<LiveUser> = {}): LiveUser => ({
    ...state,
    ...rest,
    record: { ...record, ...fields },
    recordRevision: revision,
  })

  switch (event.type) {
    case 'UserUpdated': {
      if (isErased(event.data)) return erased(record.id)
      const deactivated = record.status === 'ACTIVE' && event.data.status === 'INACTIVE'
      return changed(event.data, { generation: deactivated ? generation + 1 : generation })
    }
    case 'PasswordChanged': {
      const { passwordHash, changedAt } = event.data
      return changed({ updatedAt: changedAt }, { passwordHash, generation: generation + 1 })
    }
    case 'UserDeleted':
      return { status: 'Deleted', last: record }
    case 'UserLoggedOut':
      return { ...state, generation: generation + 1 }
    case 'UserUnlocked':
      return changed({}, { unlockedRevision: revision })
    case 'NameClaimFenced':
    case 'RemovalFenced':
      return state
    default:
      event satisfies never
      return state
  }
}

function evolveErased(state: ErasedUser, event: UserEvent): ErasedUser {
  if (event.type === 'UserDeleted') return { ...state, deleted: true }
  if (event.type === 'UserErased') return { ...state, erasedAt: event.data.erasedAt }
  return state
}

export const usernameOf = (state: UserState): string | undefined =>
  state.status === 'Live' ? state.record.username : undefined

/** Whether the user is an active global administrator. There must always be one. */
export const isGlobalAdministrator = (state: UserState): boolean =>
  state.status === 'Live' && state.record.role === 'GLOBAL_ADMIN' && state.record.status === 'ACTIVE'

/** The end of the lock of a user; null when there is none or it has expired. */
export const lockOf = ({ lockedUntil }: Pick<UserRecord, 'lockedUntil'>, now: string): string | null =>
  lockedUntil !== null && lockedUntil > now ? lockedUntil : null
