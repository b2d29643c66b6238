import { type Collection, type CollectionDefinition, type Document, DocumentTooLarge } from '@gantry/stores'
import { BSON } from 'mongodb'
import type { Connection } from '../connection/connection.ts'
import { type Change, changeOf, makeChanges, pauseWatch } from './guarded-writes.ts'
import { searchableIn } from './prepare.ts'
import { PreparedCollection, type ServerAccess } from './prepared-collection.ts'
import { facets, queries, readsById } from './reads.ts'
import { forgetRemoved } from './removals.ts'
import type { Opening } from './searches.ts'
import type { StoredDocument } from './stored-document.ts'

/** A collection with methods for this adapter only, whose errors are not translated for callers yet. */
export interface OpenCollection<D extends Document> extends Collection<D> {
  /**
   * Applies changes of different documents.
   * @param how.confirm of a pauseWatch that was started before the lease was checked
   * @param how.isNext whether the writer knows the newest revisions
   * @returns the number of changes that were applied
   */
  make(changes: readonly Change[], how: { confirm?: () => void; isNext: boolean }): Promise<number>
  /** To be called after the collection was dropped. */
  prepareAgain(): void
  readonly prepared: PreparedCollection<D>
}

/** Maximum size of a stored document: MongoDB's 16 MiB without the overhead of a request. */
const MOST_BYTES = 16 * 1024 * 1024 - 16 * 1024

export interface CollectionOptions extends ServerAccess {
  /** Opens a collection that describes this one. */
  opening: Opening
  /** Reads the clock of the server. */
  time(): Promise<Date>
}

export function mongoCollection<D extends Document>(
  definition: CollectionDefinition<D>,
  connection: Connection,
  { time, opening, ...access }: CollectionOptions,
): OpenCollection<D> {
  const { run } = connection
  const prepared = new PreparedCollection(definition, connection, access)
  const make: OpenCollection<D>['make'] = (changes, { confirm = pauseWatch(access.elapsed), isNext }) =>
    makeFitting(prepared, changes, { confirm, isNext })
  return {
    ...readsById(prepared),
    prepared,
    ...queries(prepared, opening),
    ...facets(prepared, opening),
    forgetRemoved: ageMs =>
      run(async () => {
        const server = await prepared.ready()
        const now = (await time()).getTime()
        return forgetRemoved(prepared.documents, { now, ageMs, server })
      }),
    make,
    prepareAgain: () => prepared.prepareAgain(),
    put: async (doc, revision) => {
      const change = changeOf({ id: doc.id, doc, revision })
      return (await run(() => make([change], { isNext: true }))) === 1
    },
    remove: async (id, revision) =>
      (await run(() => make([changeOf({ id, doc: null, revision })], { isNext: true }))) === 1,
  }
}

/** Applies the changes whose documents are not too large. @throws DocumentTooLarge for the first of the others, afterwards */
async function makeFitting<D extends Document>(
  prepared: PreparedCollection<D>,
  changes: readonly Change[],
  how: { confirm: () => void; isNext: boolean },
): Promise<number> {
  const { definition, documents, vocabulary } = prepared
  const { usesIndexes, changesPerRequest } = await prepared.ready()
  let tooLarge: DocumentTooLarge | undefined
  const stored = ({ id, revision, doc, incomplete }: Change): StoredDocument => {
    const mark = incomplete ? { incomplete } : {}
    if (!doc) return { _id: id, revision, live: false, ...mark }
    return { _id: id, revision, live: true, ...mark, doc, ...searchableIn(definition, doc, usesIndexes) }
  }
  const fits = (change: Change) => {
    const bytes = change.doc ? BSON.calculateObjectSize(stored(change)) : 0
    if (bytes > MOST_BYTES)
      tooLarge ??= new DocumentTooLarge(definition.name, change.id, { bytes, most: MOST_BYTES })
    return bytes <= MOST_BYTES
  }
  const fitting = changes.filter(fits)
  if (definition.search)
    await vocabulary.add(fitting.flatMap(change => (change.doc ? (stored(change).words ?? []) : [])))
  const made = await makeChanges(documents, fitting, { stored, changesPerRequest, ...how })
  if (tooLarge) throw tooLarge
  return made
}
