import { AuthenticatedUser, getSession, type Principal, type Session } from '@gantry/contracts'
import type { AddRoute } from '@gantry/service-runtime'
import { activeUser, effectiveScopes, liveToken } from '../authentication/authenticate.ts'
import type { TokenAggregate } from '../token/token.ts'
import { type PasswordRoutes, passwordRoutes } from './password.routes.ts'

export interface SessionRoutes extends PasswordRoutes {
  token: TokenAggregate
}

const CREDENTIALS: Readonly<Record<Principal['kind'], Session['credential']>> = {
  login: 'LOGIN',
  accessToken: 'ACCESS_TOKEN',
  platform: 'PLATFORM_JWT',
}

export function sessionRoutes(route: AddRoute, { token, ...others }: SessionRoutes): void {
  const { user } = others
  passwordRoutes(route, others)
  // The user and the access token are read from the log: the gateway may have cached the principal before they changed.
  route(getSession, async ({ principal: { userId, kind, tokenId, expiresAt } }) => {
    const [{ record }, used] = await Promise.all([
      activeUser(user, userId),
      tokenId === null ? null : liveToken(token, tokenId),
    ])
    return {
      status: 200,
      body: {
        user: AuthenticatedUser.parse(record),
        scopes: effectiveScopes(record.role, used?.record.scopes),
        credential: CREDENTIALS[kind],
        accessToken: used && { id: used.record.id, name: used.record.name },
        expiresAt: new Date(expiresAt).toISOString(),
      },
      headers: { 'cache-control': 'no-store' },
    }
  })
}
