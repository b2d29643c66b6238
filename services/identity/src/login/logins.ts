import { ADMINISTRATOR_ROLES, type Change, type ChangeAction, Refusal } from '@gantry/contracts'
import {
  type Aggregate,
  aggregate,
  type CommandMetadata,
  type Decider,
  type EventStore,
  type Project,
  type ProjectionTarget,
  type RecordedEvent,
  type SnapshotSchema,
  type StreamState,
} from '@gantry/event-sourcing'
import type { Json } from '@gantry/messaging'
import { withoutNames } from '../personal-data/sealed-change.ts'
import { type LoginState, loginsOf, noLogins } from '../user/login-state.ts'
import { locks } from '../user/user.projection.ts'
import { lockOf, type UserState, WRONG_PASSWORDS_TO_LOCK } from '../user/user.ts'

/**
 * Events in the stream of a user's logins. `userRevision` is the greatest revision of the user's stream that this login or
 * an earlier one was decided on.
 */
export type LoginEvent =
  | { type: 'UserLoggedIn'; data: { at: string; userRevision: number; generation: number } }
  /** `failed` counts the wrong passwords in a row, this one included. */
  | { type: 'LoginFailed'; data: { at: string; userRevision: number; failed: number } }
  | { type: 'UserLocked'; data: { until: string; userRevision: number } }

export interface LogIn {
  type: 'LogIn'
  metadata: CommandMetadata
  /** The user as their stream had them after the check of the password. */
  user: StreamState<UserState>
  username: string
  /** The hash that the password was checked against; null for none. */
  checkedAgainst: string | null
  correct: boolean
}

export type Logins = Aggregate<LoginState, LogIn, LoginEvent>

const LOCK_MINUTES = 15

/** One refusal for all reasons, so that it does not tell which users exist or are locked. */
export const wrongCredentials = () =>
  new Refusal('wrong-credentials', {
    detail: `The user name or the password is wrong. Five wrong passwords in a row lock a user for ${LOCK_MINUTES} minutes.`,
  })

export const loginDecider: Decider<LoginState, LogIn, LoginEvent> = {
  initial: noLogins,
  events: { UserLoggedIn: [], LoginFailed: [], UserLocked: [] },
  describe,
  decide(last, { user: { state: user, revision }, username, checkedAgainst, correct, metadata: { now } }) {
    // The check of the password does not count if the username or the hash has changed meanwhile.
    if (user.status !== 'Live' || user.record.username !== username) throw wrongCredentials()
    if (user.passwordHash !== checkedAgainst) throw wrongCredentials()
    const { failed, lockedUntil } = loginsOf(user, last)
    if (lockOf({ lockedUntil }, now)) throw wrongCredentials()
    const { sso, role, status } = user.record
    if (sso && user.passwordHash === null) throw new Refusal('sso-login-only')
    // The user may have been read at an older revision than for the last login: the state still includes the newer one.
    const userRevision = Math.max(revision, last.userRevision)
    if (!correct) return failedLogin(failed + 1, userRevision, now)
    if (sso && !ADMINISTRATOR_ROLES.includes(role)) throw new Refusal('sso-login-only')
    if (status === 'INACTIVE') throw new Refusal('user-inactive')
    return [{ type: 'UserLoggedIn', data: { at: now, userRevision, generation: user.generation } }]
  },
  evolve(state, event) {
    const { userRevision } = event.data
    switch (event.type) {
      case 'UserLoggedIn':
        return { ...state, failed: 0, userRevision, generation: event.data.generation }
      case 'LoginFailed':
        return { ...state, failed: event.data.failed, userRevision }
      case 'UserLocked':
        return { ...state, failed: 0, userRevision, lock: { lockedUntil: event.data.until, userRevision } }
      default:
        event satisfies never
        return state
    }
  },
}

function failedLogin(failed: number, userRevision: number, now: string): LoginEvent[] {
  const event: LoginEvent = { type: 'LoginFailed', data: { at: now, userRevision, failed } }
  if (failed < WRONG_PASSWORDS_TO_LOCK) return [event]
  const until = new Date(Date.parse(now) + LOCK_MINUTES * 60_000).toISOString()
  return [event, { type: 'UserLocked', data: { until, userRevision } }]
}

const ACTIONS: Readonly<Record<LoginEvent['type'], ChangeAction<'USER'>>> = {
  UserLoggedIn: 'USER_LOGGED_IN',
  LoginFailed: 'USER_LOGIN_FAILED',
  UserLocked: 'USER_LOCKED',
}

function describe(
  before: LoginState,
  { type }: LoginEvent,
  after: LoginState,
  command?: LogIn,
): Change | null {
  if (command?.user.state.status !== 'Live') return null
  const user = command.user.state
  const withLock = (state: LoginState) => ({
    ...withoutNames(user.record),
    lockedUntil: lockOf(loginsOf(user, state), command.metadata.now),
  })
  return {
    action: ACTIONS[type],
    resourceType: 'USER',
    resourceId: user.record.id,
    before: withLock(before),
    after: withLock(after),
  }
}

export const projectLock: Project<LoginState, LoginEvent> = (id, { state: { lock }, revision }, events) =>
  lock && events.some(({ type }) => type === 'UserLocked')
    ? [{ collection: locks, id, doc: { id, ...lock }, revision }]
    : []

export const loginSnapshots: SnapshotSchema<LoginState> = {
  version: 1,
  encode: state => state as unknown as Json,
  decode: json => json as unknown as LoginState,
}
/** Few events are read by a process that has not cached the logins of a user, and one login in a hundred writes a snapshot. */
const SNAPSHOT_EVERY = 100

/** The logins of users, by id of the user. They are not in the stream of the user, because there are many. */
export const loginsAggregate = (
  dependencies: { eventStore: EventStore; unknownEvent(event: RecordedEvent): void },
  projector: ProjectionTarget,
): Logins =>
  aggregate({
    ...dependencies,
    category: 'logins',
    decider: loginDecider,
    view: { projector, project: projectLock },
    snapshots: { schema: loginSnapshots, every: SNAPSHOT_EVERY },
  })
