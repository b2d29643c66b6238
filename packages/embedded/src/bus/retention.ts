import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { sleep } from '@gantry/pacing'
import { warnOf } from '../sqlite/disk.ts'
import type { GroupCommit } from '../sqlite/group-commit.ts'
import { fallsUnder, type Removed } from './messages.ts'

export const REMOVED_SCHEMA = `
  CREATE TABLE IF NOT EXISTS removed_messages (subject TEXT PRIMARY KEY, sequence INTEGER NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS removed_messages_by_sequence ON removed_messages (sequence)`

/** Messages examined per transaction: a few milliseconds of work. */
const BATCH = 250
/** Longest pause between two runs. Shorter retentions use a tenth of the retention. */
const LONGEST_PAUSE_MS = 60_000

/** Records the last removed message of each subject. */
export function removedMessages(db: DatabaseSync): Removed {
  const marks = db.prepare(
    'SELECT subject, sequence FROM removed_messages WHERE sequence > ? ORDER BY sequence DESC',
  )
  return {
    after(sequence, subjects) {
      const last = marks.all(sequence).find(({ subject }) => fallsUnder(subjects, String(subject)))
      return last && Number(last.sequence)
    },
  }
}

export interface RetentionOptions {
  db: DatabaseSync
  commits: GroupCommit
  now(): Date
  retentionMs: number
  closing: AbortSignal
}

/**
 * Removes messages older than the retention, periodically until the bus closes. The last message of each subject stays:
 * relays continue after it, and detect by it that the log was restored from an older copy. Several processes on the same
 * file can do this at the same time.
 */
export async function removeExpired(options: RetentionOptions): Promise<void> {
  const { retentionMs, closing } = options
  const removeBatch = removal(options)
  const pauseMs = Math.min(retentionMs / 10, LONGEST_PAUSE_MS)
  while (!closing.aborted) {
    try {
      for (let sequence: number | undefined = 0; sequence !== undefined && !closing.aborted; ) {
        sequence = await removeBatch(sequence)
        await setImmediate()
      }
    } catch (error) {
      if (!closing.aborted) warnOf(error)
    }
    await sleep(pauseMs, { signal: closing, ref: false })
  }
}

/**
 * @returns a function that removes the expired ones of the next messages after a sequence. It returns the sequence to
 * continue after, undefined at the end
 */
function removal({ db, commits, now, retentionMs }: RetentionOptions) {
  const next = db.prepare(
    `SELECT sequence, subject, stored_at FROM messages WHERE sequence > ? ORDER BY sequence LIMIT ${BATCH}`,
  )
  const endOf = db.prepare('SELECT max(sequence) AS sequence FROM messages WHERE subject = ?')
  const remove = db.prepare('DELETE FROM messages WHERE sequence = ?')
  const note = db.prepare(
    `INSERT INTO removed_messages (subject, sequence) VALUES (?, ?)
     ON CONFLICT (subject) DO UPDATE SET sequence = max(sequence, excluded.sequence)`,
  )
  return (after: number) =>
    commits.run(() => {
      const before = new Date(now().getTime() - retentionMs).toISOString()
      const rows = next.all(after)
      const expired = rows.slice(0, rows.findIndex(row => String(row.stored_at) >= before) >>> 0)
      const removed = new Map<string, number>()
      for (const { sequence, subject } of expired) {
        if (sequence === endOf.get(subject as string)?.sequence) continue
        remove.run(sequence as number)
        removed.set(String(subject), Number(sequence))
      }
      for (const [subject, sequence] of removed) note.run(subject, sequence)
      return expired.length === BATCH ? Number(expired.at(-1)?.sequence) : undefined
    })
}
