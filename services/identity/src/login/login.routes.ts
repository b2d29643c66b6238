import { setTimeout } from 'node:timers/promises'
import { AuthenticatedUser, login, logout, normalUsername } from '@gantry/contracts'
import type { Aggregate } from '@gantry/event-sourcing'
import type { Collection } from '@gantry/read-models'
import type { AddRoute } from '@gantry/service-kit'
import type { UserCommand } from '../user/user.decide.ts'
import type { UserDocument } from '../user/user.projection.ts'
import type { ChangeUser } from '../user/user.routes.ts'
import type { UserEvent, UserState } from '../user/user.ts'
import type { LoginTokens } from './login-token.ts'
import { wrongCredentials } from './logins.ts'
import type { Passwords } from './password.ts'
import type { Logins } from './record-login.ts'

export interface LoginRoutes {
  changeUser: ChangeUser
  user: Aggregate<UserState, UserCommand, UserEvent>
  users: Collection<UserDocument>
  logins: Logins
  passwords: Passwords
  loginTokens: LoginTokens
}

/** Stands for every user who does not exist: it never will. */
const NOBODY = '00000000-0000-0000-0000-000000000000'
/**
 * A refusal takes this long after the password was checked, which hides whether it was noted in the log, and whether
 * it was the right one of a user who is locked.
 */
const REFUSED_AFTER_MS = 50

export function loginRoutes(
  route: AddRoute,
  { changeUser, user, users, logins, passwords, loginTokens }: LoginRoutes,
) {
  // One way for all who knock, so that it takes as long for a name that nobody has, and for a user who is locked.
  route(login, async ({ body, metadata }) => {
    const { password } = body
    const username = normalUsername(body.username)
    const [found] = await users.list({ where: { username }, limit: 1 })
    const id = found?.doc.id ?? NOBODY
    const { state } = await user.load(id)
    const checkedAgainst = state.status === 'Live' ? state.passwordHash : null
    const correct = await passwords.verify(password, checkedAgainst)
    const actor = correct ? { id, name: username } : metadata.actor
    const command = {
      type: 'LogIn' as const,
      metadata: { ...metadata, actor },
      username,
      checkedAgainst,
      correct,
    }
    const pause = setTimeout(REFUSED_AFTER_MS)
    const refused = async (reason: unknown) => {
      await pause
      throw reason
    }
    const { state: loggedIn } = await logins.record(id, command).catch(refused)
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
    const last = kind === 'login' ? undefined : await logins.last(userId, metadata.now)
    await changeUser(userId, { type: 'LogOut', metadata, ...(last && { last }) })
    return { status: 204 }
  })
}
