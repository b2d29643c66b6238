import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DatabaseFile, DataFolderRefused, inspectFiles, openDatabase } from './sqlite-file.ts'

const FILE: DatabaseFile = {
  kind: 'events',
  version: 2,
  durable: true,
  schema:
    'CREATE TABLE IF NOT EXISTS notes (text TEXT NOT NULL); CREATE INDEX IF NOT EXISTS by_text ON notes (text)',
}

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-file-'))
  path = join(folder, 'data', 'events.db')
})
afterEach(() => rm(folder, { recursive: true }))

const fill = (file = FILE) => {
  const db = openDatabase(path, file)
  const insert = db.prepare('INSERT INTO notes VALUES (?)')
  db.exec('BEGIN')
  for (let number = 0; number < 500; number++) insert.run(`note ${number} ${'.'.repeat(100)}`)
  db.exec('COMMIT')
  db.close()
}

/** The files of the folder with their sizes and hashes, without shared memory (-shm). */
const contents = async () => {
  const names = (await readdir(join(folder, 'data'))).filter(name => !name.endsWith('-shm'))
  const files = names.map(async name => {
    const bytes = await readFile(join(folder, 'data', name))
    return `${name} ${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`
  })
  return (await Promise.all(files)).sort()
}

describe('a Gantry file', () => {
  it('is created with its folder, and keeps its content', async () => {
    fill()
    expect(await readdir(join(folder, 'data'))).toEqual(['events.db'])
    const db = openDatabase(path, FILE)
    expect(db.prepare('SELECT count(*) AS count FROM notes').get()).toEqual({ count: 500 })
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
    expect(db.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 })
    // The log is truncated to this size after a large transaction.
    expect(db.prepare('PRAGMA journal_size_limit').get()).toEqual({ journal_size_limit: 64 * 1024 * 1024 })
    db.close()
  })

  it('is not in memory: SQLite would open another database than the file that was created', () => {
    expect(() => openDatabase(':memory:', FILE)).toThrow(':memory: is not the path of a file')
    expect(existsSync(':memory:')).toBe(false)
  })

  it('can be open more than once, and is upgraded from an older version', () => {
    fill({ ...FILE, version: 1 })
    const older = openDatabase(path, { ...FILE, version: 1 })
    const schema = `${FILE.schema}; CREATE TABLE IF NOT EXISTS tags (tag TEXT)`
    const newer = openDatabase(path, { ...FILE, schema, durable: false })
    newer.exec("INSERT INTO tags VALUES ('a')")
    expect(older.prepare('SELECT tag FROM tags').get()).toEqual({ tag: 'a' })
    expect(newer.prepare('PRAGMA user_version').get()).toEqual({ user_version: 2 })
    expect(newer.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 1 })
    older.close()
    newer.close()
    expect(() => openDatabase(path, { ...FILE, version: 1 })).toThrow('newer')
  })
})

describe('a file is refused with one line and not changed when it is', () => {
  const expectRefusal = async (reason: string | RegExp) => {
    const before = await contents()
    let error: unknown
    try {
      openDatabase(path, FILE).close()
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(DataFolderRefused)
    expect(error).toMatchObject({ name: 'DataFolderRefused', path, message: expect.stringMatching(reason) })
    expect((error as Error).message).toMatch(/^.*events\.db .*$/)
    expect(await contents()).toEqual(before)
  }

  const ofApplication = async () => {
    const db = new DatabaseSync(path)
    db.exec('PRAGMA application_id = 252006673')
    db.close()
  }
  const overwrite = async () => {
    const bytes = await readFile(path)
    await writeFile(path, bytes.fill(0x5a, 20_000, 40_000))
  }
  const cutBy = async (bytes: number) => truncate(path, (await readFile(path)).length - bytes)

  it.each<[what: string, damage: () => Promise<void>, reason: RegExp]>([
    ['not a database', () => writeFile(path, 'notes '.repeat(4_000)), /is not a SQLite database$/],
    ['empty', () => truncate(path, 0), /is empty: its content is lost$/],
    ['cut off in its header', () => truncate(path, 10), /is not a SQLite database$/],
    ['cut off in a page', () => truncate(path, 5_000), /is truncated: 5000 of \d+ bytes are left$/],
    ['cut off after a page', () => truncate(path, 40_960), /is truncated: 40960 of \d+ bytes are left$/],
    ['without its last bytes', () => cutBy(100), /is truncated: \d+ of \d+ bytes are left$/],
    ['overwritten in the middle', overwrite, /is damaged/],
    ['a database of another application', ofApplication, /is not a Gantry file of this kind$/],
  ])('%s', async (_, damage, reason) => {
    fill()
    await damage()
    await expectRefusal(reason)
  })

  it.each([
    ['a Gantry file of another kind', { kind: 'read-models' }, /is not a Gantry file of this kind$/],
    ['of a newer version', { version: 3 }, /was made by a newer Gantry \(format 3, this one knows 2\)$/],
  ] as const)('%s', async (_, made, reason) => {
    fill({ ...FILE, ...made })
    await expectRefusal(reason)
  })

  it('a damaged file of read models, which can be made again', async () => {
    fill({ ...FILE, kind: 'read-models' })
    await truncate(path, 5_000)
    const refused = `is truncated: 5000 of \\d+ bytes are left. It is made again from the log: remove it and ${path}-wal`
    expect(() => inspectFiles({ 'read-models': path })).toThrow(new RegExp(refused))
    expect(() => inspectFiles({ events: path })).not.toThrow('made again')
  })

  it('of a newer version and has a log from a process that died', async () => {
    const db = openDatabase(path, { ...FILE, version: 1 })
    db.exec('PRAGMA user_version = 3')
    await cp(join(folder, 'data'), join(folder, 'died'), { recursive: true })
    db.close()
    await rm(join(folder, 'data'), { recursive: true })
    await cp(join(folder, 'died'), join(folder, 'data'), { recursive: true })
    await expectRefusal(/made by a newer Gantry/)
  })

  it('missing, but its log exists', async () => {
    const db = openDatabase(path, FILE)
    db.exec("INSERT INTO notes VALUES ('a')")
    const log = await readFile(`${path}-wal`)
    db.close()
    await rm(path)
    await writeFile(`${path}-wal`, log)
    await expectRefusal(/events\.db is missing, but its log .*events\.db-wal is there$/)
  })
})
