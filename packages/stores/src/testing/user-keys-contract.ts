import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type UserKeys, UserKeysUnavailable } from '../user-keys.ts'

/** A store that may contain keys of other users, before and during the test. */
export interface OpenedUserKeys {
  keys: UserKeys
  /** Opens another connection to the same store. */
  another(): Promise<UserKeys>
  close(): Promise<void>
}

const AT = '2026-11-21T10:00:00.000Z'
const LATER = '2026-11-22T10:00:00.000Z'

/** Tests every guarantee of the UserKeys port. Each test uses a user of its own, so a shared server can be used. */
export function userKeysContract(name: string, open: () => Promise<OpenedUserKeys>): void {
  describe(`${name} as a store of user keys`, () => {
    let opened: OpenedUserKeys
    let user: string
    beforeEach(async () => {
      opened = await open()
      user = randomUUID()
    })
    afterEach(() => opened.close())

    const erased = async (keys: UserKeys) => {
      for await (const found of keys.erased()) if (found.user === user) return found
      return undefined
    }

    it('keeps the first key of a user, also for other connections', async () => {
      const { keys } = opened
      await keys.ping()
      expect(await keys.get(user)).toBeUndefined()
      expect(await keys.add(user, 'first')).toEqual({ key: 'first', erasedAt: null })
      expect(await keys.add(user, 'second')).toEqual({ key: 'first', erasedAt: null })
      const other = await opened.another()
      expect(await other.get(user)).toEqual({ key: 'first', erasedAt: null })
      await other.close()
      expect(await erased(keys)).toBeUndefined()
    })

    it('gives two connections that add a key at once the same one', async () => {
      const other = await opened.another()
      const [one, two] = await Promise.all([opened.keys.add(user, 'one'), other.add(user, 'two')])
      expect(one).toEqual(two)
      await other.close()
    })

    it('lists keys by user, and replaces one unless it has changed or was deleted', async () => {
      const { keys } = opened
      const users = [user, randomUUID(), randomUUID()].toSorted()
      for (const each of users) await keys.add(each, `key of ${each}`)
      const listed = async () => {
        const found: { user: string; key: string }[] = []
        for (
          let after = '', page = await keys.list(after, 2);
          page.length > 0;
          page = await keys.list(after, 2)
        ) {
          found.push(...page)
          after = page.at(-1)?.user ?? ''
        }
        return found.filter(each => users.includes(each.user))
      }
      expect(await listed()).toEqual(users.map(each => ({ user: each, key: `key of ${each}` })))
      const [first = '', second = '', third = ''] = users
      expect(await keys.replace(first, `key of ${first}`, 'new')).toBe(true)
      expect(await keys.replace(first, `key of ${first}`, 'newer')).toBe(false)
      await keys.erase(second, AT)
      expect(await keys.replace(second, `key of ${second}`, 'new')).toBe(false)
      expect(await listed()).toEqual([
        { user: first, key: 'new' },
        { user: third, key: `key of ${third}` },
      ])
    })

    it('deletes a key once and for all, and keeps the first time', async () => {
      const { keys } = opened
      await keys.add(user, 'key')
      expect(await keys.erase(user, AT)).toBe(AT)
      expect(await keys.erase(user, LATER)).toBe(AT)
      expect(await keys.add(user, 'another')).toEqual({ key: null, erasedAt: AT })
      const other = await opened.another()
      expect(await other.get(user)).toEqual({ key: null, erasedAt: AT })
      expect(await erased(other)).toEqual({ user, erasedAt: AT })
      await other.close()
    })

    it('erases a user without a key', async () => {
      const { keys } = opened
      expect(await keys.erase(user, AT)).toBe(AT)
      expect(await keys.get(user)).toEqual({ key: null, erasedAt: AT })
      expect(await erased(keys)).toEqual({ user, erasedAt: AT })
    })

    it('says that it is unavailable once it is closed, and never that a user has no key', async () => {
      const closed = await opened.another()
      await closed.close()
      for (const call of [() => closed.get(user), () => closed.add(user, 'k'), () => closed.erase(user, AT)])
        await expect(call()).rejects.toThrow(UserKeysUnavailable)
    })
  })
}
