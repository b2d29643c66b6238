import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { type Bus, type Message, type StoredMessage, type Subjects, subjectMatches } from '@gantry/messaging'
import type { Changes } from '../changes.ts'
import type { GroupCommit } from '../group-commit.ts'

export const MESSAGES_SCHEMA = `
  CREATE TABLE IF NOT EXISTS messages (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    subject TEXT NOT NULL,
    data TEXT NOT NULL,
    headers TEXT,
    stored_at TEXT NOT NULL
  ) STRICT`

/** Messages read at a time. */
const PAGE = 250

export interface MessageRow {
  sequence: number
  id: string
  subject: string
  data: string
  headers: string | null
  stored_at: string
}

interface Messages {
  publish(messages: readonly Message[]): Promise<void>
  read(options: Parameters<Bus['read']>[0]): AsyncGenerator<StoredMessage>
  head(): number
  /** One page; empty at the end. */
  pageAfter(sequence: number): MessageRow[]
}

interface MessagesOptions {
  db: DatabaseSync
  commits: GroupCommit
  changes: Changes
  closing: AbortSignal
  now(): Date
}

/** The stream of messages. An id is known for ever, so that publishing it again changes nothing. */
export function messageStream({ db, commits, changes, closing, now }: MessagesOptions): Messages {
  const insert = db.prepare(
    `INSERT INTO messages (id, subject, data, headers, stored_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
  )
  const last = db.prepare('SELECT coalesce(max(sequence), 0) AS sequence FROM messages')
  const page = db.prepare(`SELECT * FROM messages WHERE sequence > ? ORDER BY sequence LIMIT ${PAGE}`)
  const head = () => Number(last.get()?.sequence)
  const pageAfter = (sequence: number) => page.all(sequence) as unknown as MessageRow[]

  const publish = async (messages: readonly Message[]) => {
    const rows = messages.map(
      ({ id, subject, data, headers }) =>
        [id, subject, JSON.stringify(data), headers ? JSON.stringify(headers) : null] as const,
    )
    await commits.run(() => {
      const storedAt = now().toISOString()
      for (const row of rows) insert.run(...row, storedAt)
    })
  }

  async function* read({ subjects, after, live, signal }: Parameters<Bus['read']>[0]) {
    const ending = AbortSignal.any([signal, closing])
    const until = live ? Number.POSITIVE_INFINITY : head()
    let place = after
    while (!ending.aborted) {
      const seen = changes.count()
      const rows = pageAfter(place)
      for (const row of rows) {
        if (ending.aborted || row.sequence > until) return
        place = row.sequence
        if (fallsUnder(subjects, row.subject)) yield toMessage(row)
      }
      if (rows.length === PAGE) await setImmediate()
      else if (live) await changes.after(seen, ending)
      else return
    }
  }

  return { publish, read, head, pageAfter }
}

export const toMessage = ({
  sequence,
  id,
  subject,
  data,
  headers,
  stored_at,
}: MessageRow): StoredMessage => ({
  sequence,
  id,
  subject,
  data: JSON.parse(data),
  ...(headers !== null && { headers: JSON.parse(headers) }),
  storedAt: stored_at,
})

export const fallsUnder = (subjects: Subjects['subjects'], subject: string) =>
  subjects.some(pattern => subjectMatches(pattern, subject))
