import type { Collection, Filter, FindCursor } from 'mongodb'
import type { Connection } from '../connection/connection.ts'
import { PIECE, type Server } from '../connection/server.ts'
import { writeInPieces } from './guarded-writes.ts'
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

interface Forgetting {
  now: number
  ageMs: number
  server: Server
}

/**
 * Deletes a piece of the tombstones that were first seen long enough ago. When there are none, records the time for the
 * tombstones without one. A write removes that time when it stores or removes the document again.
 */
export async function forgetRemoved(
  collection: Documents,
  { now, ageMs, server: { changesPerRequest } }: Forgetting,
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
