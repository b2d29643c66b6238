import { type MongoOptions, openClient } from '../connection/settings.ts'

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
    /** Drops the whole database. */
    drop: async () => void (await db.dropDatabase()),
    close: () => client.close(),
  }
}
