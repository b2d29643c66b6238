import type { Collection, Filter } from 'mongodb'
import { PIECE, type Server } from '../connection/server.ts'
import { writeInPieces } from './guarded-writes.ts'
import type { StoredDocument } from './stored-document.ts'

type Documents = Collection<StoredDocument>

/**
 * Deletes a piece of the tombstones that were first seen long enough ago. When there are none, records the time for the
 * tombstones without one. A write removes that time when it stores or removes the document again.
 */
export async function forgetRemoved(
  collection: Documents,
  { now, ageMs, server: { changesPerRequest } }: { now: number; ageMs: number; server: Server },
): Promise<number> {
  const old = { live: false, metAt: { $lte: now - ageMs } }
  const found = await removalsOf(collection, old)
  const deletions = found.map(({ _id }) => ({ deleteOne: { filter: { ...old, _id } } }))
  if (found.length > 0) return writeInPieces(collection, deletions, changesPerRequest)
  const unmet = { live: false, metAt: { $exists: false } }
  for (;;) {
    const removals = await removalsOf(collection, unmet)
    if (removals.length === 0) return 0
    const notes = removals.map(({ _id }) => ({
      updateOne: { filter: { ...unmet, _id }, update: { $set: { metAt: now } } },
    }))
    await writeInPieces(collection, notes, changesPerRequest)
  }
}

const removalsOf = (collection: Documents, filter: Filter<StoredDocument>) =>
  collection.find(filter, { projection: { _id: 1 }, limit: PIECE }).toArray()
