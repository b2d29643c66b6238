import type { DatabaseSync } from 'node:sqlite'
import { warnOf } from './disk.ts'

/** Tells those who follow a file that somebody has written to it. */
export interface Changes {
  /** How many changes were noticed; taken before reading and given to `after`, so that none is missed between. */
  count(): number
  /** To be called by this process after a commit: its followers go on at once. */
  announce(): void
  /**
   * Resolves when there was a change after that count, when the signal is aborted, when all is closed, or after
   * that time.
   */
  after(count: number, signal: AbortSignal, atMostMs?: number): Promise<void>
  /** Lets all who wait go on. */
  close(): void
}

/** Commits of other connections are noticed by asking SQLite every `pollMs`, only while somebody waits. */
export function watchChanges(db: DatabaseSync, pollMs: number): Changes {
  const query = db.prepare('PRAGMA data_version')
  const dataVersion = () => query.get()?.data_version
  const waiting = new Set<() => void>()
  let seen = dataVersion()
  let changes = 0
  let closed = false
  let timer: NodeJS.Timeout | undefined

  const stopPolling = () => {
    clearInterval(timer)
    timer = undefined
  }

  const wake = () => {
    for (const proceed of [...waiting]) proceed()
  }

  const announce = () => {
    changes++
    wake()
  }

  const poll = () => {
    try {
      const version = dataVersion()
      if (version === seen) return
      seen = version
    } catch {
      // Whoever goes on to read meets the same failure, and can tell it.
    }
    announce()
  }

  const after = async (count: number, signal: AbortSignal, atMostMs?: number) => {
    if (closed || signal.aborted || changes > count) return
    await new Promise<void>(resolve => {
      const proceed = () => {
        waiting.delete(proceed)
        clearTimeout(deadline)
        signal.removeEventListener('abort', proceed)
        if (waiting.size === 0) stopPolling()
        resolve()
      }
      const deadline = atMostMs === undefined ? undefined : setTimeout(proceed, atMostMs)
      waiting.add(proceed)
      signal.addEventListener('abort', proceed)
      timer ??= setInterval(poll, pollMs)
    })
  }

  const close = () => {
    closed = true
    wake()
  }

  return { count: () => changes, announce, after, close }
}

/** Looks now and after each change, until the signal is aborted. A look that fails is tried again at the next one. */
export async function follow(changes: Changes, signal: AbortSignal, look: () => void): Promise<void> {
  while (!signal.aborted) {
    const seen = changes.count()
    try {
      look()
    } catch (error) {
      warnOf(error)
    }
    await changes.after(seen, signal)
  }
}
