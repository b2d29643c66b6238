import {
  createAccessToken,
  deleteAccessToken,
  deleteUserAccessToken,
  deleteUserAccessTokens,
  getAccessToken,
  getUserAccessToken,
  listAccessTokens,
  listUserAccessTokens,
  type Parsed,
  type Principal,
  Refusal,
} from '@gantry/contracts'
import type { Executed } from '@gantry/event-sourcing'
import { type AddRoute, listing, page } from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import { requireRole, type UserAggregate } from '../user/user.decide.ts'
import { hashOf, secretOf } from './secret.ts'
import { type TokenDocument, tokenRecord } from './token.projection.ts'
import type { TokenCommand, TokenEvent, TokenState } from './token.ts'

/** Executes a command on a token. Before it returns, it notifies processes with cached principals of a revocation. */
export type ChangeToken = (id: string, command: TokenCommand) => Promise<Executed<TokenState, TokenEvent>>

export interface TokenRoutes {
  changeToken: ChangeToken
  tokens: Collection<TokenDocument>
  user: UserAggregate
}

/** Routes for the caller's own tokens, and for administrators those of users with no role above their own. */
export function tokenRoutes(route: AddRoute, { changeToken, tokens, user }: TokenRoutes): void {
  route(createAccessToken, async ({ body, principal, creationMetadata: metadata, newId, secretBytes }) => {
    const id = newId()
    const secret = secretOf(secretBytes(32))
    const { userId, scopes: callerScopes } = principal
    const hash = hashOf(secret)
    await changeToken(id, { type: 'CreateToken', metadata, id, userId, ...body, callerScopes, hash })
    const record = await own(id, userId)
    return { status: 201, body: { ...record, token: secret }, location: `/accessTokens/${id}` }
  })

  route(listAccessTokens, async ({ query, principal }) => ({
    status: 200,
    body: await pageOf(principal.userId, query),
  }))

  route(getAccessToken, async ({ params, principal }) => ({
    status: 200,
    body: await own(params.id, principal.userId),
  }))

  route(deleteAccessToken, async ({ params, principal, metadata }) => {
    await changeToken(params.id, { type: 'RevokeToken', metadata, userId: principal.userId })
    return { status: 204 }
  })

  route(listUserAccessTokens, async ({ params, query, principal }) => {
    await requireUser(params.user_id, principal)
    return { status: 200, body: await pageOf(params.user_id, query) }
  })

  route(getUserAccessToken, async ({ params, principal }) => {
    await requireUser(params.user_id, principal)
    return { status: 200, body: await own(params.id, params.user_id) }
  })

  route(deleteUserAccessToken, async ({ params, principal, metadata }) => {
    await requireUser(params.user_id, principal)
    await changeToken(params.id, { type: 'RevokeToken', metadata, userId: params.user_id })
    return { status: 204 }
  })

  route(deleteUserAccessTokens, async ({ params, principal, metadata }) => {
    const userId = params.user_id
    await requireUser(userId, principal)
    for (;;) {
      const found = await tokens.list({ where: { userId }, limit: 100 })
      if (found.length === 0) return { status: 204 }
      for (const { doc } of found) await changeToken(doc.id, { type: 'RevokeToken', metadata, userId })
    }
  })

  /** @throws Refusal user-not-found, role-missing when the role of the user is above that of the caller */
  const requireUser = async (id: string, by: Principal) => {
    const { state } = await user.load(id)
    if (state.status !== 'Live') throw new Refusal('user-not-found')
    requireRole(by, state.record.role)
  }

  const pageOf = async (userId: string, query: Parsed<NonNullable<typeof listAccessTokens.query>>) => {
    const { items, total } = await tokens.find(listing(query, { userId }))
    const records = items.map(({ doc }) => tokenRecord(doc))
    return page(records, total, query)
  }

  const own = async (id: string, userId: string) => {
    const stored = await tokens.get(id)
    if (stored?.doc.userId !== userId) throw new Refusal('access-token-not-found')
    return tokenRecord(stored.doc)
  }
}
