import { rmSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DiskFull, watchDisk } from './disk.ts'

let folder: string
let lines: string[]
let ended: string[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-disk-'))
  lines = []
  ended = []
  vi.useFakeTimers()
})
afterEach(async () => {
  vi.useRealTimers()
  await rm(folder, { recursive: true, force: true })
})

const watched = (probeMs = 5) =>
  watchDisk({ report: line => lines.push(line), end: line => void ended.push(line), probeMs })
const failure = (fields: object) => Object.assign(new Error('the reason'), fields)

describe('the state of a disk', () => {
  it('is reported once for all files when the disk becomes full, and once when it accepts writes again', async () => {
    const disk = watched()
    for (const name of ['events.db', 'messages.db', join('images', 'logo')])
      expect(disk.failed(join(folder, name), failure({ code: 'ENOSPC' }))).toBeInstanceOf(DiskFull)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toBe(
      `${join(folder, 'events.db')} cannot be written: the disk is full; writes are refused until the disk of ${folder} has space`,
    )
    expect(disk.full()?.message).toContain('logo')
    vi.advanceTimersByTime(5)
    expect(lines).toHaveLength(2)
    expect(lines[1]).toBe(`the disk of ${folder} takes writes again`)
    expect(disk.full()).toBeUndefined()
    expect(await readdir(folder)).toEqual([])

    disk.failed(join(folder, 'events.db'), failure({ errcode: 13 }))
    expect(lines).toHaveLength(3)
  })

  it('stays full while a test write fails', async () => {
    const disk = watched()
    disk.failed(join(folder, 'events.db'), failure({ code: 'ENOSPC' }))
    rmSync(folder, { recursive: true })
    vi.advanceTimersByTime(1_000)
    expect(lines).toHaveLength(1)
    expect(disk.full()).toBeInstanceOf(DiskFull)
  })

  it.each([{ code: 'ENOSPC' }, { code: 'EDQUOT' }, { errcode: 13 }, { errcode: 778 }, { errcode: 4874 }])(
    'is full after the error %j',
    fields => {
      expect(watched(60_000).failed(join(folder, 'events.db'), failure(fields))).toBeInstanceOf(DiskFull)
      expect(ended).toEqual([])
    },
  )

  it.each([
    { syscall: 'fsync' },
    { syscall: 'fdatasync', code: 'EIO' },
    { errcode: 1034 },
    { errcode: 1290 },
  ])('ends the process after a failed sync with the error %j', fields => {
    watched().failed('/data/events.db', failure(fields))
    expect(ended).toEqual([
      '/data/events.db cannot be synced to the disk (the reason): the last writes may be lost',
    ])
    expect(lines).toEqual([])
  })

  it('does not change after other errors, which are returned as they are', () => {
    const other = failure({ errcode: 19 })
    expect(watched().failed('/data/events.db', other)).toBe(other)
    expect([...lines, ...ended]).toEqual([])
  })
})
