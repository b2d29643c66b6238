import type { DatabaseSync } from 'node:sqlite'
import { type Bus, subjectMatches } from '@gantry/messaging'
import type { Changes } from '../sqlite/changes.ts'
import { warnOf } from '../sqlite/disk.ts'
import type { GroupCommit } from '../sqlite/group-commit.ts'
import { hostClock } from '../sqlite/sqlite-file.ts'

export const BROADCASTS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS broadcasts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    subject TEXT NOT NULL,
    data TEXT NOT NULL,
    sent_at INTEGER NOT NULL
  ) STRICT`

/** How long broadcasts stay in the file. Other processes poll every few milliseconds. */
const KEEP_MS = 10_000

interface BroadcastsOptions {
  db: DatabaseSync
  commits: GroupCommit
  changes: Changes
  /** Aborted when the bus closes. */
  closing: AbortSignal
}

type Handler = Parameters<Bus['listen']>[1]

/** Stores broadcasts in the file. Listeners on this bus are called at once, those of other buses at their next poll. */
export function broadcasts({
  db,
  commits,
  changes,
  closing,
}: BroadcastsOptions): Pick<Bus, 'broadcast' | 'listen'> {
  const time = hostClock(db)
  const insert = db.prepare('INSERT INTO broadcasts (subject, data, sent_at) VALUES (?, ?, ?)')
  const prune = db.prepare('DELETE FROM broadcasts WHERE sent_at < ?')
  const last = db.prepare('SELECT coalesce(max(id), 0) AS id FROM broadcasts')
  const since = db.prepare('SELECT id, subject, data FROM broadcasts WHERE id > ? ORDER BY id')
  const listeners = new Set<{ subject: string; handler: Handler }>()
  let prunedAt = 0
  /** Id of the last broadcast that was passed to the listeners of this bus. */
  let heard = 0
  let listening: AbortController | undefined

  const notify = (subject: string, data: string) => {
    for (const listener of [...listeners]) {
      if (!subjectMatches(listener.subject, subject)) continue
      try {
        listener.handler(JSON.parse(data))
      } catch (error) {
        process.emitWarning(`a listener on ${subject} failed: ${error}`)
      }
    }
  }

  const broadcast: Bus['broadcast'] = async (subject, data) => {
    const text = JSON.stringify(data)
    await commits.run(() => {
      const sentAt = time()
      if (sentAt - prunedAt > KEEP_MS) {
        prune.run(sentAt - KEEP_MS)
        prunedAt = sentAt
      }
      insert.run(subject, text, sentAt)
    })
    if (listening) deliverNew()
  }

  /**
   * Reads broadcasts from the file, also those of this bus, so that all listeners on the file get them in the same order.
   */
  const deliverNew = () => {
    for (const { id, subject, data } of since.all(heard)) {
      heard = Number(id)
      notify(String(subject), String(data))
    }
  }

  /** Begins with the broadcasts that are sent from now on. */
  const start = () => {
    heard = Number(last.get()?.id)
    listening = new AbortController()
    runAfterChanges(changes, AbortSignal.any([listening.signal, closing]), deliverNew)
  }

  const listen: Bus['listen'] = (subject, handler) => {
    const listener = { subject, handler }
    listeners.add(listener)
    if (!listening) start()
    return () => {
      listeners.delete(listener)
      if (listeners.size > 0) return
      listening?.abort()
      listening = undefined
    }
  }

  return { broadcast, listen }
}

/**
 * Calls `work` now and after each change, until the signal is aborted. A call that throws causes a warning; the next change
 * calls it again.
 */
async function runAfterChanges(changes: Changes, signal: AbortSignal, work: () => void): Promise<void> {
  while (!signal.aborted) {
    const seen = changes.count()
    try {
      work()
    } catch (error) {
      warnOf(error)
    }
    await changes.after(seen, signal)
  }
}
