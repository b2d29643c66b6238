import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { folderBlobStore, sqliteEventStore, sqliteUserKeys } from '@gantry/embedded'
import { NO_STREAM } from '@gantry/event-sourcing'
import { userKeySealer } from '@gantry/identity'
import { parseEncryptionKeys, useEncryptionKeys } from '@gantry/service-runtime'
import { openDataFolder, sealDataFolder } from '@gantry/standalone'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { run as backUp } from './backup.ts'
import { run as restore } from './restore.ts'

const IMAGE = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>')
const REPLACED = Buffer.from('# A document')
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

let folder: string
let data: string
let backup: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-restore-'))
  data = join(folder, 'data')
  backup = join(folder, 'backup')
  const opened = openDataFolder({ DATA_DIR: data })
  const log = sqliteEventStore({ path: opened.events })
  const metadata = { actor: { id: null, name: 'test' }, requestId: '1', at: '2026-11-22T12:00:00.000Z' }
  const event = { id: '1', type: 'ImageUploaded', data: { sha256: digest(IMAGE) }, metadata }
  await log.append('image-1', [event], NO_STREAM)
  // The bytes of the first document were removed after it was replaced.
  const versions = ['0'.repeat(64), digest(REPLACED), digest(IMAGE)]
  const documents = versions.map((sha256, index) => ({
    id: String(index),
    type: 'DocumentUploaded',
    data: { apiVersion: 'v', name: 'a', sha256 },
    metadata,
  }))
  await log.append('documents-1', documents, NO_STREAM)
  const command = { ...metadata, commandId: '2', now: metadata.at }
  await useEncryptionKeys(log, opened.encryptionKeys, command)
  await log.close()
  const blobs = folderBlobStore({ path: opened.images })
  for (const bytes of [IMAGE, REPLACED]) await blobs.put(digest(bytes), bytes)
  sealDataFolder(opened)
  expect(await backUp([backup], { DATA_DIR: data })).toBe(0)
})
afterAll(() => rm(folder, { recursive: true }))

/** A copy of the backup with a change. */
async function changed(name: string, change: (copy: string) => Promise<void>): Promise<string> {
  const copy = join(folder, name)
  await cp(backup, copy, { recursive: true })
  await change(copy)
  return copy
}

/** Replaces a text of the manifest. */
async function inManifest(copy: string, former: string, text: string): Promise<void> {
  const path = join(copy, 'backup.json')
  await writeFile(path, (await readFile(path, 'utf8')).replaceAll(former, text))
}

/** Changes the log, and its SHA-256 in the manifest. */
async function changeLog(copy: string, sql: string): Promise<void> {
  const path = join(copy, 'events.db')
  const former = digest(await readFile(path))
  const log = new DatabaseSync(path)
  log.exec(`PRAGMA journal_mode = DELETE; ${sql}; PRAGMA journal_mode = WAL`)
  log.close()
  await inManifest(copy, former, digest(await readFile(path)))
}

test.each<[string, (copy: string) => Promise<void>, RegExp]>([
  [
    'an incomplete backup',
    copy => rm(join(copy, 'backup.json')),
    /not a complete backup: backup.json, which is written last, is missing/,
  ],
  ['a damaged manifest', copy => inManifest(copy, '"files"', '"fils"'), /backup.json is damaged/],
  [
    'a backup of a newer format',
    copy => inManifest(copy, '"format": 1', '"format": 2'),
    /made by a newer Gantry \(format 2, this one knows 1\)/,
  ],
  [
    'a newer log',
    copy => changeLog(copy, 'PRAGMA user_version = 99'),
    /a newer log\/events.db was made by a newer Gantry \(format 99/,
  ],
  [
    'a shorter log',
    copy => changeLog(copy, 'DELETE FROM events'),
    /has 0 events up to position .*, not 5 up to/,
  ],
  [
    'a truncated log',
    copy => truncate(join(copy, 'events.db'), 8_192),
    /events.db is damaged: it has 8192 of/,
  ],
  [
    'an image with other bytes',
    copy => writeFile(join(copy, 'images', digest(IMAGE)), IMAGE.toReversed()),
    /images\/[0-9a-f]{64} is damaged: its SHA-256/,
  ],
  [
    'keys of users with other bytes',
    async copy => {
      const name = (await readdir(copy)).find(name => name.startsWith('user-keys-')) ?? ''
      await writeFile(join(copy, name), (await readFile(join(copy, name))).fill(0, 4_096))
    },
    /user-keys-\d{8}T\d{6}Z.db is damaged: its SHA-256/,
  ],
])('%s is refused by name, and the data folder is not created', async (what, change, message) => {
  const copy = await changed(what, change)
  await expect(restore([copy], { DATA_DIR: join(folder, `into ${what}`) })).rejects.toThrow(message)
  expect(await readdir(folder)).not.toContain(`into ${what}`)
})

test('a backup into a folder with entries, and a restore into one, are refused', async () => {
  const before = await readdir(data)
  await expect(restore([backup], { DATA_DIR: data })).rejects.toThrow(/DATA_DIR: .*data is not empty/)
  expect(await readdir(data)).toEqual(before)
  await expect(backUp([backup], { DATA_DIR: data })).rejects.toThrow(/backup is not empty/)
  await expect(backUp([join(data, 'backup')], { DATA_DIR: data })).rejects.toThrow(/is inside DATA_DIR/)
  await expect(backUp([join(folder, 'none')], { DATA_DIR: join(folder, 'no data') })).rejects.toThrow(
    /DATA_DIR: .*no data contains no data of Gantry/,
  )
})

test('a folder with an interrupted backup is refused by name and not changed', async () => {
  const copy = await changed('interrupted', async copy => {
    for (const name of ['backup.json', 'gantry.json', 'encryption.key']) await rm(join(copy, name))
  })
  const before = await readdir(copy)
  await expect(backUp([copy], { DATA_DIR: data })).rejects.toThrow(
    /interrupted contains a backup that was interrupted, or is still being written: /,
  )
  expect(await readdir(copy)).toEqual(before)
})

test('a folder that cannot be created is refused', async () => {
  await expect(backUp(['/proc/gantry/backup'], { DATA_DIR: data })).rejects.toThrow(
    /^\/proc\/gantry\/backup cannot be created: ENOENT/,
  )
  const options = [join(folder, 'no user keys'), '--user-keys', '/proc/gantry']
  await expect(backUp(options, { DATA_DIR: data })).rejects.toThrow(
    /^\/proc\/gantry cannot be created: ENOENT/,
  )
  expect(await readdir(folder)).not.toContain('no user keys')
})

test('keys that are left out or stored apart are needed for the restore', async () => {
  const copy = join(folder, 'without keys')
  const apart = join(folder, 'user keys')
  expect(await backUp([copy, '--without-key', '--user-keys', apart], { DATA_DIR: data })).toBe(0)
  expect((await readdir(copy)).toSorted()).toEqual(['backup.json', 'events.db', 'gantry.json', 'images'])
  const [userKeys] = await readdir(apart)
  expect(userKeys).toMatch(/^user-keys-\d{8}T\d{6}Z\.db$/)

  const ENCRYPTION_KEY = (await readFile(join(data, 'encryption.key'), 'utf8')).trim()
  const DATA_DIR = join(folder, 'restored')
  const options = [copy, '--user-keys', join(apart, String(userKeys))]
  const wrong = Buffer.alloc(32, 7).toString('base64')
  await expect(restore(options, { DATA_DIR })).rejects.toThrow(/^ENCRYPTION_KEY: must be set/)
  await expect(restore(options, { DATA_DIR, ENCRYPTION_KEY: wrong })).rejects.toThrow(
    /ENCRYPTION_KEY: lacks key 0/,
  )
  await expect(restore([copy], { DATA_DIR, ENCRYPTION_KEY })).rejects.toThrow(
    /name a file with them by --user-keys/,
  )
  expect(await restore(options, { DATA_DIR, ENCRYPTION_KEY })).toBe(0)
  expect((await readdir(DATA_DIR)).toSorted()).toEqual(['events.db', 'gantry.json', 'images', 'user-keys.db'])
  const restored = await readdir(join(DATA_DIR, 'images'))
  expect(restored.toSorted()).toEqual([IMAGE, REPLACED].map(digest).toSorted())
})

test('the key of ENCRYPTION_KEY is never in a backup', async () => {
  const copy = join(folder, 'key of the environment')
  const ENCRYPTION_KEY = (await readFile(join(data, 'encryption.key'), 'utf8')).trim()
  expect(await backUp([copy], { DATA_DIR: data, ENCRYPTION_KEY })).toBe(0)
  expect(await readdir(copy)).not.toContain('encryption.key')
})

test('a restore that is complete is not deleted by another one that began before', async () => {
  const DATA_DIR = join(folder, 'complete')
  expect(await restore([backup], { DATA_DIR })).toBe(0)
  const restored = (await readdir(DATA_DIR)).toSorted()
  // As the other one finds it that waited for the lock, and as a kill after the last move leaves it.
  await mkdir(join(DATA_DIR, '.restoring'))
  await expect(restore([backup], { DATA_DIR })).rejects.toThrow(/complete contains a complete restore/)
  expect((await readdir(DATA_DIR)).toSorted()).toEqual(restored)
})

test('keys of users of a later backup are refused unless a key opens them, and reported when they are too old', async () => {
  const former = (await readFile(join(data, 'encryption.key'), 'utf8')).trim()
  const ENCRYPTION_KEY = `1:${Buffer.alloc(32, 7).toString('base64')},0:${former}`
  const later = join(folder, 'user-keys-20200102T030405Z.db')
  const keys = sqliteUserKeys({ path: later })
  await keys.add('ada', userKeySealer(parseEncryptionKeys(ENCRYPTION_KEY)).seal('a key'))
  await keys.close()
  const DATA_DIR = join(folder, 'with later keys')
  const options = [backup, '--user-keys', later]
  await expect(restore(options, { DATA_DIR })).rejects.toThrow(
    /^.*user-keys-20200102T030405Z.db needs another key than the backup: .* sealed with key 1\. Set/,
  )
  expect(await readdir(folder)).not.toContain('with later keys')
  const said = vi.spyOn(process.stderr, 'write')
  expect(await restore(options, { DATA_DIR, ENCRYPTION_KEY })).toBe(0)
  const lines = said.mock.calls.map(([line]) => line).join('')
  said.mockRestore()
  expect(lines).toContain('Start the service with the same ENCRYPTION_KEY')
  expect(lines).toMatch(/^WARNING: .*user-keys-20200102T030405Z.db is older than USER_KEY_BACKUP_RETENTION/m)
})
