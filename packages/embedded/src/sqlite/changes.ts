import type { DatabaseSync } from 'node:sqlite'

/** Notifies readers of a file that it has changed. */
export interface Changes {
  /**
   * Number of changes noticed so far. Read it before reading the file and pass it to `after`, so that no change is missed.
   */
  count(): number
  /** To be called after each commit of this process. It wakes the waiting readers of the process at once. */
  announce(): void
  /** Resolves when there is a change after that count, when the signal is aborted, on `close`, or after `atMostMs`. */
  after(count: number, signal: AbortSignal, atMostMs?: number): Promise<void>
  /** Resolves all waiting calls of `after`. */
  close(): void
}

const POLL_MS = 10

/**
 * Watches a file for changes. With `polls`, commits of other connections are noticed too: SQLite is asked every 10 ms, only
 * while a reader waits.
 */
export function watchChanges(db: DatabaseSync, polls: boolean): Changes {
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
      // The waiting reader gets the same error when it reads, and can report it.
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
      if (polls) timer ??= setInterval(poll, POLL_MS)
    })
  }

  const close = () => {
    closed = true
    wake()
  }

  return { count: () => changes, announce, after, close }
}
