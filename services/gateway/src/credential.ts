import { hash } from 'node:crypto'
import type { Socket } from 'node:net'
import { Refusal } from '@gantry/contracts'
import type { FastifyRequest } from 'fastify'

export interface Credential {
  /** The value of the header. */
  authorization: string
  token: string
  /** SHA-256 of the token: the key in caches, which therefore contain no tokens. */
  digest: string
}

/** RFC 6750 §2.1; the case of the scheme is ignored (RFC 9110 §11.1). */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i

/** The last credential of each connection: clients that keep a connection open repeat it in every request. */
const latest = new WeakMap<Socket, Credential>()

/**
 * The credential in the Authorization header of a request.
 * @throws Refusal unauthenticated when the header is missing or malformed
 */
export function credentialOf({ headers: { authorization }, socket }: FastifyRequest): Credential {
  const before = latest.get(socket)
  if (before !== undefined && before.authorization === authorization) return before
  if (authorization === undefined) {
    throw new Refusal('unauthenticated', {
      detail:
        'The header Authorization is missing: send Bearer and a token from POST /login or POST /accessTokens',
    })
  }
  const token = BEARER.exec(authorization)?.[1]
  if (token === undefined) {
    throw new Refusal('unauthenticated', { detail: 'The header Authorization must be Bearer and one token' })
  }
  const credential = { authorization, token, digest: hash('sha256', token, 'base64') }
  latest.set(socket, credential)
  return credential
}
