import {
  type Collection,
  type CollectionDefinition,
  type Document,
  LeaseLost,
  type ReadModels,
  ReadModelsUnavailable,
} from '@gantry/read-models'
import { type Disk, watchDisk } from './disk.ts'
import { groupCommit } from './group-commit.ts'
import { hostClock } from './host-clock.ts'
import { CHECKPOINTS_SCHEMA, checkpointTable } from './read-models/checkpoints.ts'
import { type ChoiceOfLists, chooseLists } from './read-models/choice-of-lists.ts'
import { COLLECTIONS_SCHEMA, type DocumentTable, documentTable } from './read-models/document-table.ts'
import { LEASES_SCHEMA, leaseTable } from './read-models/leases.ts'
import { sqliteCollection } from './read-models/sqlite-collection.ts'
import { FORMATS, openDatabase } from './sqlite-file.ts'

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
   * Collections with fewer documents are queried through an index in memory, larger ones through an index in the file. The
   * index in memory takes about 150 MB for 100,000 APIs. Default: 200,000; for collections without text search 500,000.
   */
  inMemoryBelow?: number
  /**
   * How long a query waits for an index that is being built, in milliseconds, before it fails as unavailable. Default:
   * 5,000.
   */
  indexWaitMs?: number
  /** Receives the progress of an index that takes long to build. Default: writes to stderr. */
  log?(message: string): void
}

const IN_MEMORY_BELOW = { withTexts: 200_000, withoutTexts: 500_000 }
const INDEX_WAIT_MS = 5_000

const SCHEMA = [COLLECTIONS_SCHEMA, CHECKPOINTS_SCHEMA, LEASES_SCHEMA].join(';')
/**
 * Read models in a SQLite file. Several of these, also in several processes of one host, can use the same file unless one is
 * opened with `exclusive`: a query by any of them includes all writes that were acknowledged before. An acknowledged write
 * survives the death of the process. A power loss can take back the last writes, together with the checkpoint that covers
 * them.
 *
 * Filters, sorts and searches of a collection use an index in memory. It is loaded by the first query (about 0.6 s for
 * 100,000 APIs), and its texts by the first search (about 3 s), without blocking other work. Large collections, and those
 * that grow without bound, use an index in the file.
 * @throws DataFolderRefused when the file is damaged, is not a Gantry file of this kind, or has a newer version
 */
export function sqliteReadModels({
  path,
  now,
  exclusive = false,
  disk = watchDisk(),
  inMemoryBelow,
  indexWaitMs = INDEX_WAIT_MS,
  log = message => void process.stderr.write(`gantry: ${message}\n`),
}: ReadModelsOptions): ReadModels {
  const db = openDatabase(path, {
    kind: 'read-models',
    version: FORMATS['read-models'],
    durable: false,
    exclusive,
    schema: SCHEMA,
  })
  const commits = groupCommit(db, { committed() {}, path, disk })
  const begin = db.prepare('BEGIN')
  const commit = db.prepare('COMMIT')
  const one = db.prepare('SELECT 1')
  const hostTime = hostClock(db)
  const checkpoints = checkpointTable(db)
  const clock = now ? () => now().getTime() : hostTime
  const leases = leaseTable(db, clock)
  const tables = new Map<string, DocumentTable>()
  const choices = new WeakMap<object, ChoiceOfLists>()
  const collections = new WeakMap<object, unknown>()
  let closed = false

  const read = <T>(job: () => T): T => {
    if (closed) throw new ReadModelsUnavailable('they are closed')
    try {
      return job()
    } catch (error) {
      throw isSqliteError(error) ? new ReadModelsUnavailable(disk.failed(path, error)) : error
    }
  }

  // Without other processes nothing changes while a synchronous job runs.
  const snapshot = <T>(job: () => T): T => (exclusive ? read(job) : inTransaction(job))

  const inTransaction = <T>(job: () => T): T =>
    read(() => {
      begin.run()
      try {
        return job()
      } finally {
        commit.run()
      }
    })

  const write = async <T>(job: () => T): Promise<T> => {
    if (closed) throw new ReadModelsUnavailable('they are closed')
    const calledAt = performance.now()
    try {
      return await commits.run(() => {
        if (performance.now() - calledAt > PAUSED_MS) throw new Error('the process was paused while it wrote')
        return job()
      })
    } catch (error) {
      throw error instanceof LeaseLost ? error : new ReadModelsUnavailable(error)
    }
  }

  const tableOf = ({ name, version }: Pick<CollectionDefinition<Document>, 'name' | 'version'>) => {
    const key = `${name}@${version}`
    let table = tables.get(key)
    if (!table) {
      table = read(() => documentTable(db, name, version, exclusive))
      tables.set(key, table)
    }
    return table
  }

  const choiceOf = (definition: CollectionDefinition<Document>): ChoiceOfLists => {
    let choice = choices.get(definition)
    if (!choice) {
      choice = chooseLists(db, tableOf(definition), definition, {
        inMemoryBelow: inMemoryBelow ?? IN_MEMORY_BELOW[definition.text ? 'withTexts' : 'withoutTexts'],
        indexWaitMs,
        log,
        read,
        snapshot,
        write,
      })
      choices.set(definition, choice)
    }
    return choice
  }

  const collection = <D extends Document>(definition: CollectionDefinition<D>): Collection<D> => {
    const known = collections.get(definition) as Collection<D> | undefined
    if (known) return known
    const { lists, changed } = choiceOf(definition as unknown as CollectionDefinition<Document>)
    const opened = sqliteCollection(definition, {
      table: tableOf(definition),
      lists,
      read,
      now: clock,
      write: job =>
        write(() => {
          const result = job()
          changed()
          return result
        }),
    })
    collections.set(definition, opened)
    return opened
  }

  return {
    collection,
    async write(writes, checkpoint) {
      const changes = writes.map(({ force = false, incomplete = false, generation = 0, ...write }) => ({
        table: tableOf(write.collection),
        choice: choiceOf(write.collection),
        change: {
          id: write.id,
          revision: write.revision,
          doc: write.doc && JSON.stringify(write.doc),
          overSame: force || !write.doc,
          incomplete,
          generation,
        },
      }))
      await write(() => {
        if (checkpoint?.lease) leases.require(checkpoint.lease)
        const changed = new Set<ChoiceOfLists>()
        for (const { table, choice, change } of changes) if (table.store(change)) changed.add(choice)
        for (const choice of changed) choice.changed()
        if (checkpoint) checkpoints.save(checkpoint.name, checkpoint.position)
      })
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
      const table = tableOf(definition)
      await write(() => table.clear())
    },
    ping: async () => void read(() => one.get()),
    time: async () => read(() => new Date(hostTime())),
    async close() {
      if (closed) return
      commits.flush()
      closed = true
      db.close()
    },
  }
}

/**
 * Maximum time between the call of a write and its execution. The write of a process that was paused for longer is refused:
 * the tombstone that would have rejected it may be forgotten by then. Far longer than a write is queued, and far shorter
 * than tombstones are kept.
 */
const PAUSED_MS = 60_000

const isSqliteError = (error: unknown) => error instanceof Error && 'errcode' in error
