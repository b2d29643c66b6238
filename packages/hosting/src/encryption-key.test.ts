import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteEventStore } from '@gantry/embedded'
import type { EventStore } from '@gantry/event-sourcing'
import { appendFrozenStreams } from '@gantry/event-sourcing/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkEncryptionKey } from './encryption-key.ts'

const KEY = Buffer.alloc(32, 1)
const OTHER = Buffer.alloc(32, 2)
const about = { service: 'catalog', now: () => new Date('2026-11-21T10:00:00.000Z') }
const REFUSED = /^ENCRYPTION_KEY: is not the key that this log was created with/

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
  await checkEncryptionKey(eventStore, KEY, about)
  await checkEncryptionKey(eventStore, KEY, about)
  const head = await eventStore.head()
  await expect(checkEncryptionKey(eventStore, OTHER, about)).rejects.toThrow(REFUSED)
  expect(await eventStore.head()).toBe(head)
})

test('if processes with different keys start together, only those with one of the keys continue', async () => {
  const outcomes = await Promise.allSettled(
    [KEY, OTHER, KEY, OTHER].map(key => checkEncryptionKey(eventStore, key, about)),
  )
  const [first, second, third, fourth] = outcomes.map(({ status }) => status)
  expect([first, third]).toEqual([first, first])
  expect([second, fourth]).toEqual([second, second])
  expect(new Set([first, second])).toEqual(new Set(['fulfilled', 'rejected']))
})

test('the key itself is not in the log', async () => {
  await checkEncryptionKey(eventStore, KEY, about)
  const [event] = await eventStore.readStream('encryptionkey-fingerprint')
  expect(event?.data).toEqual({ fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) })
})

test('a log created by an older commit accepts its key and refuses every other key', async () => {
  const folder = join(import.meta.dirname, 'frozen')
  await appendFrozenStreams(eventStore, folder, '7b623df', ['encryptionkey'])
  const head = await eventStore.head()
  await checkEncryptionKey(eventStore, Buffer.alloc(32, 7), about)
  expect(await eventStore.head()).toBe(head)
  await expect(checkEncryptionKey(eventStore, OTHER, about)).rejects.toThrow(REFUSED)
})
