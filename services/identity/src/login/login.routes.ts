import { setTimeout } from 'node:timers/promises'
import { AuthenticatedUser, login, logout, normalUsername, Refusal } from '@gantry/contracts'
import type { AddRoute } from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import type { Accesses } from '../audit/access/accesses.ts'
import type { LoginTokens } from '../authentication/login-token.ts'
import type { Passwords } from '../password/password.ts'
import type { UserCiphers } from '../personal-data/user-ciphers.ts'
import type { UserAggregate } from '../user/user.decide.ts'
import type { UserDocument } from '../user/user.projection.ts'
import type { ChangeUser } from '../user/user.routes.ts'
import { type LogIn, type Logins, wrongCredentials } from './logins.ts'

export interface LoginRoutes {
  changeUser: ChangeUser
  user: UserAggregate
  users: Collection<UserDocument>
  logins: Logins
  passwords: Passwords
  loginTokens: LoginTokens
  accesses: Accesses
  ciphers: Pick<UserCiphers, 'sealAddress'>
}

/** An id that no user has, for logins with an unknown username. */
const UNKNOWN_USER = '00000000-0000-0000-0000-000000000000'
/**
 * Minimum time between the check of the password and a refusal, in milliseconds. It hides how long the rest takes, which
 * would tell whether the attempt was recorded and whether the right password of a locked user was given.
 */
const MIN_REFUSAL_MS = 50

export function loginRoutes(
  route: AddRoute,
  { changeUser, user, users, logins, passwords, loginTokens, accesses, ciphers }: LoginRoutes,
) {
  // All logins run the same steps, so that the duration tells neither unknown usernames nor locked users.
  route(login, async ({ body, metadata, request }) => {
    const { password } = body
    const username = normalUsername(body.username)
    const [found] = await users.list({ where: { username }, limit: 1 })
    const id = found?.doc.id ?? UNKNOWN_USER
    const { state } = await user.load(id)
    // Only known users have a key, so that the duration must not depend on it: an address that is sealed too late is left out.
    const sealing = state.status === 'Live' ? ciphers.sealAddress(id, request.ip) : undefined
    sealing?.catch(() => {})
    const checkedAgainst = state.status === 'Live' ? state.passwordHash : null
    const correct = await passwords.verify(password, checkedAgainst, {
      address: request.ip,
      name: username,
    })
    const pause = setTimeout(MIN_REFUSAL_MS)
    // The user is read again: the password may have changed during the check. The logins that are read are cached for the command.
    const [known] = await Promise.all([user.load(id), logins.load(id)])
    const address = await Promise.race([sealing, setTimeout(MIN_REFUSAL_MS / 2)])
    const knownId = known.state.status === 'Live' ? id : null
    const actor = correct ? { id, name: id } : metadata.actor
    const own = { ...metadata, actor: { ...actor, ...(knownId && address && { address }) } }
    const command: LogIn = {
      type: 'LogIn',
      metadata: own,
      user: known,
      username,
      checkedAgainst,
      correct,
    }
    const refused = async (reason: unknown) => {
      await pause
      throw reason
    }
    await logins.execute(id, command).catch(async reason => {
      // Otherwise the event of the wrong password is the record.
      if (reason instanceof Refusal) {
        const name = knownId === null ? accesses.pseudonym(username) : null
        const data = { user: knownId, name, reason: reason.code }
        await accesses.record({ type: 'LoginRefused', data }, own).catch(refused)
      }
      return refused(reason)
    })
    const { state: loggedIn } = known
    if (!correct || loggedIn.status !== 'Live') return refused(wrongCredentials())
    const token = await loginTokens.issue({ userId: id, generation: loggedIn.generation })
    return {
      status: 200,
      body: AuthenticatedUser.parse(loggedIn.record),
      headers: { authorization: `Bearer ${token}`, 'cache-control': 'no-store' },
    }
  })

  route(logout, async ({ principal, metadata }) => {
    const { userId, kind } = principal
    const last = kind === 'login' ? undefined : (await logins.load(userId)).state
    await changeUser(userId, { type: 'LogOut', metadata, ...(last && { last }) })
    return { status: 204 }
  })
}
