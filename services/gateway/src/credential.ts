import { hash } from 'node:crypto'
import type { Socket } from 'node:net'
import { Refusal } from '@gantry/event-sourcing'
import type { FastifyRequest } from 'fastify'

export interface Credential {
  /** What the header was. */
  authorization: string
  token: string
  /** Stands for the token where it is remembered: who reads that memory finds no secrets in it. */
  digest: string
}

/** RFC 6750 §2.1; the scheme in any case (RFC 9110 §11.1). */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i

/** The last one of each connection: callers who keep theirs open send the same again and again. */
const latest = new WeakMap<Socket, Credential>()

/**
 * The credential in the Authorization header of a request.
 * @throws Refusal unauthenticated, saying what to send
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
