import { storyMetadata as metadata, story } from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import { currentKey, type SigningKeyEvent, signingKeyDecider } from './signingkey.ts'

const NOW = metadata.now
const key = (kid: string) => ({ kid, x: `${kid}-public`, sealedPrivateKey: 'SEALED' })
const made = (kid: string): SigningKeyEvent => ({
  type: 'SigningKeyMade',
  data: { ...key(kid), madeAt: NOW },
})
const retired = (kid: string): SigningKeyEvent => ({
  type: 'SigningKeyRetired',
  data: { kid, retiredAt: NOW },
})
const { given } = story(signingKeyDecider)

describe('signing keys', () => {
  test('begin with one, of however many replicas that start', () => {
    given()
      .when({ type: 'EnsureSigningKey', metadata, key: key('a') })
      .then(made('a'))
    given(made('a'))
      .when({ type: 'EnsureSigningKey', metadata, key: key('b') })
      .then()
  })
  test('follow each other in one append, so that one signs at any time', () => {
    given(made('a'))
      .when({ type: 'RotateSigningKey', metadata, key: key('b') })
      .then(made('b'), retired('a'))
    expect(currentKey(given(made('a'), made('b'), retired('a')).state)?.kid).toBe('b')
  })
  test('are told of without their private half', () => {
    const { state } = given(made('a'))
    const change = signingKeyDecider.describe?.(signingKeyDecider.initial, made('a'), state)
    expect(change).toEqual({
      action: 'SIGNING_KEY_CREATED',
      resourceType: 'SIGNING_KEY',
      resourceId: 'a',
      before: null,
      after: { kid: 'a', madeAt: NOW, retiredAt: null },
    })
  })
})
