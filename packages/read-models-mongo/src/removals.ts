import type { Collection, Filter, FindCursor } from 'mongodb'
import type { Connection } from './connection.ts'
import { writeInPieces } from './guarded-writes.ts'
import type { Progress } from './progress.ts'
import { PIECE, type Server } from './server.ts'
import type { StoredDocument } from './stored-document.ts'

type Documents = Collection<StoredDocument>

/** Yields the documents of a cursor. Each fetch can find the server unavailable. */
export async function* each<T>(cursor: FindCursor<T>, run: Connection['run']): AsyncGenerator<T> {
  try {
    for (let next = await run(() => cursor.next()); next; next = await run(() => cursor.next())) yield next
  } finally {
    await cursor.close()
  }
}

/**
 * Tombstones are kept for this long after an upgrade. Replicas of an earlier release may write outdated documents after a
 * pause; they are gone by then.
 */
const UPGRADE_MS = 24 * 3_600_000

/** Documents that an earlier release has written and no rebuild since. */
const OF_EARLIER_RELEASE = { generation: { $exists: false } }

interface Forgetting {
  now: number
  ageMs: number
  server: Server
  progress: Collection<Progress>
}

/**
 * Deletes a piece of the tombstones that were first seen long enough ago. When there are none, records the time for the
 * tombstones without one. Any release removes that time when it stores or removes the document again. Nothing is deleted for
 * a day after documents of an earlier release were found.
 */
export async function forgetRemoved(collection: Documents, forgetting: Forgetting): Promise<number> {
  const { now, ageMs, server } = forgetting
  const old = { live: false, metAt: { $lte: now - ageMs } }
  const found = now < (await forgetsFrom(collection, forgetting)) ? [] : await removalsOf(collection, old)
  const deletions = found.map(({ _id }) => ({ deleteOne: { filter: { ...old, _id } } }))
  if (found.length > 0) return writeInPieces(collection, deletions, server.changesPerRequest)
  await meetRemovals(collection, forgetting)
  return 0
}

async function meetRemovals(collection: Documents, { now, server, progress }: Forgetting): Promise<void> {
  const unmet = { live: false, metAt: { $exists: false } }
  for (;;) {
    const removals = await removalsOf(collection, unmet)
    if (removals.length === 0) return
    // Comes before the next step, which removes the sign of an earlier release.
    if (removals.some(({ generation }) => generation === undefined))
      await progress.updateOne({ _id: keyOf(collection) }, { $max: { forgetsFrom: now + UPGRADE_MS } })
    const notes = removals.map(({ _id }) => ({
      updateOne: { filter: { ...unmet, _id }, update: { $set: { metAt: now }, $max: { generation: 0 } } },
    }))
    await writeInPieces(collection, notes, server.changesPerRequest)
  }
}

const keyOf = ({ collectionName }: Documents) => `removals of ${collectionName}`

/** When tombstones may first be forgotten. The first call looks for documents of an earlier release. */
async function forgetsFrom(collection: Documents, { now, progress }: Forgetting): Promise<number> {
  const _id = keyOf(collection)
  const known = await progress.findOne({ _id })
  if (known?.forgetsFrom !== undefined) return known.forgetsFrom
  const earlier = await collection.findOne(OF_EARLIER_RELEASE, { projection: { _id: 1 } })
  const from = earlier ? now + UPGRADE_MS : now
  await progress.updateOne({ _id }, { $max: { forgetsFrom: from } }, { upsert: true })
  return from
}

const removalsOf = (collection: Documents, filter: Filter<StoredDocument>) =>
  collection.find(filter, { projection: { _id: 1, generation: 1 }, limit: PIECE }).toArray()
