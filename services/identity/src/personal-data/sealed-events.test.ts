import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteUserKeys } from '@gantry/embedded'
import { type NewEvent, NO_STREAM } from '@gantry/event-sourcing'
import { inMemoryLog } from '@gantry/event-sourcing/testing'
import { plainKey } from '@gantry/service-kit'
import { expect, onTestFinished, test } from 'vitest'
import { sealedEvents } from './sealed-events.ts'
import { userCiphers } from './user-ciphers.ts'

const ada = { username: 'ada', displayName: 'Ada Byron', email: null }
const event = (type: string): NewEvent => ({
  id: crypto.randomUUID(),
  type,
  data: { ...ada, role: 'USER' },
  metadata: {
    actor: { id: null, name: 'identity' },
    requestId: 'r',
    at: '2026-11-21T10:00:00.000Z',
    schemaVersion: 2,
    change: {
      action: 'USER_CREATED',
      resourceType: 'USER',
      resourceId: 'u',
      before: null,
      after: ada,
    } as never,
  },
})

test('while replicas of the previous release run, users are stored as that release stores them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-keys-'))
  const userKeys = sqliteUserKeys({ path: join(folder, 'user-keys.db') })
  onTestFinished(async () => {
    await userKeys.close()
    rmSync(folder, { recursive: true })
  })
  const log = inMemoryLog().connect()
  const ciphers = userCiphers({ userKeys, encryptionKeys: plainKey(Buffer.alloc(32, 7)) })
  let previousRuns = true
  const users = sealedEvents(log, { ciphers, isSealing: async () => !previousRuns })

  const created = event('UserCreated')
  await users.append('user-u', [created], NO_STREAM)
  const { schemaVersion: _, ...metadata } = created.metadata
  expect(await log.readLast('user-u')).toMatchObject({ data: created.data, metadata })
  expect((await log.readLast('user-u'))?.metadata).not.toHaveProperty('schemaVersion')

  previousRuns = false
  await users.append('user-u', [event('UserUpdated')], 0)
  const stored = await log.readLast('user-u')
  expect(JSON.stringify(stored)).not.toContain('Ada')
  expect(stored).toMatchObject({ data: { role: 'USER' }, metadata: { schemaVersion: 2 } })
  const read = await users.readStream('user-u')
  expect(read.map(({ data }) => data)).toEqual([created.data, created.data])
})
