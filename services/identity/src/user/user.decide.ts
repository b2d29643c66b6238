import { isDeepStrictEqual } from 'node:util'
import {
  ADMINISTRATOR_ROLES,
  type Change,
  type ChangeAction,
  invalidField,
  type Principal,
  Refusal,
  ROLE_SCOPES,
  ROLES,
  type Role,
  type UserInput,
  type UserUpdate,
} from '@gantry/contracts'
import {
  type Aggregate,
  type CommandMetadata,
  type Conditional,
  type Decider,
  requireRevision,
} from '@gantry/event-sourcing'
import { type LoginState, loginsOf, mayBeLoggedIn } from './login-state.ts'
import {
  evolveUser,
  initialUser,
  lockOf,
  type UserEvent,
  type UserFields,
  type UserState,
  userEvents,
} from './user.ts'

/** The revision of a record that does not exist: no ETag matches it. */
const NO_REVISION = -1

/** The caller who administers users: their role, and the scopes that their credential has. */
type Administrator = Pick<Principal, 'role' | 'scopes'>

interface Administration extends Conditional {
  by: Administrator
}

/** Commands carry hashes of passwords, because hashing is slow and needs a random salt, and deciders are pure. */
export type UserCommand =
  | ({
      type: 'CreateUser'
      id: string
      input: Omit<UserInput, 'password'>
      passwordHash: string | null
    } & Administration)
  | {
      type: 'CreateFirstAdministrator'
      metadata: CommandMetadata
      id: string
      username: string
      passwordHash: string
    }
  | ({
      type: 'UpdateUser'
      input: Omit<UserUpdate, 'password'>
      passwordHash: string | null
    } & Administration)
  /** Changes the password that the caller has given, which was checked against `checkedAgainst`. */
  | { type: 'ChangePassword'; metadata: CommandMetadata; checkedAgainst: string | null; passwordHash: string }
  | ({ type: 'DeleteUser' } & Administration)
  | ({ type: 'EraseUser' } & Administration)
  | ({
      type: 'UnlockUser'
      /** State after the last event of the user's logins. */
      last: LoginState
    } & Administration)
  | {
      type: 'LogOut'
      metadata: CommandMetadata
      /** State after the last event of the user's logins; left out for a caller with a login token, which is revoked. */
      last?: LoginState
    }
  | { type: 'FenceRemoval'; metadata: CommandMetadata }

export type UserAggregate = Aggregate<UserState, UserCommand, UserEvent>

export const userDecider: Decider<UserState, UserCommand, UserEvent> = {
  initial: initialUser,
  events: userEvents,
  evolve: evolveUser,
  describe,
  decide(state, command) {
    const { now } = command.metadata
    switch (command.type) {
      case 'CreateUser': {
        if (state.status !== 'Absent') throw new Refusal('write-conflict')
        const { id, input, passwordHash, by } = command
        mayAdminister(by, input.role)
        return [{ type: 'UserCreated', data: { id, ...fieldsOf(input), passwordHash, createdAt: now } }]
      }
      case 'CreateFirstAdministrator': {
        if (state.status !== 'Absent') return []
        const { id, username, passwordHash } = command
        return [
          {
            type: 'UserCreated',
            data: { id, ...FIRST_ADMINISTRATOR, username, passwordHash, createdAt: now },
          },
        ]
      }
    }
    if (command.type === 'EraseUser') return decideErasure(state, command)
    if (state.status !== 'Live') return decideWithoutUser(command)

    switch (command.type) {
      case 'UpdateUser': {
        const { input, passwordHash, by } = command
        const fields = fieldsOf(input)
        mayAdminister(by, state.record.role)
        mayAdminister(by, fields.role)
        requireRevision(command, state.recordRevision)
        if (!fields.sso && state.passwordHash === null && passwordHash === null) throw passwordMissing()
        const events: UserEvent[] = []
        if (!isDeepStrictEqual({ ...state.record, ...fields }, state.record))
          events.push({ type: 'UserUpdated', data: { ...fields, updatedAt: now } })
        if (passwordHash !== null)
          events.push({ type: 'PasswordChanged', data: { passwordHash, changedAt: now } })
        return events
      }
      case 'ChangePassword':
        if (state.passwordHash !== command.checkedAgainst) throw new Refusal('write-conflict')
        return [{ type: 'PasswordChanged', data: { passwordHash: command.passwordHash, changedAt: now } }]
      case 'DeleteUser':
        mayAdminister(command.by, state.record.role)
        requireRevision(command, state.recordRevision)
        return [{ type: 'UserDeleted', data: { deletedAt: now } }]
      case 'UnlockUser':
        mayAdminister(command.by, state.record.role)
        return unlocked(loginsOf(state, command.last), now)
      case 'LogOut':
        if (command.last && !mayBeLoggedIn(state, command.last)) return []
        return [{ type: 'UserLoggedOut', data: { at: now } }]
      case 'FenceRemoval':
        return [{ type: 'RemovalFenced', data: {} }]
      default: {
        const missing: never = command
        return missing
      }
    }
  },
}

/**
 * Decides on the erasure of a user who exists, was deleted, or is erased in the store of keys but not in this log.
 * @throws Refusal user-not-found, precondition-failed, role-missing, scope-missing
 */
function decideErasure(state: UserState, command: Extract<UserCommand, { type: 'EraseUser' }>): UserEvent[] {
  const { now } = command.metadata
  const deleted: UserEvent = { type: 'UserDeleted', data: { deletedAt: now } }
  const erased = (id: string): UserEvent => ({ type: 'UserErased', data: { id, erasedAt: now } })
  switch (state.status) {
    case 'Absent':
      throw new Refusal('user-not-found')
    case 'Live':
      mayAdminister(command.by, state.record.role)
      requireRevision(command, state.recordRevision)
      return [deleted, erased(state.record.id)]
    case 'Deleted':
      mayAdminister(command.by, state.last.role)
      requireRevision(command, NO_REVISION)
      return [erased(state.last.id)]
    case 'Erased':
      if (state.erasedAt !== null) return []
      return [...(state.deleted ? [] : [deleted]), erased(state.id)]
    default: {
      const missing: never = state
      return missing
    }
  }
}

/** Decides on a user who does not exist. */
function decideWithoutUser(command: UserCommand): UserEvent[] {
  switch (command.type) {
    case 'LogOut':
    case 'FenceRemoval':
      return []
    default:
      throw new Refusal('user-not-found')
  }
}

function unlocked({ failed, lockedUntil }: ReturnType<typeof loginsOf>, now: string): UserEvent[] {
  const lifted = lockOf({ lockedUntil }, now)
  if (failed === 0 && !lifted) return []
  return [{ type: 'UserUnlocked', data: { at: now, lockedUntil: lifted } }]
}

const FIRST_ADMINISTRATOR = {
  displayName: 'Administrator',
  email: null,
  role: 'GLOBAL_ADMIN',
  status: 'ACTIVE',
  sso: false,
} as const satisfies Partial<UserFields>

const fieldsOf = ({
  username,
  displayName,
  email,
  role,
  status,
  sso,
}: Omit<UserUpdate, 'password'>): UserFields => ({
  username,
  displayName: displayName ?? username,
  email,
  role,
  status,
  sso,
})

/**
 * Checks that the caller may grant a role and may manage users who have it: no role above the caller's own. The role of an
 * administrator also needs a credential with every scope of that role. Otherwise the holder of a narrow access token could
 * set the password of an administrator and log in with more scopes than the token has.
 * @throws Refusal role-missing or scope-missing
 */
function mayAdminister(by: Administrator, role: Role): void {
  requireRole(by, role)
  if (!ADMINISTRATOR_ROLES.includes(role)) return
  const missing = ROLE_SCOPES[role].filter(scope => !by.scopes.includes(scope))
  if (missing.length === 0) return
  throw new Refusal('scope-missing', { detail: `needs every scope of the role ${role}`, scopes: missing })
}

/** @throws Refusal role-missing when the role of the caller is below a role */
export function requireRole(by: Pick<Principal, 'role'>, role: Role): void {
  if (ROLES.indexOf(by.role) > ROLES.indexOf(role))
    throw new Refusal('role-missing', { detail: `needs the role ${role}`, role })
}

const passwordMissing = () => invalidField('password', 'is required unless sso')

/** Actions of the described event types. Fences have no change. */
const ACTIONS: Readonly<Record<UserEvent['type'], ChangeAction<'USER'> | null>> = {
  UserCreated: 'USER_CREATED',
  UserUpdated: 'USER_UPDATED',
  PasswordChanged: 'USER_PASSWORD_CHANGED',
  UserDeleted: 'USER_DELETED',
  UserErased: 'USER_ERASED',
  UserLoggedOut: 'USER_LOGGED_OUT',
  UserUnlocked: 'USER_UNLOCKED',
  NameClaimFenced: null,
  RemovalFenced: null,
}

function describe(before: UserState, event: UserEvent, after: UserState): Change | null {
  const action = ACTIONS[event.type]
  const was = before.status === 'Live' ? before.record : null
  const is = after.status === 'Live' ? after.record : null
  const id = event.type === 'UserErased' ? event.data.id : (is ?? was)?.id
  if (!action || !id) return null
  return {
    action,
    resourceType: 'USER',
    resourceId: id,
    before: was && { ...was, ...lockBefore(event) },
    after: is && { ...is, ...lockAfter(event) },
  }
}

const lockBefore = (event: UserEvent) =>
  event.type === 'UserUnlocked' && { lockedUntil: event.data.lockedUntil }

const lockAfter = ({ type }: UserEvent) =>
  (type === 'UserUnlocked' || type === 'UserCreated') && { lockedUntil: null }
