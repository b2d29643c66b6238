import { type ReadModelStore, type ReadModels, withGenerations } from '@gantry/stores'
import { Collections } from './read-models/collections.ts'
import { clearAll } from './read-models/document-table.ts'
import { leaseTable } from './read-models/leases.ts'
import { checkpointTable, PAUSED_MS, ReadModelsFile } from './read-models/read-models-file.ts'
import { type Disk, watchDisk } from './sqlite/disk.ts'
import { hostClock } from './sqlite/sqlite-file.ts'

export interface ReadModelsOptions {
  /** Path of the SQLite file. It is created when it does not exist. */
  path: string
  /**
   * Clock for the expiry of leases and the age of tombstones. Default: the clock of the host, which all processes on it
   * share.
   */
  now?: () => Date
  /** Locks the file exclusively for this process, which makes it faster. Default: false. */
  exclusive?: boolean
  /** State of the disk, shared by the files of a process. Default: a separate one that reports on stderr. */
  disk?: Disk
  /**
   * How long a query waits for an index that is being built, in milliseconds, before it fails as unavailable. Default:
   * 5,000.
   */
  indexWaitMs?: number
  /** Receives the progress of an index that takes long to build. Default: writes to stderr. */
  log?(message: string): void
}

const INDEX_WAIT_MS = 5_000

/**
 * Read models in a SQLite file. Several of these, also in several processes of one host, can use the same file unless one is
 * opened with `exclusive`: a query by any of them includes all writes that were acknowledged before. An acknowledged write
 * survives the death of the process. A power loss can take back the last writes, together with the checkpoint that covers
 * them.
 *
 * Filters, sorts and searches of a collection use an index in the file. It follows the documents with the next list, the
 * first write after a list, or after 64 changes.
 * @throws DataFolderRefused when the file is damaged, is not a Gantry file of this kind, or has a newer version
 */
export function sqliteReadModels(options: ReadModelsOptions): ReadModels {
  // Without other processes what is known stays true. With them, every access reads it: it takes microseconds.
  const knownForMs = options.exclusive ? Number.POSITIVE_INFINITY : 0
  return withGenerations(sqliteReadModelStore(options), { knownForMs, writtenWithinMs: PAUSED_MS })
}

/** Documents of a transaction, some 5 ms with their index: other work of the process waits for it. */
const WRITTEN_AT_ONCE = 64

/** The store without groups of collections, which `withGenerations` adds. */
export function sqliteReadModelStore({
  path,
  now,
  exclusive = false,
  disk = watchDisk(),
  indexWaitMs = INDEX_WAIT_MS,
  log = message => void process.stderr.write(`gantry: ${message}\n`),
}: ReadModelsOptions): ReadModelStore {
  const file = new ReadModelsFile({ path, exclusive, disk })
  const { db, read, write } = file
  const one = db.prepare('SELECT 1')
  const hostTime = hostClock(db)
  const clock = now ? () => now().getTime() : hostTime
  const checkpoints = checkpointTable(db)
  const leases = leaseTable(db, clock)
  const collections = new Collections(file, { indexWaitMs, log, now: clock })

  return {
    collection: definition => collections.open(definition),
    async write(writes, checkpoint) {
      const calledAt = performance.now()
      for (let from = 0; from === 0 || from < writes.length; from += WRITTEN_AT_ONCE) {
        const end = from + WRITTEN_AT_ONCE
        const store = collections.storing(writes.slice(from, end))
        await write(() => {
          if (checkpoint?.lease) leases.require(checkpoint.lease)
          store()
          if (checkpoint && end >= writes.length) checkpoints.save(checkpoint.name, checkpoint.position)
        }, calledAt)
      }
    },
    checkpoints: {
      get: async name => read(() => checkpoints.get(name)),
      save: (name, position, lease) =>
        write(() => {
          if (lease) leases.require(lease)
          checkpoints.save(name, position)
        }),
      clear: name => write(() => checkpoints.clear(name)),
    },
    leases: {
      acquire: (name, holder, ttlMs) => write(() => leases.acquire(name, holder, ttlMs)),
      release: lease => write(() => leases.release(lease)),
    },
    drop: async definition => {
      const table = collections.table(definition)
      await write(() => table.clear())
    },
    discard: definition => collections.discard(definition),
    async purge() {
      await collections.purgeIndexes()
      // The write-ahead log has earlier content of pages.
      read(() => db.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
    },
    ping: async () => void read(() => one.get()),
    time: async () => read(() => new Date(hostTime())),
    close: async () => file.close(),
  }
}

/**
 * Drops all documents and positions in the file, in one transaction. Other processes can have the file open. Leases stay,
 * with their tokens: the caller can hold them, so that processes that start meanwhile wait.
 * @returns whether there were any collections
 * @throws DataFolderRefused, ReadModelsUnavailable
 */
export async function dropReadModels(path: string): Promise<boolean> {
  const file = new ReadModelsFile({ path, exclusive: false, disk: watchDisk() })
  try {
    return await file.write(() => {
      file.db.exec('DELETE FROM checkpoints')
      return clearAll(file.db) > 0
    })
  } finally {
    file.close()
  }
}
