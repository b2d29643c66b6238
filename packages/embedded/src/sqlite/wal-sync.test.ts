import { mkdtemp, readFile, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { watchDisk } from './disk.ts'
import { syncWalNow, walSync } from './group-commit.ts'

let folder: string
let path: string
let db: DatabaseSync
const log = () => `${path}-wal`
const LONG_AGO = new Date('2020-01-01')

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-wal-'))
  path = join(folder, 'events.db')
  db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE notes (text TEXT) STRICT')
  db.prepare('INSERT INTO notes VALUES (?)').run('x'.repeat(200_000))
  await utimes(log(), LONG_AGO, LONG_AGO)
})
afterEach(async () => {
  db.close()
  await rm(folder, { recursive: true })
})

const isWrittenAgain = async () => (await stat(log())).mtimeMs > LONG_AGO.getTime()

it('rewrites the log before the sync that follows a failed one', async () => {
  const bytes = await readFile(log())
  const failures: unknown[] = [undefined, new Error('ENOSPC'), new Error('ENOSPC'), undefined, undefined]
  const writtenAgain: boolean[] = []
  const sync = walSync(db, path, async () => {
    writtenAgain.push(await isWrittenAgain())
    await utimes(log(), LONG_AGO, LONG_AGO)
    const failure = failures.shift()
    if (failure) throw failure
  })
  for (let time = 0; time < 5; time++) await sync().catch(() => {})
  expect(writtenAgain).toEqual([false, false, true, true, false])
  expect(await readFile(log())).toEqual(bytes)
  await sync.close()
})

it('rewrites the log at the start, because the previous process may have ended after a failed sync', async () => {
  const bytes = await readFile(log())
  syncWalNow(db, path, watchDisk())
  expect(await isWrittenAgain()).toBe(true)
  expect(await readFile(log())).toEqual(bytes)
})
