import type { UserName } from '@gantry/contracts'
import { type Log, pastQuarantine } from '@gantry/event-sourcing'
import type { NamesOf } from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import type { UserAggregate } from './user.decide.ts'
import type { UserDocument } from './user.projection.ts'

/**
 * Names of users from the read model. Deleted users have no document there, so their names come from the log. Erased
 * users are left out.
 */
export function namesFrom(
  users: Collection<UserDocument>,
  user: UserAggregate,
  log: Pick<Log, 'warn'>,
): NamesOf {
  const ofDeleted = async (id: string): Promise<[string, UserName][]> => {
    const state = (await user.load(id).catch(pastQuarantine(log)))?.state
    if (state?.status !== 'Live' && state?.status !== 'Deleted') return []
    const { username, displayName } = state.status === 'Live' ? state.record : state.last
    return [[id, { username, displayName, deleted: state.status === 'Deleted' }]]
  }
  return async ids => {
    const wanted = [...new Set(ids.filter(id => id !== null))]
    const live = (await users.getMany(wanted)).map(
      ({ doc: { id, username, displayName } }): [string, UserName] => [
        id,
        { username, displayName, deleted: false },
      ],
    )
    const found = new Set(live.map(([id]) => id))
    const others = await Promise.all(wanted.filter(id => !found.has(id)).map(ofDeleted))
    return new Map([...live, ...others.flat()])
  }
}
