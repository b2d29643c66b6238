import { MAX_NAMED_USERS, requests, subjects, type UserName } from '@gantry/contracts'
import { atMost, type Worker } from '@gantry/event-sourcing'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Dependencies } from './service.ts'

/**
 * The names of users by id. Users who never existed and users whose personal data are erased are left out. So are all
 * users whose names cannot be had now: a read does not fail because of names.
 */
export type NamesOf = (ids: readonly (string | null)[]) => Promise<ReadonlyMap<string, UserName>>

export interface UserNamesCache {
  namesOf: NamesOf
  /** Display names by id of users whose names have a word of a query; none if they cannot be had now. */
  namesLike(q: string): Promise<Readonly<Record<string, string>>>
  /** Starts to forget names when a broadcast says that a user has changed. */
  listen(): Worker
}

/** How long a name is used without asking identity: the age of a shown name is limited even if a broadcast is lost. */
const CACHE_MS = 5_000
const CACHE_SIZE = 10_000
/** Time after a failed request in which no other request is sent, so that reads do not wait for each in turn. */
const PAUSE_MS = 1_000

const Changed = z.object({ userId: z.string() })

/** Names that identity tells on request, cached for seconds, and only in memory. */
export function userNames({
  bus,
  process: { log, peers },
}: Pick<Dependencies, 'bus' | 'process'>): UserNamesCache {
  const known = new LRUCache<string, { name: UserName | undefined }>({ ...atMost(CACHE_SIZE), ttl: CACHE_MS })
  /** By id: the request under way that asks for the user. */
  const asking = new Map<string, Promise<Record<string, UserName>>>()
  let pausedUntil = 0

  const pause = (error: unknown) => {
    pausedUntil = performance.now() + PAUSE_MS
    log.warn({ err: error }, 'names of users are left out: identity did not answer')
    return {}
  }

  /** Asks for users. An answer is kept unless the user has changed meanwhile. */
  const ask = (users: string[]) => {
    const asked: Promise<Record<string, UserName>> = peers.ask(requests.userNames, { users }).then(
      names => {
        settle(id => known.set(id, { name: names[id] }))
        return names
      },
      error => {
        settle(() => {})
        return pause(error)
      },
    )
    const settle = (keep: (id: string) => void) => {
      for (const id of users) {
        if (asking.get(id) !== asked) continue
        asking.delete(id)
        keep(id)
      }
    }
    for (const id of users) asking.set(id, asked)
  }

  return {
    async namesOf(ids) {
      const wanted = [...new Set(ids.filter(id => id !== null))]
      const kept = new Map(wanted.map(id => [id, known.get(id)]))
      const unknown = wanted.filter(id => !kept.get(id) && !asking.has(id))
      if (performance.now() >= pausedUntil) {
        for (let from = 0; from < unknown.length; from += MAX_NAMED_USERS)
          ask(unknown.slice(from, from + MAX_NAMED_USERS))
      }
      const found = await Promise.all(
        wanted.map(async id => [id, kept.get(id)?.name ?? (await asking.get(id))?.[id]] as const),
      )
      return new Map(found.filter((entry): entry is [string, UserName] => entry[1] !== undefined))
    },
    async namesLike(q) {
      if (performance.now() < pausedUntil) return {}
      return peers.ask(requests.usersNamed, { q }).catch(pause)
    },
    listen() {
      const stop = bus.listen(subjects.principalChanged, broadcast => {
        const { userId } = Changed.parse(broadcast)
        known.delete(userId)
        asking.delete(userId)
        // Identity is there.
        pausedUntil = 0
      })
      return { stop: async () => stop() }
    },
  }
}
