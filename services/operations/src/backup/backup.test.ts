import { mkdir, mkdtemp, readdir, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { sqliteEventStore, sqliteUserKeys } from '@gantry/embedded'
import { NO_STREAM } from '@gantry/event-sourcing'
import { answerOperators } from '@gantry/hosting'
import { localPeers, processLog } from '@gantry/service-runtime'
import { answerBackups, backingUp, openDataFolder, sealDataFolder } from '@gantry/standalone'
import { expect, onTestFinished, test, vi } from 'vitest'
import { run as backUp } from './backup.ts'

const SHA256 = 'a'.repeat(64)

/** A data folder whose log names an image, and the folders of a backup. */
async function installation() {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-interrupted-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const data = join(folder, 'data')
  const opened = openDataFolder({ DATA_DIR: data })
  sealDataFolder(opened)
  const eventStore = sqliteEventStore({ path: opened.events })
  const userKeys = sqliteUserKeys({ path: opened.userKeys })
  const metadata = { actor: { id: null, name: 'test' }, requestId: '1', at: '2026-11-22T12:00:00.000Z' }
  const uploaded = { id: '1', type: 'ImageUploaded', data: { sha256: SHA256 }, metadata }
  await eventStore.append('image-1', [uploaded], NO_STREAM)
  const [backup, apart] = [join(folder, 'backup'), join(folder, 'user keys')]
  return { data, opened, eventStore, userKeys, backup, apart }
}

/** A running service, whose keys of users take long to copy. */
async function runningService(silenceMs?: number) {
  const { eventStore, userKeys, ...folders } = await installation()
  const copied: string[] = []
  const slow = {
    async copyTo(path: string, progress: (done: number, bytes: number) => void = () => {}) {
      await userKeys.copyTo(path)
      copied.push(path)
      try {
        for (;;) {
          progress(0, 1)
          await setTimeout(10)
        }
      } catch (error) {
        await rm(path)
        throw error
      }
    },
  }
  const peers = localPeers()
  const files = { eventStore, userKeys: slow }
  const stop = answerBackups(peers, files, { usesKeyFile: true, ...(silenceMs && { silenceMs }) })
  const about = { log: processLog({ level: 'silent' }), now: () => new Date() }
  const stopAnswering = await answerOperators(folders.data, peers, about)
  onTestFinished(async () => {
    await stopAnswering()
    await stop()
    await Promise.all([eventStore.close(), userKeys.close()])
  })
  return { ...folders, peers, copied }
}

test('an interrupted backup ends the copies of the service and leaves no file', async () => {
  const { data, backup, apart, copied } = await runningService()
  const ended = backUp([backup, '--user-keys', apart], { DATA_DIR: data })
  await vi.waitFor(() => expect(copied).toHaveLength(1))
  expect(copied[0]).toMatch(/user keys\/user-keys-\d{8}T\d{6}Z\.db$/)
  process.emit('SIGINT')
  expect(await ended).toBe(130)
  expect([await readdir(backup), await readdir(apart)]).toEqual([[], []])
})

test('one backup is taken at a time', async () => {
  const { data, backup, apart, peers, copied } = await runningService()
  const copy = { folder: join(data, '..'), events: 'events.db', userKeys: 'user-keys.db' }
  await peers.ask(backingUp, { id: 'first', copy })
  await vi.waitFor(() => expect(copied).toHaveLength(1))
  await expect(backUp([backup, '--user-keys', apart], { DATA_DIR: data })).rejects.toMatchObject({
    details: { detail: 'another backup is being taken' },
  })
})

test('the backup of a killed command is ended', async () => {
  const { data, peers, copied } = await runningService(1_000)
  const killed = join(data, '..')
  const copy = { folder: killed, events: 'events.db', userKeys: 'user-keys.db' }
  await peers.ask(backingUp, { id: 'killed', copy })
  await vi.waitFor(() => expect(copied).toHaveLength(1))
  await vi.waitFor(async () => expect(await readdir(killed)).toEqual(['data']))
  const next = { folder: killed, events: 'next.db' }
  expect((await peers.ask(backingUp, { id: 'next', copy: next })).failure).toBeUndefined()
})

test('an image that cannot be read ends the backup, one that is lost is left out with its own exit code', async () => {
  const { data, opened, backup, apart, eventStore, userKeys } = await installation()
  await Promise.all([eventStore.close(), userKeys.close()])
  await mkdir(join(opened.images, SHA256), { recursive: true })
  const take = () => backUp([backup, '--user-keys', apart], { DATA_DIR: data })
  await expect(take()).rejects.toThrow(/^EISDIR/)
  expect([await readdir(backup), await readdir(apart)]).toEqual([[], []])
  await rmdir(join(opened.images, SHA256))
  expect(await take()).toBe(3)
  expect([await readdir(backup), await readdir(apart)]).toEqual([
    expect.arrayContaining(['backup.json', 'events.db']),
    [expect.stringMatching(/^user-keys/)],
  ])
})
