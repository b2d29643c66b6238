import { type UserKey, type UserKeys, UserKeysUnavailable } from '@gantry/stores'
import { connect, each } from './connection/connection.ts'
import type { MongoOptions } from './connection/settings.ts'
import { isDuplicate } from './read-models/guarded-writes.ts'

/** A document has either a key or the time of its deletion. */
interface StoredKey {
  /** Id of the user. */
  _id: string
  key: string | null
  erasedAt: string | null
}

/**
 * Keys of users in the collection `user_keys` of a database, for any number of processes.
 * @throws MongoRefused when the URL cannot be used
 */
export function mongoUserKeys(options: MongoOptions): UserKeys {
  const { db, run, close } = connect(options)
  const keys = db.collection<StoredKey>('user_keys')
  const answering = <T>(job: () => Promise<T>): Promise<T> =>
    run(job).catch(error => {
      throw new UserKeysUnavailable(error)
    })
  const find = async (user: string): Promise<UserKey | undefined> => {
    const found = await keys.findOne({ _id: user })
    return found ? ({ key: found.key, erasedAt: found.erasedAt } as UserKey) : undefined
  }
  /** Inserts a document unless the user has one. @returns what is stored afterwards */
  const insert = async (user: string, key: UserKey): Promise<UserKey> => {
    try {
      await keys.insertOne({ _id: user, ...key })
      return key
    } catch (error) {
      if (!isDuplicate(error)) throw error
      return (await find(user)) ?? key
    }
  }

  return {
    get: user => answering(() => find(user)),
    add: (user, key) => answering(() => insert(user, { key, erasedAt: null })),
    list: (after, limit) =>
      answering(async () => {
        const found = await keys
          .find({ _id: { $gt: after }, erasedAt: null })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray()
        return found.map(({ _id, key }) => ({ user: _id, key: String(key) }))
      }),
    replace: (user, key, by) =>
      answering(
        async () => (await keys.updateOne({ _id: user, key }, { $set: { key: by } })).modifiedCount > 0,
      ),
    erase: (user, at) =>
      answering(async () => {
        const { erasedAt } = await insert(user, { key: null, erasedAt: at })
        if (erasedAt !== null) return erasedAt
        await keys.updateOne({ _id: user, erasedAt: null }, { $set: { key: null, erasedAt: at } })
        return (await find(user))?.erasedAt ?? at
      }),
    async *erased() {
      for await (const { _id, erasedAt } of each(keys.find({ erasedAt: { $ne: null } }), answering))
        yield { user: _id, erasedAt: String(erasedAt) }
    },
    ping: () => answering(async () => void (await db.command({ ping: 1 }))),
    close,
  }
}
