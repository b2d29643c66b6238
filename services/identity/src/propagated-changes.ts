import { subjects } from '@gantry/contracts'
import type { Fact, Log } from '@gantry/event-sourcing'
import type { Bus, Json } from '@gantry/messaging'
import type { Rotated } from './signingkey/keys.ts'
import type { ChangeToken } from './token/token.routes.ts'
import type { TokenAggregate } from './token/token.ts'
import type { UserAggregate } from './user/user.decide.ts'
import type { ChangeUser } from './user/user.routes.ts'
import type { UserEvent } from './user/user.ts'

export interface PropagationOptions {
  user: UserAggregate
  token: TokenAggregate
  bus: Bus
  log: Log
}

export interface PropagatedChanges {
  changeUser: ChangeUser
  changeToken: ChangeToken
  /** Broadcasts a new signing key. */
  rotated(key: Rotated): Promise<void>
}

/** Types of events after which cached principals and names of the user are no longer valid. */
const ENDS_PRINCIPALS: ReadonlySet<string> = new Set<UserEvent['type']>([
  'UserUpdated',
  'PasswordChanged',
  'UserLoggedOut',
  'UserDeleted',
  'UserErased',
])

/** Changes that other processes receive before the caller is answered. */
export function propagatedChanges({ user, token, bus, log }: PropagationOptions): PropagatedChanges {
  /** Broadcasts a hint to discard cached data. It may get lost, because caches expire as well. */
  const hint = (subject: string, data: Json) =>
    bus.broadcast(subject, data).catch(error => log.warn({ err: error, subject }, 'a broadcast was lost'))
  return {
    async changeUser(id, command) {
      const executed = await user.execute(id, command)
      if (executed.facts.some(({ type }: Fact) => ENDS_PRINCIPALS.has(type)))
        await hint(subjects.principalChanged, { userId: id })
      return executed
    },
    async changeToken(id, command) {
      const executed = await token.execute(id, command)
      const { state, facts } = executed
      if (state.status === 'Deleted' && facts.length > 0)
        await hint(subjects.principalChanged, { userId: state.userId, tokenId: id })
      return executed
    },
    rotated: key => hint(subjects.keysChanged, { ...key }),
  }
}
