import { type Bus, BusUnavailable, Overtaken } from '@gantry/messaging'
import { BROADCASTS_SCHEMA, broadcasts } from './bus/broadcasts.ts'
import { lastSequence, MESSAGES_SCHEMA, messageStream } from './bus/messages.ts'
import { REMOVED_SCHEMA, removedMessages, removeExpired } from './bus/retention.ts'
import { watchChanges } from './sqlite/changes.ts'
import { type Disk, watchDisk } from './sqlite/disk.ts'
import { groupCommit, syncWalNow, type WalSync, walSync } from './sqlite/group-commit.ts'
import { FORMATS, openDatabase } from './sqlite/sqlite-file.ts'

export interface BusOptions {
  /** Path of the SQLite file. It is created when it does not exist. */
  path: string
  /** Clock for `storedAt`. Default: the system clock. */
  now?: () => Date
  /** How long messages are kept, in milliseconds, whether consumers have handled them or not. Default: without limit. */
  retentionMs?: number | undefined
  /** Whether to poll for messages of other buses on the file. Default: true. */
  polls?: boolean
  /** State of the disk, shared by the files of a process. Default: a separate one that reports on stderr. */
  disk?: Disk
  /** Syncs the write-ahead log. Default: fdatasync. */
  sync?: WalSync
}

const FILE = {
  kind: 'messages',
  version: FORMATS.messages,
  schema: [MESSAGES_SCHEMA, REMOVED_SCHEMA, BROADCASTS_SCHEMA].join(';'),
} as const

/**
 * A bus in a SQLite file. Several buses, also in several processes of one host, can use the same file. Published messages
 * are durable.
 * @throws DataFolderRefused when the file is damaged, is not a Gantry file of this kind, or has a newer version
 */
export function sqliteBus(options: BusOptions): Bus {
  const { path, now = () => new Date(), polls = true } = options
  const { disk = watchDisk(), retentionMs } = options
  const db = openDatabase(path, { ...FILE, durable: false })
  const sync = options.sync ?? walSync(db, path)
  // Broadcasts wait for no sync: their commits survive the death of the process, but not a power loss.
  const unsynced = openDatabase(path, { ...FILE, durable: false })
  const hints = groupCommit(unsynced, { committed() {}, path, disk })
  const changes = watchChanges(db, polls)
  syncWalNow(db, path, disk)
  const last = lastSequence(db)
  let durable = last()
  const commits = groupCommit(db, {
    committed: changes.announce,
    path,
    disk,
    async sync() {
      const reached = last()
      await sync()
      durable = reached
    },
  })
  const closing = new AbortController()
  const removed = removedMessages(db)
  const messages = messageStream({
    db,
    commits,
    changes,
    closing: closing.signal,
    now,
    durable: () => durable,
    removed,
  })
  const { broadcast, listen } = broadcasts({ db: unsynced, commits: hints, changes, closing: closing.signal })

  const removing =
    retentionMs !== undefined && removeExpired({ db, commits, now, retentionMs, closing: closing.signal })

  const close = async () => {
    if (closing.signal.aborted) return
    commits.flush()
    hints.flush()
    closing.abort()
    await removing
    await commits.settled()
    changes.close()
    await sync.close()
    unsynced.close()
    db.close()
  }

  return {
    system: 'sqlite',
    publish: (list, options) => answering(() => messages.publish(list, options)),
    last: subjects => answering(() => messages.last(subjects)),
    read: options => iterating(messages.read(options)),
    head: () => answering(() => messages.head()),
    backlog: options => answering(() => messages.backlog(options)),
    removedThrough: subjects => answering(() => messages.removedThrough(subjects)),
    broadcast: (subject, data) => answering(() => broadcast(subject, data)),
    listen,
    ping: () => answering(async () => void last()),
    close,
  }
}

/**
 * Drops all messages in the file in one transaction. Other processes can have the file open.
 * @returns whether there were any messages
 * @throws DataFolderRefused, DiskFull
 */
export function dropMessages(path: string): boolean {
  const db = openDatabase(path, { ...FILE, durable: true })
  try {
    const hasMessages = lastSequence(db)() > 0
    db.exec('BEGIN IMMEDIATE; DELETE FROM messages; DELETE FROM removed_messages; COMMIT')
    return hasMessages
  } catch (error) {
    throw watchDisk().failed(path, error)
  } finally {
    db.close()
  }
}

/** Any error that the contract of the bus does not name means that the bus is unavailable. */
const failure = (error: unknown) =>
  error instanceof BusUnavailable || error instanceof Overtaken ? error : new BusUnavailable(error)

const answering = <T>(call: () => Promise<T>): Promise<T> =>
  call().catch(error => Promise.reject(failure(error)))

async function* iterating<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* items
  } catch (error) {
    throw failure(error)
  }
}
