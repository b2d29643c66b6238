import { join } from 'node:path'
import { requests, subjects } from '@gantry/contracts'
import { sqliteBus, sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import type { EventStore } from '@gantry/event-sourcing'
import { plainKey } from '@gantry/service-runtime'
import { administrator } from '@gantry/service-runtime/testing'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { IdentityService } from '../app.ts'
import { cheapIdentity, hostIdentity, type IdentityHost, MINUTE } from '../testing/identity-host.ts'

const DAY = 24 * 60 * MINUTE

let identity: IdentityHost
afterEach(() => identity.close())

const service = () => identity.host.service
const kidOf = (token: string) => decodeProtectedHeader(token).kid
const published = async () => (await identity.as(administrator).get('/.well-known/jwks.json')).body
const kids = async () => (await published()).keys.map((key: { kid: string }) => key.kid)
const audited = async () => {
  const { body } = await identity
    .as(administrator)
    .get('/auditLog?resource=SIGNING_KEY&size=100&sort=timestamp,asc')
  return body.content.map((record: { action: string; user: { username?: string } }) => record)
}

/** The keys of login tokens as `GET /signingKeys` shows them. */
const shown = async () => {
  const { body } = await identity.as(administrator).get('/signingKeys')
  const keys: Record<string, string>[] = body
  return keys
    .filter(({ purpose }) => purpose === 'LOGIN')
    .map(({ kid, status, acceptedUntil }) => ({ kid, status, acceptedUntil }))
}

describe('A rotation', () => {
  beforeEach(async () => {
    identity = await hostIdentity()
  })

  test('publishes the new key before it signs, and the old one until its last token has expired', async () => {
    const [old] = await kids()
    const { kid, signsFrom } = await service().rotateSigningKey()
    expect(Date.parse(signsFrom) - identity.now().getTime()).toBe(10 * MINUTE)
    expect(await kids()).toEqual([old, kid])
    const acceptedUntil = new Date(Date.parse(signsFrom) + 120 * MINUTE).toISOString()
    expect(await shown()).toEqual([
      { kid, status: 'NEXT', acceptedUntil: null },
      { kid: old, status: 'CURRENT', acceptedUntil },
    ])

    const keptByVerifier = createLocalJWKSet(await published())
    expect(kidOf(await identity.loginToken('admin'))).toBe(old)
    identity.pass(10 * MINUTE - 1)
    const last = await identity.loginToken('admin')
    expect(kidOf(last)).toBe(old)
    identity.pass(1)
    const first = await identity.loginToken('admin')
    expect(kidOf(first)).toBe(kid)
    expect((await shown()).map(({ status }) => status)).toEqual(['CURRENT', 'RETIRED'])
    // A verifier that fetched the keys at the rotation can verify tokens of the new key without fetching again.
    await jwtVerify(first, keptByVerifier, { issuer: 'gantry', currentDate: identity.now() })

    identity.pass(60 * MINUTE - 2_000)
    for (const token of [last, first]) expect((await service().authenticate(token)).username).toBe('admin')
    expect(await kids()).toEqual([old, kid])
    identity.pass(60 * MINUTE + 2_000)
    expect(await kids()).toEqual([kid])
  })

  test('can be requested by an operator, is broadcast, is in the audit log with the operator, and has its key sealed', async () => {
    const { bus, process } = identity.host.dependencies
    const told: unknown[] = []
    bus.listen(subjects.keysChanged, change => told.push(change))
    const [old] = await kids()
    const id = '5b1f0f7e-5a53-4b4b-a6a1-6f0a4b1f3c01'
    const request = { id, by: 'operator joan', compromised: false, ring: 'login' } as const
    const rotated = await process.peers.ask(requests.rotateKeys, request)
    expect(told.map(key => ({ ...(key as object), ring: 'login' }))).toEqual([rotated])
    expect(await process.peers.ask(requests.rotateKeys, request)).toEqual(rotated)

    const { kid } = rotated
    const records = await audited()
    expect(
      records.map(({ action, user, resourceId }: Record<string, unknown>) => [action, user, resourceId]),
    ).toEqual([
      ['SIGNING_KEY_CREATED', expect.objectContaining({ username: 'identity' }), old],
      ['SIGNING_KEY_CREATED', expect.objectContaining({ username: 'operator joan' }), kid],
      ['SIGNING_KEY_RETIRED', expect.objectContaining({ username: 'operator joan' }), old],
    ])
    expect(JSON.stringify(records)).not.toMatch(/sealed/i)
    const events = await identity.host.dependencies.eventStore.readStream('signingkey-ring')
    expect(events.map(({ type, data }) => [type, Object.keys(data).sort()])).toEqual([
      ['SigningKeyMade', ['kid', 'madeAt', 'sealedPrivateKey', 'signsFrom', 'x']],
      ['SigningKeyMade', ['kid', 'madeAt', 'sealedPrivateKey', 'signsFrom', 'x']],
      ['SigningKeyRetired', ['kid', 'retiredAt']],
    ])
    expect(JSON.stringify(events)).not.toContain('"d"')
  })
})

describe('On schedule', () => {
  beforeEach(async () => {
    identity = await hostIdentity()
  })
  const rotated = (count: number) => vi.waitFor(async () => expect(await kids()).toHaveLength(count))

  test('a key is rotated when it is old enough, also if no process ran at that time', async () => {
    const [first] = await kids()
    identity.pass(30 * DAY - 1)
    await identity.restart()
    expect(await kids()).toEqual([first])
    identity.pass(1)
    await rotated(2)
    const [, second] = await kids()
    identity.pass(31 * DAY)
    await identity.restart()
    await rotated(2)
    expect((await kids())[0]).toBe(second)
    const records = await audited()
    expect(records.at(-1)).toMatchObject({
      action: 'SIGNING_KEY_RETIRED',
      user: { username: 'key rotation' },
    })
  })
})

describe('A second replica', () => {
  beforeEach(async () => {
    identity = await hostIdentity()
  })

  /** A second instance on the same files, by default with the same encryption key. */
  const replica = async (
    options: { encryptionKey?: Buffer; eventStore?: (store: EventStore) => EventStore } = {},
  ) => {
    const { folder, dependencies } = identity.host
    const stores = {
      eventStore: sqliteEventStore({ path: join(folder, 'events.db') }),
      readModels: sqliteReadModels({ path: join(folder, 'read-models.db') }),
      bus: sqliteBus({ path: join(folder, 'messages.db') }),
    }
    const made = cheapIdentity({
      ...dependencies,
      ...stores,
      eventStore: options.eventStore?.(stores.eventStore) ?? stores.eventStore,
      encryptionKeys: {
        ...dependencies.encryptionKeys,
        ...(options.encryptionKey && plainKey(options.encryptionKey)),
      },
      process: { ...dependencies.process, metrics: new Registry(), holder: 'second' },
      now: identity.now,
    })
    onTestFinished(async () => {
      await made.stop()
      await Promise.all(Object.values(stores).map(store => store.close()))
    })
    return made
  }
  const verifies = async (one: IdentityService, token: string) => (await one.authenticate(token)).username

  test('uses a rotated key at once, whichever replica has rotated it', async () => {
    const second = await replica()
    const before = await identity.loginToken('admin')
    expect(await verifies(second, before)).toBe('admin')
    const { kid } = await second.rotateSigningKey()
    identity.pass(10 * MINUTE)
    const after = await identity.loginToken('admin')
    expect(kidOf(after)).toBe(kid)
    for (const token of [before, after]) expect(await verifies(second, token)).toBe('admin')
  })
})
