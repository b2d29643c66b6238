import { Refusal } from '@gantry/event-sourcing'

/** RFC 6750 §2.1; the scheme in any case (RFC 9110 §11.1). */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i

/**
 * The credential of an Authorization header.
 * @throws Refusal unauthenticated, saying what to send
 */
export function credentialIn(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw new Refusal('unauthenticated', {
      detail:
        'The header Authorization is missing: send Bearer and a token from POST /login or POST /accessTokens',
    })
  }
  const credential = BEARER.exec(authorization)?.[1]
  if (credential === undefined) {
    throw new Refusal('unauthenticated', { detail: 'The header Authorization must be Bearer and one token' })
  }
  return credential
}
