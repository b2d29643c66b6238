import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { type Bus, Overtaken, type StoredMessage, type Subjects, subjectMatches } from '@gantry/messaging'
import type { Changes } from '../sqlite/changes.ts'
import type { GroupCommit } from '../sqlite/group-commit.ts'

export interface Removed {
  /** Sequence of the last removed message after this one on any of the subjects; undefined when there is none. */
  after(sequence: number, subjects: readonly string[]): number | undefined
}

export const MESSAGES_SCHEMA = `
  CREATE TABLE IF NOT EXISTS messages (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    subject TEXT NOT NULL,
    data TEXT NOT NULL,
    headers TEXT,
    stored_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS messages_by_subject ON messages (subject)`

/** Maximum number of messages in a page, and characters of data after which a page ends. */
const PAGE = 250
const PAGE_LENGTH = 131_072

interface MessageRow {
  sequence: number
  id: string
  subject: string
  data: string
  headers: string | null
  stored_at: string
}

interface Messages {
  publish: Bus['publish']
  /** The last message on any of the subjects; it is durable. */
  last(subjects: readonly string[]): Promise<StoredMessage | undefined>
  read(options: Parameters<Bus['read']>[0]): AsyncGenerator<StoredMessage>
  /** Sequence of the last message; it is durable. */
  head(): Promise<number>
  removedThrough: Bus['removedThrough']
  backlog: Bus['backlog']
}

/** Reads only index entries after the sequence: a grouped count of all subjects would read the whole index at each scrape. */
export const COUNT_AFTER = 'SELECT count(*) AS messages FROM messages WHERE subject = ? AND sequence > ?'

interface MessagesOptions {
  db: DatabaseSync
  commits: GroupCommit
  changes: Changes
  closing: AbortSignal
  now(): Date
  /** Sequence of the last message known to be durable. */
  durable(): number
  removed: Removed
}

/** Reads the sequence of the last message, durable or not. */
export function lastSequence(db: DatabaseSync): () => number {
  const last = db.prepare('SELECT coalesce(max(sequence), 0) AS sequence FROM messages')
  return () => Number(last.get()?.sequence)
}

/**
 * The stream of messages. Publishing a message again changes nothing as long as a message with its id is stored. Readers
 * get durable messages only: they save sequences, and after a power loss another message could get the same sequence.
 */
export function messageStream(options: MessagesOptions): Messages {
  const { db, changes, closing, removed } = options
  const { head, pageAfter } = durablePages(options)
  const endOf = db.prepare('SELECT coalesce(max(sequence), 0) AS sequence FROM messages WHERE subject = ?')
  const subjectsUnder = storedSubjects(db)
  const at = db.prepare('SELECT * FROM messages WHERE sequence = ?')
  const firstAfter = db.prepare(
    'SELECT min(sequence) AS sequence FROM messages WHERE subject = ? AND sequence > ?',
  )
  const countAfter = db.prepare(COUNT_AFTER)

  const last = async (subjects: readonly string[]) => {
    await head()
    let sequence = 0
    for (const subject of subjectsUnder(subjects))
      sequence = Math.max(sequence, Number(endOf.get(subject)?.sequence))
    return sequence === 0 ? undefined : toMessage(at.get(sequence) as unknown as MessageRow)
  }

  /** The sequence before the next message on one of the subjects; before the head, if there is none. */
  const skipped = async (position: number, subjects: readonly string[]) => {
    let next = (await head()) + 1
    for (const subject of subjectsUnder(subjects))
      next = Math.min(next, Number(firstAfter.get(subject, position)?.sequence ?? next))
    return next - 1
  }

  async function* read({ subjects, after, live, signal, missed }: Parameters<Bus['read']>[0]) {
    const ending = AbortSignal.any([signal, closing])
    const until = live ? Number.POSITIVE_INFINITY : await head()
    let position = after
    /** Sequence up to which `missed` has reported removed messages. */
    let reported = after
    while (!ending.aborted) {
      const seen = changes.count()
      const rows = await pageAfter(position)
      const through = removed.after(Math.max(position, reported), subjects)
      if (through !== undefined) missed?.({ after: position, through })
      reported = through ?? reported
      let isEmpty = true
      for (const row of rows) {
        if (ending.aborted || row.sequence > until) return
        position = row.sequence
        if (!fallsUnder(subjects, row.subject)) continue
        isEmpty = false
        yield toMessage(row)
      }
      if (isEmpty && rows.length === PAGE) position = Math.max(position, await skipped(position, subjects))
      if (rows.length > 0) await setImmediate()
      else if (live) await changes.after(seen, ending)
      else return
    }
  }

  const removedThrough = async (subjects: readonly string[]) => removed.after(0, subjects) ?? 0

  const backlog: Bus['backlog'] = async ({ subjects, after }) => {
    let messages = 0
    for (const subject of subjectsUnder(subjects))
      messages += Number(countAfter.get(subject, after)?.messages)
    return messages
  }

  return { publish: publisher(options), last, read, head, removedThrough, backlog }
}

/**
 * Returns a function for the subjects of stored messages that fall under a pattern. It reads one entry of the index for each
 * stored subject.
 */
function storedSubjects(db: DatabaseSync): (patterns: readonly string[]) => Iterable<string> {
  const next = db.prepare('SELECT min(subject) AS subject FROM messages WHERE subject > ?')
  return function* (patterns) {
    let subject = next.get('')?.subject
    for (; typeof subject === 'string'; subject = next.get(subject)?.subject)
      if (fallsUnder(patterns, subject)) yield subject
  }
}

function durablePages({ db, commits, durable }: MessagesOptions) {
  const newest = lastSequence(db)
  const page = db.prepare(
    `SELECT * FROM messages WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ${PAGE}`,
  )

  const head = async () => {
    if (newest() > durable()) await commits.synced()
    return durable()
  }

  const rowsAfter = (sequence: number, until: number): MessageRow[] => {
    const rows: MessageRow[] = []
    let length = 0
    for (const next of page.iterate(sequence, until)) {
      const row = next as unknown as MessageRow
      rows.push(row)
      length += row.data.length
      if (length >= PAGE_LENGTH) break
    }
    return rows
  }

  /** A page of durable messages after a sequence; empty only at the end of the durable messages. */
  const pageAfter = async (sequence: number): Promise<MessageRow[]> => {
    const rows = rowsAfter(sequence, durable())
    // A running sync wakes the reader when it ends. Messages of other processes are synced here.
    if (rows.length > 0 || newest() <= durable() || commits.isSyncing()) return rows
    return rowsAfter(sequence, await head())
  }

  return { head, pageAfter }
}

function publisher({ db, commits, now }: MessagesOptions): Bus['publish'] {
  const insert = db.prepare(
    `INSERT INTO messages (id, subject, data, headers, stored_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
  )
  const withId = db.prepare('SELECT sequence FROM messages WHERE id = ?')
  const endOf = db.prepare('SELECT coalesce(max(sequence), 0) AS sequence FROM messages WHERE subject = ?')

  const requireEnd = (subject: string, after: number) => {
    const end = Number(endOf.get(subject)?.sequence)
    if (end > after) throw new Overtaken(subject, { after, end })
  }

  return async (messages, { after } = {}) => {
    const rows = messages.map(
      ({ id, subject, data, headers }) =>
        [id, subject, JSON.stringify(data), headers ? JSON.stringify(headers) : null] as const,
    )
    const [first] = messages
    return commits.run(() => {
      if (first && after !== undefined) requireEnd(first.subject, after)
      const storedAt = now().toISOString()
      for (const row of rows) insert.run(...row, storedAt)
      return Number(withId.get(messages.at(-1)?.id ?? '')?.sequence ?? 0)
    })
  }
}

const toMessage = ({ sequence, id, subject, data, headers, stored_at }: MessageRow): StoredMessage => ({
  sequence,
  id,
  subject,
  data: JSON.parse(data),
  ...(headers !== null && { headers: JSON.parse(headers) }),
  storedAt: stored_at,
})

export const fallsUnder = (subjects: Subjects['subjects'], subject: string) =>
  subjects.some(pattern => subjectMatches(pattern, subject))
