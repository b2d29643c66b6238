import type { UserName } from '@gantry/contracts'
import { type Log, pastQuarantine } from '@gantry/event-sourcing'
import type { NamesOf } from '@gantry/service-runtime'
import { type Collection, wordsOf } from '@gantry/stores'
import type { UserAggregate } from './user.decide.ts'
import type { UserDocument } from './user.projection.ts'

const MOST_LIKE_A_WORD = 100
const MOST_WORDS = 16
/** Words of fewer characters have no typos. */
const MAY_HAVE_TYPO = 5

/**
 * Display names by id of the users whose names may have a word of a query, also with a typo. There is no index of words of
 * names that an erasure would have to reach. Deleted users are left out.
 */
function namesLikeFrom(users: Pick<Collection<UserDocument>, 'list'>) {
  const having = (part: string) => users.list({ text: [part], limit: MOST_LIKE_A_WORD })
  /** One typo leaves the beginning or the end of a word as it is. */
  const like = async (word: string) => {
    const found = await having(word)
    if (found.length > 0 || word.length < MAY_HAVE_TYPO) return found
    const end = Math.floor((word.length - 1) / 2)
    return [...(await having(word.slice(0, end))), ...(await having(word.slice(-end)))]
  }
  return async (q: string): Promise<Record<string, string>> => {
    const words = wordsOf(q).filter(({ joined }) => !joined)
    const texts = new Set(words.map(({ start, end }) => q.slice(start, end)))
    const found = await Promise.all([...texts].slice(0, MOST_WORDS).map(like))
    return Object.fromEntries(found.flat().map(({ doc: { id, displayName } }) => [id, displayName]))
  }
}

export interface KnownNames {
  namesOf: NamesOf
  /** Display names by id of the users whose names have a word of a query. */
  namesLike(q: string): Promise<Record<string, string>>
}

/**
 * Names of users from the read model. Deleted users have no document there, so their names come from the log. Erased
 * users are left out.
 */
export function namesFrom(
  users: Collection<UserDocument>,
  user: UserAggregate,
  log: Pick<Log, 'warn'>,
): KnownNames {
  const ofDeleted = async (id: string): Promise<[string, UserName][]> => {
    const state = (await user.load(id).catch(pastQuarantine(log)))?.state
    if (state?.status !== 'Live' && state?.status !== 'Deleted') return []
    const { username, displayName } = state.status === 'Live' ? state.record : state.last
    return [[id, { username, displayName, deleted: state.status === 'Deleted' }]]
  }
  const namesOf: NamesOf = async ids => {
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
  return { namesOf, namesLike: namesLikeFrom(users) }
}
