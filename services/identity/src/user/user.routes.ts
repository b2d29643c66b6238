import {
  createUser,
  deleteUser,
  getUser,
  listUsers,
  normalUsername,
  Refusal,
  unlockUser,
  updateUser,
} from '@gantry/contracts'
import type { Executed } from '@gantry/event-sourcing'
import { type AddRoute, listing, page } from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import type { Passwords } from '../password/password.ts'
import type { LoginState } from './login-state.ts'
import type { UserCommand } from './user.decide.ts'
import { type LockDocument, type UserDocument, userRecord } from './user.projection.ts'
import type { UserEvent, UserState } from './user.ts'

/** Executes a command on a user. Before it returns, it notifies processes with cached principals and names. */
export type ChangeUser = (id: string, command: UserCommand) => Promise<Executed<UserState, UserEvent>>

export interface UserRoutes {
  changeUser: ChangeUser
  users: Collection<UserDocument>
  locks: Collection<LockDocument>
  /** State after the last event of the user's logins. */
  lastLogin(id: string): Promise<LoginState>
  passwords: Passwords
  now(): Date
}

export function userRoutes(
  route: AddRoute,
  { changeUser, users, locks, lastLogin, passwords, now }: UserRoutes,
): void {
  route(listUsers, async ({ query, metadata }) => {
    const { role, status } = query
    const username = query.username && normalUsername(query.username)
    const { items, total } = await users.find(listing(query, { username, role, status }))
    const ofPage = await locks.getMany(items.map(({ doc }) => doc.id))
    const lockOf = new Map(ofPage.map(({ doc }) => [doc.id, doc]))
    const content = items.map(({ doc }) => userRecord(doc, lockOf.get(doc.id), metadata.now))
    return { status: 200, body: page(content, total, query) }
  })

  route(getUser, async ({ params }) => ({ status: 200, ...(await current(params.user_id)) }))

  route(createUser, async ({ body, creationMetadata: metadata, principal, newId }) => {
    const id = newId()
    const { password, ...input } = body
    const passwordHash = password === null ? null : await passwords.hash(password)
    await changeUser(id, { type: 'CreateUser', metadata, by: principal, id, input, passwordHash })
    return { status: 201, ...(await current(id)), location: `/users/${id}` }
  })

  route(updateUser, async ({ params, body, metadata, principal, ifMatch }) => {
    const { password, ...input } = body
    const passwordHash = password === null ? null : await passwords.hash(password)
    await changeUser(params.user_id, {
      type: 'UpdateUser',
      metadata,
      by: principal,
      ifMatch,
      input,
      passwordHash,
    })
    return { status: 200, ...(await current(params.user_id)) }
  })

  route(deleteUser, async ({ params, metadata, principal, ifMatch }) => {
    await changeUser(params.user_id, { type: 'DeleteUser', metadata, by: principal, ifMatch })
    return { status: 204 }
  })

  route(unlockUser, async ({ params, metadata, principal }) => {
    const last = await lastLogin(params.user_id)
    await changeUser(params.user_id, { type: 'UnlockUser', metadata, by: principal, last })
    return { status: 200, ...(await current(params.user_id)) }
  })

  const current = async (id: string) => {
    const [stored, lock] = await Promise.all([users.get(id), locks.get(id)])
    if (!stored) throw new Refusal('user-not-found')
    const body = userRecord(stored.doc, lock?.doc, now().toISOString())
    return { body, revision: stored.doc.recordRevision, variant: body.lockedUntil }
  }
}
