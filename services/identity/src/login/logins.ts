import { ADMINISTRATOR_ROLES, type Change, type ChangeAction, Refusal } from '@gantry/contracts'
import type { CommandMetadata, Decider, EventSchemas, StreamState } from '@gantry/event-sourcing'
import { withoutNames } from '../personal-data/sealed-change.ts'
import { type LoginState, loginsOf, noLogins } from '../user/login-state.ts'
import { lockOf, type UserState, WRONG_PASSWORDS_TO_LOCK } from '../user/user.ts'

/** Events in a stream of logins. Each user has one stream per month. */
export type LoginEvent =
  | { type: 'UserLoggedIn'; data: { at: string; state: LoginState } }
  | { type: 'LoginFailed'; data: { at: string; state: LoginState } }
  | { type: 'UserLocked'; data: { until: string; state: LoginState } }
  /** The last event of the stream of a month: further events are appended to the stream of the next month. */
  | { type: 'MonthEnded'; data: { state: LoginState } }

export interface LogIn {
  type: 'LogIn'
  metadata: CommandMetadata
  username: string
  /** The hash that the password was checked against; null for none. */
  checkedAgainst: string | null
  correct: boolean
}

export const loginEvents: EventSchemas<LoginEvent> = {
  UserLoggedIn: [],
  LoginFailed: [],
  UserLocked: [],
  MonthEnded: [],
}

const LOCK_MINUTES = 15

/** One refusal for all reasons, so that it does not tell which users exist or are locked. */
export const wrongCredentials = () =>
  new Refusal('wrong-credentials', {
    detail: `The user name or the password is wrong. Five wrong passwords in a row lock a user for ${LOCK_MINUTES} minutes.`,
  })

/** The decider of the logins of a user. @param user as their stream has them now */
export function loginDecider({
  state: user,
  revision,
}: StreamState<UserState>): Decider<LoginState, LogIn, LoginEvent> {
  return {
    initial: noLogins,
    events: loginEvents,
    evolve: (_, event) => event.data.state,
    describe: (before, event, after) => describe(user, { before, event, after }),
    decide(last, command) {
      // The check of the password does not count if the username or the hash has changed meanwhile.
      if (user.status !== 'Live' || user.record.username !== command.username) throw wrongCredentials()
      if (user.passwordHash !== command.checkedAgainst) throw wrongCredentials()
      const { now } = command.metadata
      const logins = loginsOf(user, last)
      if (lockOf(logins, now)) throw wrongCredentials()
      const { sso, role, status } = user.record
      if (sso && user.passwordHash === null) throw new Refusal('sso-login-only')
      // The user may have been read at an older revision than for the last login: the state still includes the newer one.
      const userRevision = Math.max(revision, last.userRevision)
      if (!command.correct) return failedLogin({ ...logins, failed: logins.failed + 1, userRevision }, now)
      if (sso && !ADMINISTRATOR_ROLES.includes(role)) throw new Refusal('sso-login-only')
      if (status === 'INACTIVE') throw new Refusal('user-inactive')
      const state = { ...noLogins, userRevision, generation: user.generation }
      return [{ type: 'UserLoggedIn', data: { at: now, state } }]
    },
  }
}

function failedLogin(state: LoginState, now: string): LoginEvent[] {
  const failed: LoginEvent = { type: 'LoginFailed', data: { at: now, state } }
  if (state.failed < WRONG_PASSWORDS_TO_LOCK) return [failed]
  const until = new Date(Date.parse(now) + LOCK_MINUTES * 60_000).toISOString()
  return [failed, { type: 'UserLocked', data: { until, state: { ...state, failed: 0, lockedUntil: until } } }]
}

const ACTIONS: Readonly<Record<LoginEvent['type'], ChangeAction<'USER'> | null>> = {
  UserLoggedIn: 'USER_LOGGED_IN',
  LoginFailed: 'USER_LOGIN_FAILED',
  UserLocked: 'USER_LOCKED',
  MonthEnded: null,
}

function describe(
  user: UserState,
  { before, event, after }: { before: LoginState; event: LoginEvent; after: LoginState },
): Change | null {
  const action = ACTIONS[event.type]
  if (!action || user.status !== 'Live') return null
  const withLock = ({ lockedUntil }: LoginState) => ({ ...withoutNames(user.record), lockedUntil })
  return {
    action,
    resourceType: 'USER',
    resourceId: user.record.id,
    before: withLock(loginsOf(user, before)),
    after: withLock(after),
  }
}
