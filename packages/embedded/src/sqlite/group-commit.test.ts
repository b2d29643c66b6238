import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Disk, DiskFull, watchDisk } from './disk.ts'
import { type GroupCommit, groupCommit } from './group-commit.ts'

let db: DatabaseSync
let commits: GroupCommit
let disk: Disk
/** The lines with which the process would have ended. */
let ended: string[]
/** Number of rows at each commit. */
let sizes: unknown[]

beforeEach(() => {
  db = new DatabaseSync(':memory:')
  db.exec('CREATE TABLE numbers (number INTEGER PRIMARY KEY) STRICT')
  sizes = []
  ended = []
  disk = watchDisk({ report() {}, end: line => void ended.push(line) })
  commits = groupCommit(db, { committed: () => void sizes.push(size()), path: '/data/events.db', disk })
})

const size = () => db.prepare('SELECT count(*) AS size FROM numbers').get()?.size
const insert = (number: number) =>
  commits.run(() => db.prepare('INSERT INTO numbers VALUES (?)').run(number).changes)

it('commits all jobs of a turn together, and resolves each with its own result', async () => {
  expect(await Promise.all([insert(1), insert(2), insert(3)])).toEqual([1, 1, 1])
  await insert(4)
  expect(sizes).toEqual([3, 4])
})

it('rejects a job that throws, without affecting the others', async () => {
  const refused = commits.run(() => {
    throw new RangeError('refused')
  })
  const [before, failed, after] = await Promise.allSettled([insert(1), refused, insert(2)])
  expect(before.status).toBe('fulfilled')
  expect(failed).toMatchObject({ status: 'rejected', reason: { message: 'refused' } })
  expect(after.status).toBe('fulfilled')
  expect(size()).toBe(2)
})

it('fails the whole group after a database error, and commits the next group', async () => {
  const group = await Promise.allSettled([insert(1), insert(1), insert(2)])
  expect(group.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(size()).toBe(0)
  await insert(2)
  expect(sizes).toEqual([1])
})

it('rolls back a group that does not fit on the disk, and attempts the next one', async () => {
  const pages = (count: number) => db.exec(`PRAGMA max_page_count = ${count}`)
  db.exec('CREATE TABLE texts (text TEXT NOT NULL) STRICT')
  const write = (text: string) => commits.run(() => db.prepare('INSERT INTO texts VALUES (?)').run(text))
  const reads = () => db.prepare('SELECT count(*) AS size FROM texts').get()?.size
  pages(6)
  await write('fits')
  const group = await Promise.allSettled([write('small'), write('x'.repeat(100_000))])
  for (const { status, reason } of group as PromiseRejectedResult[]) {
    expect(status).toBe('rejected')
    expect(reason).toBeInstanceOf(DiskFull)
    expect(reason.message).toBe('/data/events.db cannot be written: the disk is full')
  }
  expect(reads()).toBe(1)
  pages(1_000)
  await write('x'.repeat(100_000))
  expect(reads()).toBe(2)
  expect(ended).toEqual([])
})

it('commits at once on flush', async () => {
  const inserted = insert(1)
  commits.flush()
  expect(size()).toBe(1)
  expect(await inserted).toBe(1)
})

describe('with a separate sync after the commit', () => {
  let syncs: { resolve(): void; reject(error: Error): void }[]
  beforeEach(() => {
    syncs = []
    const sync = () => new Promise<void>((resolve, reject) => syncs.push({ resolve, reject }))
    const committed = () => void sizes.push(size())
    commits = groupCommit(db, { committed, path: '/data/events.db', disk, sync })
  })
  const turn = () => new Promise<void>(resolve => setImmediate(() => setImmediate(resolve)))

  it('resolves after the sync; jobs committed during a sync share the next one', async () => {
    const settled: number[] = []
    const note = (number: number) => insert(number).then(() => settled.push(number))
    const first = note(1)
    await turn()
    const others = [note(2)]
    await turn()
    others.push(note(3))
    await turn()
    expect({ settled, syncs: syncs.length, rows: size() }).toEqual({ settled: [], syncs: 1, rows: 3 })
    syncs[0]?.resolve()
    await first
    await turn()
    expect({ settled, syncs: syncs.length }).toEqual({ settled: [1], syncs: 2 })
    syncs[1]?.resolve()
    await Promise.all(others)
    expect({ settled, syncs: syncs.length }).toEqual({ settled: [1, 2, 3], syncs: 2 })
  })

  it('fails all later jobs after a failed sync, and ends the process with one log line', async () => {
    const first = insert(1)
    await turn()
    syncs[0]?.reject(new Error('input/output error'))
    await expect(first).rejects.toThrow('input/output error')
    expect(ended).toEqual([
      '/data/events.db cannot be synced to the disk (input/output error): the last writes may be lost',
    ])
    await expect(insert(2)).rejects.toThrow('input/output error')
    expect(sizes).toEqual([])
  })

  it.each(['ENOSPC', 'EDQUOT'])('syncs again with the next write after a sync failed with %s', async code => {
    const first = insert(1)
    await turn()
    syncs[0]?.reject(Object.assign(new Error(`${code}: fdatasync`), { code, syscall: 'fdatasync' }))
    await expect(first).rejects.toBeInstanceOf(DiskFull)
    const second = insert(2)
    await turn()
    syncs[1]?.resolve()
    await second
    expect(sizes).toEqual([2])
    expect(ended).toEqual([])
  })

  it('lets a reader wait for earlier commits, also when no job is waiting', async () => {
    let durable = false
    const first = insert(1)
    await turn()
    const waiting = commits.synced().then(() => {
      durable = true
    })
    syncs[0]?.resolve()
    await first
    await turn()
    expect(durable).toBe(false)
    syncs[1]?.resolve()
    await waiting

    const alone = commits.synced()
    await turn()
    syncs[2]?.resolve()
    await alone
    expect(syncs).toHaveLength(3)
  })
})
