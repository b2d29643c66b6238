import { join } from 'node:path'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import { hashOf, isSecret, secretOf } from './secret.ts'
import { projectToken } from './token.projection.ts'
import { type TokenEvent, tokenDecider } from './token.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'token',
  decider: tokenDecider,
  project: projectToken,
})

const ID = '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10'
const ADA = '7c0b3a52-7d0e-4a53-8a3e-0d9b9f0f7c21'
const NOW = metadata.now
const create = {
  type: 'CreateToken' as const,
  metadata,
  id: ID,
  userId: ADA,
  name: 'pipeline',
  validityDays: 2,
  scopes: ['API_READ' as const, 'API_WRITE' as const],
  callerScopes: ['API_READ' as const, 'API_WRITE' as const, 'USER_READ' as const],
  hash: 'SECRET',
}
const created: TokenEvent = {
  type: 'TokenCreated',
  data: {
    id: ID,
    name: 'pipeline',
    scopes: ['API_READ', 'API_WRITE'],
    createdAt: NOW,
    validUntil: '2026-11-23T10:00:00.000Z',
    userId: ADA,
    hash: 'SECRET',
  },
}
const revoked: TokenEvent = { type: 'TokenRevoked', data: { at: NOW } }
const usedAt = (at: string): TokenEvent => ({ type: 'TokenUsed', data: { at } })
const noteUse = (now: string) => ({ type: 'NoteUse' as const, metadata: { ...metadata, now } })
const { given } = story(tokenDecider)

describe('an access token', () => {
  test('is valid for the requested number of days', () => {
    given().when(create).then(created)
  })
  test('cannot have a scope that its creator does not have', () => {
    given()
      .when({ ...create, callerScopes: ['API_READ'] })
      .thenRefused('scopes-exceeded')
  })
  test('can be revoked once, and only by its owner', () => {
    given(created).when({ type: 'RevokeToken', metadata, userId: ADA }).then(revoked)
    given(created)
      .when({ type: 'RevokeToken', metadata, userId: 'grace' })
      .thenRefused('access-token-not-found')
    given(created, revoked)
      .when({ type: 'RevokeToken', metadata, userId: ADA })
      .thenRefused('access-token-not-found')
    given().when({ type: 'RevokeToken', metadata, userId: ADA }).thenRefused('access-token-not-found')
  })
  test('has its first use recorded, and further uses every ten minutes', () => {
    given(created).when(noteUse(NOW)).then(usedAt(NOW))
    given(created, usedAt(NOW)).when(noteUse('2026-11-21T10:09:59.999Z')).then()
    given(created, usedAt(NOW))
      .when(noteUse('2026-11-21T10:10:00.000Z'))
      .then(usedAt('2026-11-21T10:10:00.000Z'))
    given(created, revoked).when(noteUse(NOW)).then()
  })
})

describe('the secret of an access token', () => {
  const secret = secretOf(Buffer.alloc(32, 1))

  test('is determined by the bytes, and always has the same length', () => {
    expect(secret).toBe(secretOf(Buffer.alloc(32, 1)))
    expect(secret).toMatch(/^pat_[0-9A-Za-z]{49}$/)
    expect(secretOf(Buffer.alloc(32, 0))).toMatch(/^pat_0{43}[0-9A-Za-z]{6}$/)
    expect(secretOf(Buffer.alloc(32, 255))).toMatch(/^pat_[0-9A-Za-z]{49}$/)
  })
  test('differs if one bit differs', () => {
    const bytes = Buffer.alloc(32, 1)
    bytes[31] = 0
    expect(secretOf(bytes)).not.toBe(secret)
    expect(hashOf(secretOf(bytes))).not.toBe(hashOf(secret))
  })
  test('is recognized, and a mistyped, shortened or extended one is not', () => {
    expect(isSecret(secret)).toBe(true)
    const mistyped = `${secret.slice(0, 10)}${secret[10] === 'A' ? 'B' : 'A'}${secret.slice(11)}`
    for (const other of [mistyped, secret.slice(0, -1), `${secret}0`, secret.slice(4), 'pat_', ''])
      expect(isSecret(other)).toBe(false)
  })
})
