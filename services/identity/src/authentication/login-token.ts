import type { KeyObject } from 'node:crypto'
import { type CryptoKey, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { ALGORITHM } from '../signingkey/key-material.ts'
import type { SigningKeys } from '../signingkey/keys.ts'
import { refusalOfToken, unauthenticated } from './unauthenticated.ts'

/** Issuer and audience of login tokens. */
export const GANTRY = 'gantry'
const LIFETIME_SECONDS = 3_600

/** Claims of a login token. The role is not among them but looked up, so that a change of it takes effect at once. */
const Claims = z.object({
  sub: z.uuid(),
  /** Generation of login tokens. The token is revoked once the user has a higher one. */
  gen: z.int(),
  exp: z.number(),
  /** Unique id of the token. */
  jti: z.string(),
})

interface LoginSubject {
  userId: string
  generation: number
}

export interface LoginTokens {
  issue(subject: LoginSubject): Promise<string>
  /** Checks signature and lifetime, but not whether the token was revoked. @throws Refusal unauthenticated */
  verify(token: string): Promise<LoginSubject & { expiresAt: number; credentialId: string }>
}

export const loginTokens = ({
  keys,
  now,
  newId,
}: {
  keys: Pick<SigningKeys, 'verifying'> & {
    current(): Promise<{ kid: string; privateKey: KeyObject | CryptoKey }>
  }
  now(): Date
  newId(): string
}): LoginTokens => ({
  async issue({ userId, generation }) {
    const { kid, privateKey } = await keys.current()
    const seconds = Math.floor(now().getTime() / 1000)
    return new SignJWT({ gen: generation })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' })
      .setIssuer(GANTRY)
      .setAudience(GANTRY)
      .setSubject(userId)
      .setJti(newId())
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + LIFETIME_SECONDS)
      .sign(privateKey)
  },
  async verify(token) {
    const key = async ({ kid }: { kid?: string }) => {
      const known = kid === undefined ? undefined : await keys.verifying(kid)
      if (!known) throw unauthenticated('the login token is signed with a key that is not in use')
      return known
    }
    try {
      const { payload } = await jwtVerify(token, key, {
        issuer: GANTRY,
        audience: GANTRY,
        algorithms: [ALGORITHM],
        currentDate: now(),
      })
      const claims = Claims.safeParse(payload)
      if (!claims.success) throw unauthenticated('the login token is not valid')
      const { sub, gen, exp, jti } = claims.data
      return { userId: sub, generation: gen, expiresAt: exp * 1000, credentialId: jti }
    } catch (error) {
      throw refusalOfToken(error, 'login token')
    }
  },
})
