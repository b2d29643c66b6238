import { setTimeout } from 'node:timers/promises'
import { inject } from 'vitest'
import type { Answer } from './answer.ts'
import { type Client, clientOf } from './client.ts'
import { admin, anonymous, cleanUp, service, unique } from './gantry.ts'
import type { AccessToken, User } from './records.ts'
import type { RunRole } from './setup.ts'

export const PASSWORD = 'correct horse battery staple'

export const createUser = async (fields: Partial<User> & { password?: string } = {}): Promise<User> => {
  const username = unique('user')
  const user = (
    await admin.post('/users', {
      username,
      displayName: 'A User',
      email: `${username}@example.com`,
      role: 'ADMIN',
      status: 'ACTIVE',
      sso: false,
      password: PASSWORD,
      ...fields,
    })
  ).as<User>(201)
  cleanUp(`/users/${user.id}`)
  return user
}

/** Repeats a login as the service asks when all its threads that hash passwords are busy. */
export async function logIn(username: string, password = PASSWORD): Promise<Answer> {
  for (;;) {
    const answer = await anonymous.post('/login', { username, password })
    if (answer.status !== 429) return answer
    await setTimeout(Number(answer.headers.get('retry-after')) * 1_000)
  }
}

/** A client with the login token of the user. */
export const loggedIn = async ({ username }: User, password = PASSWORD) =>
  clientOf(service, (await logIn(username, password)).is(200).headers.get('authorization') ?? '')

/** A user of the role that all stories share, with a login. Stories neither change them nor log them out. */
export const userWithRole = (role: RunRole) => {
  const { user, password, authorization } = inject('sharedUsers')[role]
  return { user, password, client: clientOf(service, authorization) }
}

export const withToken = (token: string) => clientOf(service, `Bearer ${token}`)

export const createToken = async (
  client: Client,
  scopes: string[],
  fields = {},
): Promise<AccessToken & { token: string }> =>
  (await client.post('/accessTokens', { name: unique('token'), scopes, ...fields })).as(201)

/** A client whose access token has only these scopes. It belongs to the shared administrator, who has all scopes. */
export const scopedTo = async (...scopes: string[]) =>
  withToken((await createToken(userWithRole('GLOBAL_ADMIN').client, scopes)).token)
