import {
  type CollectionDefinition,
  type CollectionName,
  type Document,
  type ReadModelStore,
  type ReadModels,
  type Write,
  withGenerations,
} from '@gantry/stores'
import { type Db, MongoRuntimeError } from 'mongodb'
import { connect } from '../connection/connection.ts'
import { PROGRESS, type Progress } from '../connection/progress.ts'
import { type BuildInfo, serverOf } from '../connection/server.ts'
import type { MongoOptions } from '../connection/settings.ts'
import { mongoCheckpoints } from './checkpoints.ts'
import { mongoCollection, type OpenCollection } from './collection.ts'
import { changeOf, newest, PAUSED_MS, pauseWatch } from './guarded-writes.ts'
import { mongoLeases } from './leases.ts'
import { collectionName, type Definition, dropWithWords } from './prepare.ts'

export interface MongoReadModelsOptions extends MongoOptions {
  /**
   * Whether to create indexes. Default: true, except for FerretDB 1, which reads all documents for every query regardless of
   * indexes.
   */
  indexes?: boolean
  /** Monotonic clock for the expiry of leases, in milliseconds. Default: that of this process. */
  elapsed?: () => number
}

/** How long a process uses the generations that it has read, in milliseconds. Reading them takes a request. */
const GENERATIONS_KNOWN_FOR_MS = 1_000

/**
 * Read models in MongoDB 5.0 or newer, for any number of processes. An acknowledged write is on the disks of a majority and
 * survives the loss of a minority. Reads go to the primary with read concern `majority`: a read that starts after a write
 * was acknowledged sees it, in every process, as long as the primary stays the same. Reads are not linearizable: after an
 * election, the former primary can answer reads for some seconds, until it notices that it has no majority, without writes
 * that its successor has acknowledged. Such a stale read does no harm, because every write is guarded by the server, and the
 * former primary cannot acknowledge writes.
 *
 * Connects by itself, and again whenever the server is back. While the server is unavailable, calls fail with
 * ReadModelsUnavailable within seconds.
 *
 * A page and its total are two queries, so that a change in between can be in only one of them. A page that is not full
 * determines the total. A total reads as many index entries as there are matches, about a microsecond each. Strings sort by
 * code point, which differs from the order by code unit only for characters beyond U+FFFF.
 * @throws MongoRefused when the URL cannot be used
 */
export function mongoReadModels(options: MongoReadModelsOptions): ReadModels {
  return withGenerations(mongoReadModelStore(options), {
    knownForMs: GENERATIONS_KNOWN_FOR_MS,
    writtenWithinMs: PAUSED_MS,
  })
}

/** The store without groups of collections, which `withGenerations` adds. */
function mongoReadModelStore({
  indexes,
  elapsed = () => performance.now(),
  ...options
}: MongoReadModelsOptions): ReadModelStore {
  const connection = connect(options)
  const { db, run, close } = connection
  const progress = db.collection<Progress>(PROGRESS)
  const leases = mongoLeases(progress, elapsed)
  const checkpoints = mongoCheckpoints(progress)
  const collections = new Map<Definition, OpenCollection<Document>>()

  const server = async () => {
    const found = serverOf((await db.command({ buildInfo: 1 })) as BuildInfo)
    return { ...found, usesIndexes: indexes ?? found.usesIndexes }
  }

  const time = () => timeOf(db)
  const collection = <D extends Document>(definition: CollectionDefinition<D>): OpenCollection<D> => {
    const known = collections.get(definition) as OpenCollection<D> | undefined
    if (known) return known
    const opened = mongoCollection(definition, connection, {
      ...{ server, elapsed, time },
      opening: described => collection(described).prepared,
    })
    collections.set(definition, opened as unknown as OpenCollection<Document>)
    return opened
  }

  const drop = async (dropped: CollectionName) => {
    const name = collectionName(dropped)
    await dropWithWords(db, name)
    for (const [definition, opened] of collections)
      if (collectionName(definition) === name) opened.prepareAgain()
  }

  const discard = async (discarded: CollectionName) => {
    const name = collectionName(discarded)
    for (const definition of collections.keys())
      if (collectionName(definition) === name) collections.delete(definition)
    await dropWithWords(db, name)
  }

  const changesIn = (writes: readonly Write[]) =>
    [...Map.groupBy(writes, write => write.collection)].map(([definition, ofCollection]) => ({
      into: collection(definition),
      changes: newest(ofCollection.map(changeOf)),
    }))

  return {
    collection,
    // Without a checkpoint it is the write of a command. Most changes of a projector are stored already.
    async write(writes, checkpoint) {
      const batches = changesIn(writes)
      await run(async () => {
        const confirm = pauseWatch(elapsed)
        if (checkpoint?.lease) await checkpoints.requireHeld(checkpoint.lease)
        const isNext = checkpoint === undefined
        await allDone(batches.map(({ into, changes }) => into.make(changes, { confirm, isNext })))
        if (checkpoint) await checkpoints.save(checkpoint.name, checkpoint.position, checkpoint.lease)
      })
    },
    checkpoints: {
      get: name => run(() => checkpoints.get(name)),
      save: (name, position, lease) => run(() => checkpoints.save(name, position, lease)),
      clear: name => run(() => checkpoints.clear(name)),
    },
    leases: {
      acquire: (name, holder, ttlMs) => run(() => leases.acquire(name, holder, ttlMs)),
      release: lease => run(() => leases.release(lease)),
    },
    drop: definition => run(() => drop(definition)),
    discard: definition => run(() => discard(definition)),
    // The server reuses the space of removed documents.
    async purge() {},
    ping: () => run(async () => void (await db.command({ ping: 1 }))),
    time: () => run(time),
    close,
  }
}

/** Reads the clock of the server. Some servers report it as milliseconds since 1970. */
async function timeOf(db: Db): Promise<Date> {
  const { localTime } = await db.command({ hello: 1 })
  const time = new Date(localTime ?? Number.NaN)
  if (Number.isNaN(time.getTime())) throw new MongoRuntimeError('the server does not report its time')
  return time
}

/** Waits for all jobs, also after one has failed, so that none of them writes after the call. @throws the first error */
async function allDone(jobs: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(jobs)
  const failure = outcomes.find(({ status }) => status === 'rejected')
  if (failure) throw (failure as PromiseRejectedResult).reason
}
