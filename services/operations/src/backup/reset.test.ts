import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteBus, sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import { logIdentity } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/stores'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { run, whileStopped } from './reset.ts'

const NAMES = ['catalog.projector', 'catalog.relay']

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-reset-'))
  return () => rmSync(folder, { recursive: true })
})

function openReadModels() {
  const readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
  onTestFinished(() => readModels.close())
  return readModels
}

test('a service that starts while the read models are dropped waits for its leases', async () => {
  const readModels = openReadModels()
  const { leases } = readModels
  const start = () => Promise.all(NAMES.map(name => leases.acquire(name, 'a service', 60_000)))
  expect(await whileStopped(NAMES, readModels, start)).toEqual([undefined, undefined])
  expect(await start()).not.toContain(undefined)
})

test('a process that has files of SQLite open during a reset shares them with those that open them later', async () => {
  const notes = defineCollection<{ id: string }>({ name: 'notes', version: 1, fields: {} })
  const message = { id: 'm-1', subject: 'events.catalog.A', data: 1 }
  const path = join(folder, 'messages.db')
  const [early, bus] = [openReadModels(), sqliteBus({ path })]
  onTestFinished(() => bus.close())
  await early.write([{ collection: notes, id: 'a', revision: 1, doc: { id: 'a' } }], {
    name: 'catalog.projector',
    position: '7',
  })
  expect(await early.collection(notes).count({})).toBe(1)
  await bus.publish([message])

  const events = join(folder, 'events.db')
  const log = sqliteEventStore({ path: events })
  onTestFinished(() => log.close())
  const identity = await logIdentity(log)
  expect(
    await run(['--yes'], {
      EVENT_STORE_URL: `sqlite:${events}`,
      READ_MODEL_URL: `sqlite:${join(folder, 'read-models.db')}`,
      BLOB_URL: `file:${join(folder, 'blobs')}`,
      MESSAGING_URL: `sqlite:${path}`,
      ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
    }),
  ).toBe(0)

  expect(await logIdentity(log)).not.toBe(identity)
  expect(await early.collection(notes).latest('a')).toBeUndefined()
  expect(await early.collection(notes).count({})).toBe(0)
  expect(await early.checkpoints.get('catalog.projector')).toBeUndefined()
  expect(await bus.last(['events.>'])).toBeUndefined()
  const late = openReadModels()
  const [name = ''] = NAMES
  expect(await early.leases.acquire(name, 'early', 60_000)).toBeDefined()
  expect(await late.leases.acquire(name, 'late', 60_000)).toBeUndefined()
  const lateBus = sqliteBus({ path })
  onTestFinished(() => lateBus.close())
  await lateBus.publish([message])
  expect(await bus.last(['events.>'])).toMatchObject({ id: 'm-1' })
})
