import type { CollectionDefinition, Query } from '@gantry/read-models'
import { boundOf, conditionsOf, orderOf } from '../conditions.ts'
import { collectionName } from '../prepare.ts'
import { PROGRESS } from '../progress.ts'
import { type MongoOptions, openClient } from '../settings.ts'
import type { StoredDocument } from '../stored-document.ts'

/** Accesses the database of a URL without the adapter. */
export function inspectDatabase(options: MongoOptions) {
  const { client, database } = openClient(options)
  const db = client.db(database)
  return {
    collections: async () =>
      (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name),
    count: (collection: string) => db.collection(collection).countDocuments(),
    /** Keys of the indexes, e.g. `live 1, doc.name -1, _id 1`. */
    async indexes(collection: string) {
      const indexes = await db.collection(collection).listIndexes().toArray()
      return indexes.map(({ key }) =>
        Object.entries(key)
          .map(part => part.join(' '))
          .join(', '),
      )
    },
    /** Names of the indexes that the server chooses for a page of a list; empty when it scans the collection. */
    // biome-ignore lint/suspicious/noExplicitAny: a plan does not depend on the documents
    async indexesUsed(definition: CollectionDefinition<any>, { sort = [], text = [], ...query }: Query) {
      const conditions = conditionsOf(query, text, true)
      const found = db
        .collection(collectionName(definition))
        .find(
          { ...boundOf(sort, definition.fields), ...conditions },
          { sort: orderOf(sort), limit: query.limit },
        )
      return indexesIn((await found.explain('queryPlanner')).queryPlanner)
    },
    makeIndex: (collection: string, key: Readonly<Record<string, 1 | -1>>) =>
      db.collection(collection).createIndex(key),
    /** Stores documents as releases before numbered rebuilds did: without a generation, also replacing one that has it. */
    async storeUnmarked(collection: string, documents: readonly StoredDocument[]) {
      const stored = db.collection<StoredDocument>(collection)
      for (const document of documents)
        await stored.replaceOne({ _id: document._id }, document, { upsert: true })
    },
    /** Shifts the recorded times of tombstones into the past. */
    async ageRemovals(collection: string, ms: number) {
      await db.collection(collection).updateMany({ metAt: { $exists: true } }, { $inc: { metAt: -ms } })
      await db
        .collection(PROGRESS)
        .updateMany({ forgetsFrom: { $exists: true } }, { $inc: { forgetsFrom: -ms } })
    },
    /** Drops the whole database. */
    drop: async () => void (await db.dropDatabase()),
    close: () => client.close(),
  }
}

/** Collects the names of the indexes in the chosen plan, under the keys of MongoDB and PostgreSQL. */
function indexesIn(plan: unknown): string[] {
  if (typeof plan !== 'object' || plan === null) return []
  return Object.entries(plan).flatMap(([key, value]) => {
    if (key === 'rejectedPlans') return []
    return key === 'indexName' || key === 'Index Name' ? [String(value)] : indexesIn(value)
  })
}
