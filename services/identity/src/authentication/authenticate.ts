import { normalUsername, type Principal, ROLE_SCOPES, type Role, type Scope } from '@gantry/contracts'
import type { Collection } from '@gantry/stores'
import { decodeJwt } from 'jose'
import { z } from 'zod'
import type { UserCiphers } from '../personal-data/user-ciphers.ts'
import { hashOf, isSecret, PREFIX } from '../token/secret.ts'
import type { TokenDocument } from '../token/token.projection.ts'
import { type LiveToken, type TokenAggregate, useIsDue } from '../token/token.ts'
import type { UserAggregate } from '../user/user.decide.ts'
import type { UserDocument } from '../user/user.projection.ts'
import type { LiveUser } from '../user/user.ts'
import { GANTRY, type LoginTokens } from './login-token.ts'
import type { PlatformTokens } from './platform-token.ts'
import { unauthenticated } from './unauthenticated.ts'

/**
 * Determines the principal of a credential: the user and the scopes. Users and tokens are read from the log, not from read
 * models, so that everything that was revoked before the call is refused.
 * @throws Refusal unauthenticated
 */
export type Authenticate = (credential: string) => Promise<Principal>

export interface Authentication {
  user: UserAggregate
  users: Collection<UserDocument>
  token: TokenAggregate
  tokens: Collection<TokenDocument>
  loginTokens: LoginTokens
  platformTokens: PlatformTokens | undefined
  /** Records the use of a token in the background. */
  noteUse(used: LiveToken, by: LiveUser): void
  now(): Date
}

const Uuid = z.uuid()

export function authenticator(authentication: Authentication): Authenticate {
  const { user, users, token, tokens, loginTokens, platformTokens, noteUse, now } = authentication

  const byAccessToken = async (secret: string): Promise<Principal> => {
    if (!isSecret(secret)) throw unauthenticated('the access token is malformed')
    const [found] = await tokens.list({ where: { hash: hashOf(secret) }, limit: 1 })
    const state = await liveToken(token, found?.doc.id)
    const at = now().toISOString()
    const { id, scopes, validUntil } = state.record
    if (validUntil <= at) throw unauthenticated('the access token has expired')
    const owner = await activeUser(user, state.userId)
    if (useIsDue(state.record, at)) noteUse(state, owner)
    return {
      ...principalOf(owner, scopes),
      kind: 'accessToken',
      tokenId: id,
      credentialId: id,
      expiresAt: Date.parse(validUntil),
    }
  }

  const byLoginToken = async (credential: string): Promise<Principal> => {
    const { userId, generation, expiresAt, credentialId } = await loginTokens.verify(credential)
    const owner = await activeUser(user, userId)
    if (owner.generation !== generation) throw unauthenticated('the login token is revoked')
    return { ...principalOf(owner), kind: 'login', tokenId: null, credentialId, expiresAt }
  }

  const byPlatformToken = async (credential: string): Promise<Principal> => {
    if (!platformTokens) throw unauthenticated('the issuer of the token is unknown')
    const { user: idOrName, expiresAt } = await platformTokens.verify(credential)
    const [named] = Uuid.safeParse(idOrName).success
      ? []
      : await users.list({ where: { username: normalUsername(idOrName) }, limit: 1 })
    const owner = await activeUser(user, named?.doc.id ?? idOrName)
    return {
      ...principalOf(owner),
      kind: 'platform',
      tokenId: null,
      credentialId: hashOf(credential),
      expiresAt,
    }
  }

  return async credential => {
    if (credential.startsWith(PREFIX)) return byAccessToken(credential)
    return issuerOf(credential) === GANTRY ? byLoginToken(credential) : byPlatformToken(credential)
  }
}

/** Adds the network address of the caller, sealed with the key of the user. */
export const withAddress =
  (authenticate: Authenticate, ciphers: Pick<UserCiphers, 'sealAddress'>) =>
  async ({ credential, address }: { credential: string; address: string }): Promise<Principal> => {
    const principal = await authenticate(credential)
    const sealed = await ciphers.sealAddress(principal.userId, address)
    return { ...principal, ...(sealed !== null && { address: sealed }) }
  }

/** The user of a credential, read from the log. @throws Refusal unauthenticated unless the user exists and is active */
export async function activeUser(user: UserAggregate, id: string): Promise<LiveUser> {
  const { state } = await user.load(id.toLowerCase())
  if (state.status !== 'Live') throw unauthenticated('the user of the credential does not exist')
  if (state.record.status === 'INACTIVE') throw unauthenticated('the user of the credential is inactive')
  return state
}

/**
 * An access token, read from the log.
 * @param id undefined if no access token has the secret
 * @throws Refusal unauthenticated unless the token exists and is not revoked
 */
export async function liveToken(token: TokenAggregate, id: string | undefined): Promise<LiveToken> {
  const state = id === undefined ? undefined : (await token.load(id)).state
  if (state?.status !== 'Live') throw unauthenticated('the access token is unknown or revoked')
  return state
}

/** The scopes of a role, limited to the scopes of the credential if it has any. */
export const effectiveScopes = (role: Role, granted?: readonly Scope[]): Scope[] =>
  ROLE_SCOPES[role].filter(scope => granted?.includes(scope) ?? true)

const principalOf = ({ record }: LiveUser, granted?: readonly Scope[]) => ({
  userId: record.id,
  username: record.username,
  role: record.role,
  scopes: effectiveScopes(record.role, granted),
})

/** The issuer that an unverified token names, which selects how the token is verified. */
function issuerOf(credential: string): unknown {
  try {
    return decodeJwt(credential).iss
  } catch {
    throw unauthenticated('the credential is neither an access token nor a JSON Web Token')
  }
}
