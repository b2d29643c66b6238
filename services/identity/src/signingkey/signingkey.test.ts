import { join } from 'node:path'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import {
  auditKeyDecider,
  currentKey,
  type SigningKeyCommand,
  type SigningKeyEvent,
  signingKeyDecider,
} from './signingkey.ts'

const folder = join(import.meta.dirname, '../frozen')
testFrozenStreams({ folder, category: 'signingkey', decider: signingKeyDecider })
testFrozenStreams({ folder, category: 'auditkey', decider: auditKeyDecider })

const NOW = metadata.now
const minutes = (count: number) => new Date(Date.parse(NOW) + count * 60_000).toISOString()
const key = (kid: string) => ({ kid, x: `${kid}-public`, sealedPrivateKey: 'SEALED' })
const made = (kid: string, signsFrom = NOW, madeAt = NOW): SigningKeyEvent => ({
  type: 'SigningKeyMade',
  data: { ...key(kid), madeAt, signsFrom },
})
const retired = (kid: string, retiredAt: string): SigningKeyEvent => ({
  type: 'SigningKeyRetired',
  data: { kid, retiredAt },
})
const revoked = (kid: string): SigningKeyEvent => ({
  type: 'SigningKeyRevoked',
  data: { kid, revokedAt: NOW },
})
const rotate = (kid: string, unlessMadeAfter?: string): SigningKeyCommand => ({
  type: 'RotateSigningKey',
  metadata,
  key: key(kid),
  signsFrom: minutes(10),
  ...(unlessMadeAfter && { unlessMadeAfter }),
})
const { given } = story(signingKeyDecider)
const signs = (events: SigningKeyEvent[], at: string) => currentKey(given(...events).state, at)?.kid

describe('signing keys', () => {
  test('start with one, however many replicas start', () => {
    given()
      .when({ type: 'EnsureSigningKey', metadata, key: key('a') })
      .then(made('a'))
    given(made('a'))
      .when({ type: 'EnsureSigningKey', metadata, key: key('b') })
      .then()
  })

  test('keep signing after their private keys are sealed with another key of ENCRYPTION_KEY', () => {
    const reseal = (...renewed: [string, string][]): SigningKeyCommand => ({
      type: 'ResealSigningKeys',
      metadata,
      renewed: new Map(renewed),
    })
    const event: SigningKeyEvent = {
      type: 'SigningKeyResealed',
      data: { kid: 'a', sealedPrivateKey: '1.SEALED' },
    }
    given(made('a'))
      .when(reseal(['SEALED', '1.SEALED']))
      .then(event)
    given(made('a'), event)
      .when(reseal(['SEALED', '1.SEALED']))
      .then()
    given(made('a'))
      .when(reseal(['SEALED', 'SEALED']))
      .then()
    given()
      .when(reseal(['SEALED', '1.SEALED']))
      .then()
    expect(given(made('a'), event).state.keys).toMatchObject([{ kid: 'a', sealedPrivateKey: '1.SEALED' }])
    expect(signs([made('a'), event], NOW)).toBe('a')
  })

  test('are rotated in one append, which adds the new key before it signs', () => {
    given(made('a'))
      .when(rotate('b'))
      .then(made('b', minutes(10)), retired('a', minutes(10)))
    const events = [made('a'), made('b', minutes(10)), retired('a', minutes(10))]
    expect([minutes(0), minutes(9), minutes(10), minutes(11)].map(at => signs(events, at))).toEqual([
      'a',
      'a',
      'b',
      'b',
    ])
  })

  test('are not rotated while the newest does not sign yet', () => {
    given(made('a'), made('b', minutes(10)), retired('a', minutes(10)))
      .when(rotate('c'))
      .then()
  })

  test('are all revoked when they are compromised, also one that does not sign yet', () => {
    const replace: SigningKeyCommand = { type: 'ReplaceSigningKeys', metadata, key: key('c') }
    const before = [made('a'), made('b', minutes(10)), retired('a', minutes(10))]
    given(...before)
      .when(replace)
      .then(made('c'), revoked('a'), revoked('b'))
    const after = [...before, made('c'), revoked('a'), revoked('b')]
    expect([minutes(-1), minutes(0), minutes(20)].map(at => signs(after, at))).toEqual(['c', 'c', 'c'])
  })
})
