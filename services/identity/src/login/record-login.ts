import { type EventStore, type StreamState, WrongExpectedRevision } from '@gantry/event-sourcing'
import type { ReadModels } from '@gantry/read-models'
import type { LoginState } from '../user/login-state.ts'
import type { UserAggregate } from '../user/user.decide.ts'
import type { UserState } from '../user/user.ts'
import { lockWrites } from './locks.projection.ts'
import { appendLogin, type DescribedLogin, endOfLogins } from './login-streams.ts'
import { type LogIn, loginDecider } from './logins.ts'

export interface Logins {
  /** State after the last event of the current or the previous month; the initial state if there is none. */
  last(id: string, now: string): Promise<LoginState>
  /**
   * Decides on a login and appends its events.
   * @returns the user that the login was decided on
   * @throws Refusal when the login is refused
   * @throws EventStoreUnavailable when the store did not answer; the login may have been recorded
   */
  record(id: string, command: LogIn): Promise<StreamState<UserState>>
}

const TRIES_ON_CONFLICT = 20

/** The logins of users, in streams of their own, so that a login is decided without reading all earlier ones. */
export function logins({
  eventStore,
  readModels,
  user,
}: {
  eventStore: EventStore
  readModels: Pick<ReadModels, 'write'>
  user: UserAggregate
}): Logins {
  const tryRecord = async (id: string, command: LogIn): Promise<StreamState<UserState>> => {
    const end = await endOfLogins(eventStore, id, command.metadata.now)
    const known = await user.load(id)
    const events = decide(known, end.state, command)
    const { revision } = await appendLogin(eventStore, end, events, command.metadata)
    const first = revision + 1 - events.length
    await readModels.write(events.flatMap((event, index) => lockWrites(end.stream, first + index, event)))
    return known
  }

  return {
    last: async (id, now) => (await endOfLogins(eventStore, id, now)).state,
    async record(id, command) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await tryRecord(id, command)
        } catch (error) {
          if (!(error instanceof WrongExpectedRevision) || attempt === TRIES_ON_CONFLICT) throw error
        }
      }
    },
  }
}

/** The events of a login, each with its change. @throws Refusal when the login is refused */
function decide(user: StreamState<UserState>, last: LoginState, command: LogIn): DescribedLogin[] {
  const decider = loginDecider(user)
  let before = last
  return decider.decide(last, command).map(event => {
    const { state: after } = event.data
    const change = decider.describe?.(before, event, after)
    before = after
    return { ...event, change }
  })
}
