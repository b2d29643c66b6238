import type { AccessTokenRecord } from '@gantry/contracts'
import { aggregate, type Project, type Projector } from '@gantry/event-sourcing'
import type { Instrumented } from '@gantry/service-runtime'
import { defineCollection } from '@gantry/stores'
import { type TokenAggregate, type TokenEvent, type TokenState, tokenDecider } from './token.ts'

export interface TokenDocument extends AccessTokenRecord {
  userId: string
  /** Hash of the secret, by which the token is found. */
  hash: string
}

export const tokens = defineCollection<TokenDocument>({
  name: 'identity.tokens',
  version: 1,
  fields: {
    userId: 'string',
    hash: 'string',
    name: 'string',
    createdAt: 'string',
    validUntil: 'string',
  },
})

export const projectToken: Project<TokenState, TokenEvent> = (id, { state, revision }) => {
  if (state.status === 'Absent') return []
  const doc = state.status === 'Live' ? { ...state.record, userId: state.userId, hash: state.hash } : null
  return [{ collection: tokens, id, doc, revision }]
}

export const tokenRecord = ({ userId, hash, ...record }: TokenDocument): AccessTokenRecord => record

export const tokenAggregate = (dependencies: Instrumented, projector: Projector): TokenAggregate =>
  aggregate({
    ...dependencies,
    category: 'token',
    decider: tokenDecider,
    view: { projector, project: projectToken },
  })
