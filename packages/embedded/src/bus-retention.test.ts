import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Bus, Json, MissedMessages } from '@gantry/messaging'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { sqliteBus } from './bus.ts'

const HOUR_MS = 3_600_000

let folder: string
let bus: Bus
let time: number
const { signal } = new AbortController()

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-messages-'))
  time = Date.parse('2026-11-21T10:00:00.000Z')
  bus = open({})
})
afterEach(async () => {
  await bus.close()
  await rm(folder, { recursive: true })
})

const path = () => join(folder, 'messages.db')
const open = (options: { retentionMs?: number }) =>
  sqliteBus({ path: path(), now: () => new Date(time), ...options })
/** Opens the bus again with a retention of one second, and waits until the expired messages are removed. */
const retain = async () => {
  await bus.close()
  bus = open({ retentionMs: 1_000 })
  await vi.waitFor(async () => expect(await read()).toEqual(await remaining()))
}
const publish = (subject: string, ...data: Json[]) =>
  bus.publish(data.map(data => ({ id: `${subject} ${data}`, subject, data })))
const read = async (options: Partial<Parameters<Bus['read']>[0]> = {}) => {
  const found: Json[] = []
  for await (const { data } of bus.read({ subjects: ['>'], after: 0, live: false, signal, ...options }))
    found.push(data)
  return found
}
const tables = <Row>(work: (db: DatabaseSync) => Row) => {
  const db = new DatabaseSync(path())
  try {
    return work(db)
  } finally {
    db.close()
  }
}
/** The messages that retention must keep: those that are young enough, and the last one of each subject. */
const remaining = async () =>
  tables(db =>
    db
      .prepare(
        `SELECT data FROM messages WHERE stored_at >= ?
         OR sequence IN (SELECT max(sequence) FROM messages GROUP BY subject) ORDER BY sequence`,
      )
      .all(new Date(time - 1_000).toISOString())
      .map(row => JSON.parse(String(row.data)) as Json),
  )
it('keeps messages without limit when no retention is set', async () => {
  await publish('events.a', 1, 2)
  await bus.close()
  time += 1_000 * HOUR_MS
  bus = open({})
  // A removal at the start would be committed before.
  await publish('events.a', 3)
  expect(await read()).toEqual([1, 2, 3])
  expect(await bus.removedThrough(['>'])).toBe(0)
})

it('removes older messages except the last one of each subject, and does not reuse their sequences', async () => {
  await publish('events.a', 1, 2, 3)
  await publish('events.b', 4)
  time += HOUR_MS
  await publish('events.a', 5)
  await retain()
  expect(await read()).toEqual([4, 5])
  expect(await bus.last(['events.b'])).toMatchObject({ sequence: 4, data: 4 })
  expect(await bus.head()).toBe(5)
  const removed = [await bus.removedThrough(['events.*']), await bus.removedThrough(['events.b'])]
  expect(removed).toEqual([3, 0])
  time += HOUR_MS
  await vi.waitFor(async () => expect(await read()).toEqual([4, 5]))
  expect(await publish('events.a', 1)).toBe(6)
})

it('reports removed messages, once, to a reader that has not received them', async () => {
  await publish('events.a', 1, 2, 3, 4)
  await publish('events.b', 5, 6)
  time += HOUR_MS
  await publish('events.a', 7)
  await retain()

  const missed: MissedMessages[] = []
  const reading = { missed: (range: MissedMessages) => void missed.push(range) }
  expect(await read({ ...reading, subjects: ['events.a'], after: 2 })).toEqual([7])
  expect(missed).toEqual([{ after: 2, through: 4 }])
  expect(await read({ ...reading, subjects: ['events.b'], after: 5 })).toEqual([6])
  expect(await read({ ...reading, subjects: ['events.a'], after: 7 })).toEqual([])
  expect(missed).toHaveLength(1)
})

it('reuses the space of removed messages, so that the file stops growing', async () => {
  await bus.close()
  bus = open({ retentionMs: 1_000 })
  const pages: number[] = []
  for (let round = 0; round < 6; round++) {
    const wide = Array.from({ length: 100 }, () => ({
      id: randomUUID(),
      subject: 'events.a',
      data: 'x'.repeat(1_000),
    }))
    await bus.publish(wide)
    time += 2_000
    await vi.waitFor(async () => expect((await read()).length).toBe(1))
    pages.push(tables(db => Number(db.prepare('PRAGMA page_count').get()?.page_count)))
  }
  expect(Math.max(...pages.slice(2))).toBeLessThanOrEqual(pages[1] ?? 0)
})
