import { changePassword, invalidField, Refusal } from '@gantry/contracts'
import type { CommandMetadata } from '@gantry/event-sourcing'
import type { AddRoute } from '@gantry/service-runtime'
import { activeUser } from '../authentication/authenticate.ts'
import type { LoginTokens } from '../authentication/login-token.ts'
import { type LogIn, type Logins, loginDecider } from '../login/logins.ts'
import type { Passwords } from '../password/password.ts'
import type { UserAggregate } from '../user/user.decide.ts'
import type { ChangeUser } from '../user/user.routes.ts'

export interface PasswordRoutes {
  changeUser: ChangeUser
  user: UserAggregate
  logins: Logins
  passwords: Passwords
  loginTokens: LoginTokens
}

export function passwordRoutes(
  route: AddRoute,
  { changeUser, user, logins, passwords, loginTokens }: PasswordRoutes,
): void {
  route(changePassword, async ({ body, principal: { userId: id, kind }, metadata, request }) => {
    const { record, passwordHash: checkedAgainst } = await activeUser(user, id)
    if (record.sso) throw new Refusal('sso-login-only')
    const client = { address: request.ip, name: record.username }
    const correct = await passwords.verify(body.password, checkedAgainst, client)
    const checked = { id, metadata, checkedAgainst }
    await requirePassword(checked, correct)
    const passwordHash = await passwords.hash(body.newPassword)
    await changeUser(id, { type: 'ChangePassword', metadata, checkedAgainst, passwordHash })
    if (kind !== 'login') return { status: 204 }
    const { generation } = await logIn({ id, metadata, checkedAgainst: passwordHash })
    const token = await loginTokens.issue({ userId: id, generation })
    return { status: 204, headers: { authorization: `Bearer ${token}`, 'cache-control': 'no-store' } }
  })

  /** A wrong password counts as that of a login, and a locked user cannot tell whether it is wrong. */
  const requirePassword = async (checked: Checked, correct: boolean) => {
    try {
      const command = await logInWith(checked, correct)
      if (correct) loginDecider.decide((await logins.load(checked.id)).state, command)
      else await logins.execute(checked.id, command)
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'wrong-credentials')) throw error
      throw wrong()
    }
    if (!correct) throw wrong()
  }

  /** Records that the caller goes on with a new login. */
  const logIn = async (checked: Checked) => {
    const command = await logInWith(checked, true)
    await logins.execute(checked.id, command)
    return activeUser(user, checked.id)
  }

  const logInWith = async ({ id, metadata, checkedAgainst }: Checked, correct: boolean): Promise<LogIn> => {
    const known = await user.load(id)
    const username = known.state.status === 'Live' ? known.state.record.username : ''
    return { type: 'LogIn', metadata, user: known, username, checkedAgainst, correct }
  }
}

interface Checked {
  id: string
  metadata: CommandMetadata
  checkedAgainst: string | null
}

const wrong = () =>
  invalidField('password', 'is wrong. Five wrong passwords in a row lock a user for 15 minutes')
