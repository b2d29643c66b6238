import { type CollectionDefinition, type CollectionName, impactsOf, WORDING } from '@gantry/stores'
import type { Collection, Db, IndexDescription } from 'mongodb'
import { makeIndexes, type Server } from '../connection/server.ts'
import type { StoredDocument } from './stored-document.ts'
import { searchableOf } from './text.ts'
import { Vocabulary, vocabularyOf } from './vocabulary.ts'

// biome-ignore lint/suspicious/noExplicitAny: what is prepared does not depend on the documents
export type Definition = CollectionDefinition<any>

export const collectionName = ({ name, version, generation = 0 }: CollectionName) =>
  `${name}${generation === 0 ? '' : `~${generation}`}.v${version}`

/** Describes how documents are made searchable. Documents with another value have to be updated. */
function searchableBy({ text = [], search }: Definition, indexed: boolean): string | undefined {
  const ofText = text.length > 0 ? `${text.join(',')}${indexed ? ' in parts' : ''}` : undefined
  return search ? `${ofText ?? ''} words ${WORDING} ${JSON.stringify(search.fields)}` : ofText
}

/**
 * Prepares the database for a definition: creates its indexes, updates existing documents for searches, and drops all
 * versions older than the previous one, which stays for processes that have not been upgraded yet. Can be repeated at any
 * time at little cost.
 */
export async function prepare(db: Db, definition: Definition, server: Server): Promise<void> {
  await dropVersionsBefore(db, definition.name, definition.version - 1)
  const collection = db.collection<StoredDocument>(collectionName(definition))
  if (server.usesIndexes) await makeIndexes(db, collection, indexesOf(definition))
  const vocabulary = new Vocabulary(db, collectionName(definition))
  if (definition.search) await vocabulary.prepare(server.usesIndexes)
  await makeSearchable(collection, definition, { ...server, vocabulary })
}

async function dropVersionsBefore(db: Db, name: string, version: number): Promise<void> {
  if (version <= 1) return
  const existing = await db.listCollections({}, { nameOnly: true }).toArray()
  const older = existing.filter(collection => {
    const [, ofCollection, itsVersion] = /^(.*?)(?:~\d+)?\.v(\d+)$/.exec(collection.name) ?? []
    return ofCollection === name && Number(itsVersion) < version
  })
  for (const { name } of older) await dropWithWords(db, name)
}

/** Drops a collection and its vocabulary. */
export async function dropWithWords(db: Db, name: string): Promise<void> {
  await db.collection(vocabularyOf(name)).drop()
  await db.collection(name).drop()
}

/**
 * Every query has the condition `live`, which excludes tombstones. `live` is not the first field of the indexes of fields,
 * so that the server only considers indexes of fields that a query filters or sorts by. A page can be read from the index in
 * order, in both directions, and a count reads no documents. Documents of a time are counted in an index of the validity, which replaces those of the end: of
 * two indexes that begin with the same field the server would choose either.
 */
function indexesOf({ fields, text = [], search, validity }: Definition): IndexDescription[] {
  const ofValidity = validity && { [`doc.${validity.to}`]: 1, [`doc.${validity.from}`]: 1, live: 1 }
  const ofFields = Object.keys(fields)
    .filter(field => field !== validity?.to)
    .map(field => ({ key: { [`doc.${field}`]: 1, live: 1, _id: 1 } }) as const)
  const isSearched = text.length > 0 || search !== undefined
  return [
    { key: { live: 1, _id: 1 } },
    ...ofFields,
    ...(ofValidity ? [{ key: ofValidity }] : []),
    ...(text.length > 0 ? [{ key: { parts: 1, live: 1 } } as const] : []),
    ...(search ? [{ key: { words: 1, live: 1 } } as const] : []),
    ...(isSearched ? [{ key: { searchableBy: 1, live: 1 } } as const] : []),
  ]
}

async function makeSearchable(
  collection: Collection<StoredDocument>,
  definition: Definition,
  { usesIndexes, changesPerRequest, vocabulary }: Server & { vocabulary: Vocabulary },
): Promise<void> {
  const wanted = searchableBy(definition, usesIndexes)
  if (wanted === undefined) return
  const others = { live: true, searchableBy: { $ne: wanted } }
  for (;;) {
    const documents = await collection.find(others, { limit: changesPerRequest }).toArray()
    if (documents.length === 0) return
    const updates = documents.map(({ _id, revision, doc }) => {
      const searchable = searchableIn(definition, doc ?? {}, usesIndexes)
      // Documents that have changed since are left to their writer, or to the next iteration.
      return { updateOne: { filter: { _id, revision }, update: { $set: searchable } } }
    })
    await vocabulary.add(updates.flatMap(({ updateOne }) => updateOne.update.$set.words ?? []))
    await collection.bulkWrite(updates, { ordered: false })
  }
}

/** The fields of a stored document that searches use. */
export function searchableIn(
  definition: Definition,
  doc: object,
  indexed: boolean,
): Pick<StoredDocument, 'text' | 'parts' | 'words' | 'impacts' | 'searchableBy'> {
  const by = searchableBy(definition, indexed)
  if (by === undefined) return {}
  const { text = [], search } = definition
  const texts = text.map(field => (doc as Record<string, unknown>)[field])
  const impacts = search && impactsOf(search, doc)
  return {
    ...(text.length > 0 && searchableOf(texts, indexed)),
    ...(impacts && { words: [...impacts.keys()], impacts: Object.fromEntries(impacts) }),
    searchableBy: by,
  }
}
