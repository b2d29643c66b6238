import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteEventStore } from '@gantry/embedded'
import type { EventStore } from '@gantry/event-sourcing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ownMetadata } from '../service/service.ts'
import { type EncryptionKeys, parseEncryptionKeys, plainKey } from './encryption-keys.ts'
import { retireEncryptionKeys, useEncryptionKeys } from './keys-in-use.ts'

const bytes = (n: number) => Buffer.alloc(32, n)
const KEY = plainKey(bytes(1))
const OTHER = plainKey(bytes(2))
const keys = (...elements: [string, number][]) =>
  parseEncryptionKeys(elements.map(([id, n]) => `${id}:${bytes(n).toString('base64')}`).join(','))
const metadata = () => ownMetadata({ now: () => new Date(), newId: randomUUID }, 'catalog')
const REFUSED =
  'ENCRYPTION_KEY: lacks key 0, which secrets of this log are encrypted with; nothing was changed'

const check = (of: EncryptionKeys) => useEncryptionKeys(eventStore, of, metadata())

let folder: string
let eventStore: EventStore
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-key-'))
  eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
})
afterEach(async () => {
  await eventStore.close()
  await rm(folder, { recursive: true })
})

test('the first key is recorded in the log, and every other key is refused', async () => {
  await check(KEY)
  await check(KEY)
  const head = await eventStore.head()
  await expect(check(OTHER)).rejects.toThrow(REFUSED)
  expect(await eventStore.head()).toBe(head)
})

test('if processes with different keys start together, only those with one of the keys continue', async () => {
  const outcomes = await Promise.allSettled([KEY, OTHER, KEY, OTHER].map(key => check(key)))
  const [first, second, third, fourth] = outcomes.map(({ status }) => status)
  expect([first, third]).toEqual([first, first])
  expect([second, fourth]).toEqual([second, second])
  expect(new Set([first, second])).toEqual(new Set(['fulfilled', 'rejected']))
})

test('the key itself is not in the log', async () => {
  await check(KEY)
  const [event] = await eventStore.readStream('encryptionkey-fingerprint')
  expect(event?.data).toEqual({ id: '0', fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) })
})

test('keys are accepted if every key in use is among them, and a missing one is named', async () => {
  await check(KEY)
  const both = keys(['0', 1], ['1', 2])
  await check(both)
  await check(KEY)
  const next = keys(['1', 2], ['0', 1])
  await check(next)
  await check(both)
  const head = await eventStore.head()
  await expect(check(KEY)).rejects.toThrow('ENCRYPTION_KEY: lacks key 1')
  await expect(check(keys(['1', 2]))).rejects.toThrow('ENCRYPTION_KEY: lacks key 0')
  await expect(check(keys(['1', 3], ['0', 1]))).rejects.toThrow('ENCRYPTION_KEY: lacks key 1')
  expect(await eventStore.head()).toBe(head)

  expect(await retireEncryptionKeys(eventStore, next, metadata())).toEqual(['0'])
  expect(await retireEncryptionKeys(eventStore, next, metadata())).toEqual([])
  await check(keys(['1', 2]))
  await expect(check(both)).resolves.toBeUndefined()
  await expect(check(keys(['1', 2]))).rejects.toThrow('ENCRYPTION_KEY: lacks key 0')
})

test('replicas that first use the same key record it once', async () => {
  await check(KEY)
  await Promise.all([1, 2, 3].map(() => check(keys(['1', 2], ['0', 1]))))
  expect(await eventStore.readStream('encryptionkey-fingerprint')).toHaveLength(2)
})
