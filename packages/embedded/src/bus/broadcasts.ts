import { type Bus, subjectMatches } from '@gantry/messaging'
import { follow } from '../changes.ts'
import type { PassingFile } from './passing-file.ts'

export const BROADCASTS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS broadcasts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sender TEXT NOT NULL,
    subject TEXT NOT NULL,
    data TEXT NOT NULL,
    sent_at INTEGER NOT NULL
  ) STRICT`

/** Broadcasts stay in the file for so long: another process looks every few milliseconds. */
const KEEP_MS = 10_000

type Handler = Parameters<Bus['listen']>[1]

/** Broadcasts: at once to listeners on this bus, through the file to those on others. */
export function broadcasts({
  db,
  commits,
  changes,
  closing,
  time,
  instance,
}: PassingFile): Pick<Bus, 'broadcast' | 'listen'> {
  const insert = db.prepare('INSERT INTO broadcasts (sender, subject, data, sent_at) VALUES (?, ?, ?, ?)')
  const prune = db.prepare('DELETE FROM broadcasts WHERE sent_at < ?')
  const last = db.prepare('SELECT coalesce(max(id), 0) AS id FROM broadcasts')
  const others = db.prepare(
    'SELECT id, subject, data FROM broadcasts WHERE id > ? AND sender <> ? ORDER BY id',
  )
  const listeners = new Set<{ subject: string; handler: Handler }>()
  let prunedAt = 0
  let following: AbortController | undefined

  const tell = (subject: string, data: string) => {
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
      insert.run(instance, subject, text, sentAt)
    })
    tell(subject, text)
  }

  /** Hears what others say from now on. */
  const start = () => {
    let heard = Number(last.get()?.id)
    following = new AbortController()
    follow(changes, AbortSignal.any([following.signal, closing]), () => {
      for (const { id, subject, data } of others.all(heard, instance)) {
        heard = Number(id)
        tell(String(subject), String(data))
      }
    })
  }

  const listen: Bus['listen'] = (subject, handler) => {
    const listener = { subject, handler }
    listeners.add(listener)
    if (!following) start()
    return () => {
      listeners.delete(listener)
      if (listeners.size > 0) return
      following?.abort()
      following = undefined
    }
  }

  return { broadcast, listen }
}
