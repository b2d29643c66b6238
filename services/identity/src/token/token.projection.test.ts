import { documentIn, projecting } from '@gantry/event-sourcing/testing'
import { test } from 'vitest'
import { projectToken, type TokenDocument, tokens } from './token.projection.ts'
import { type TokenEvent, tokenDecider } from './token.ts'

const ID = '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10'
const { given } = projecting(tokenDecider, projectToken, ID)
const token = {
  id: ID,
  name: 'ci',
  scopes: ['api:read' as never],
  createdAt: '2026-11-21T10:00:00.000Z',
  validUntil: '2026-12-21T10:00:00.000Z',
  userId: '22222222-2222-4222-8222-222222222222',
  hash: 'h1',
}
const created: TokenEvent = { type: 'TokenCreated', data: token }
const used = (at: string): TokenEvent => ({ type: 'TokenUsed', data: { at } })
const document = (lastUsedAt: TokenDocument['lastUsedAt']) => documentIn(tokens, { ...token, lastUsedAt })

test('the document of a token has its owner, its hash and its last use', () => {
  given(created).then(document(null))
  given(created, used('2026-11-21T11:00:00.000Z'), used('2026-11-21T12:00:00.000Z')).then(
    document('2026-11-21T12:00:00.000Z'),
  )
})

test('a revoked token has no document', () => {
  given(created, { type: 'TokenRevoked', data: { at: '2026-11-21T11:00:00.000Z' } }).then()
})
