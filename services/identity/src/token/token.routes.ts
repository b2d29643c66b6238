import {
  createAccessToken,
  deleteAccessToken,
  getAccessToken,
  listAccessTokens,
  Refusal,
} from '@gantry/contracts'
import type { Executed } from '@gantry/event-sourcing'
import { type AddRoute, listing, page } from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import { hashOf, secretOf } from './secret.ts'
import { type TokenDocument, tokenRecord } from './token.projection.ts'
import type { TokenCommand, TokenEvent, TokenState } from './token.ts'

/** Executes a command on a token. Before it returns, it notifies processes with cached principals of a revocation. */
export type ChangeToken = (id: string, command: TokenCommand) => Promise<Executed<TokenState, TokenEvent>>

/** Routes for the caller's own tokens. Tokens of other users are answered with 404. */
export function tokenRoutes(
  route: AddRoute,
  { changeToken, tokens }: { changeToken: ChangeToken; tokens: Collection<TokenDocument> },
): void {
  route(createAccessToken, async ({ body, principal, creationMetadata: metadata, newId, secretBytes }) => {
    const id = newId()
    const secret = secretOf(secretBytes(32))
    const { userId, scopes: callerScopes } = principal
    const hash = hashOf(secret)
    await changeToken(id, { type: 'CreateToken', metadata, id, userId, ...body, callerScopes, hash })
    const record = await own(id, userId)
    return { status: 201, body: { ...record, token: secret }, location: `/accessTokens/${id}` }
  })

  route(listAccessTokens, async ({ query, principal }) => {
    const { items, total } = await tokens.find(listing(query, { userId: principal.userId }))
    const content = items.map(({ doc }) => tokenRecord(doc))
    return { status: 200, body: page(content, total, query) }
  })

  route(getAccessToken, async ({ params, principal }) => ({
    status: 200,
    body: await own(params.id, principal.userId),
  }))

  route(deleteAccessToken, async ({ params, principal, metadata }) => {
    await changeToken(params.id, { type: 'RevokeToken', metadata, userId: principal.userId })
    return { status: 204 }
  })

  const own = async (id: string, userId: string) => {
    const stored = await tokens.get(id)
    if (stored?.doc.userId !== userId) throw new Refusal('access-token-not-found')
    return tokenRecord(stored.doc)
  }
}
