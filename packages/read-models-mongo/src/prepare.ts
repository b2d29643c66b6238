import type { CollectionDefinition } from '@gantry/read-models'
import type { Collection, Db, IndexDescription } from 'mongodb'
import { PIECE } from './guarded-writes.ts'
import { makeIndexes } from './indexes.ts'
import type { StoredDocument } from './stored-document.ts'
import { searchableOf } from './text.ts'

// biome-ignore lint/suspicious/noExplicitAny: what is prepared does not depend on the documents
export type Definition = CollectionDefinition<any>

export const collectionName = ({ name, version }: Pick<Definition, 'name' | 'version'>) =>
  `${name}.v${version}`

/** What makes documents searchable for a definition: those that say otherwise have to be made so. */
export const searchableBy = ({ text = [] }: Definition, indexed: boolean): string | undefined =>
  text.length > 0 ? `${text.join(',')}${indexed ? ' in parts' : ''}` : undefined

/**
 * Makes of the database what a definition needs: its indexes, also in documents that are there already, and no versions
 * before the last one, which stays for processes that have not been upgraded yet. What is so already costs next to
 * nothing, so it may be done again at any time.
 */
export async function prepare(db: Db, definition: Definition, indexed: boolean): Promise<void> {
  await dropVersionsBefore(db, definition.name, definition.version - 1)
  const collection = db.collection<StoredDocument>(collectionName(definition))
  if (indexed) await makeIndexes(db, collection, indexesOf(definition))
  await makeSearchable(collection, definition, indexed)
}

async function dropVersionsBefore(db: Db, name: string, version: number): Promise<void> {
  if (version <= 1) return
  const existing = await db.listCollections({}, { nameOnly: true }).toArray()
  const older = existing.filter(collection => {
    const [, ofCollection, itsVersion] = /^(.*)\.v(\d+)$/.exec(collection.name) ?? []
    return ofCollection === name && Number(itsVersion) < version
  })
  for (const collection of older) await db.collection(collection.name).drop()
}

/**
 * Every query is for documents that are there. A field is indexed with the id, in either direction since ties go by
 * ascending id in both: so a page is read off the index, and counting a condition touches no documents.
 */
function indexesOf({ fields, text = [] }: Definition): IndexDescription[] {
  const ofFields = Object.entries(fields).flatMap(([field, kind]) => {
    const directions = kind === 'strings' ? ([1] as const) : ([1, -1] as const)
    return directions.map(direction => ({ key: { live: 1, [`doc.${field}`]: direction, _id: 1 } }) as const)
  })
  const ofTexts = [{ key: { live: 1, parts: 1 } }, { key: { live: 1, searchableBy: 1 } }] as const
  return [{ key: { live: 1, _id: 1 } }, ...ofFields, ...(text.length > 0 ? ofTexts : [])]
}

async function makeSearchable(
  collection: Collection<StoredDocument>,
  definition: Definition,
  indexed: boolean,
): Promise<void> {
  const wanted = searchableBy(definition, indexed)
  if (wanted === undefined) return
  const others = { live: true, searchableBy: { $ne: wanted } }
  for (;;) {
    const documents = await collection.find(others, { limit: PIECE }).toArray()
    if (documents.length === 0) return
    const updates = documents.map(({ _id, revision, doc }) => {
      const searchable = searchableIn(definition, doc ?? {}, indexed)
      // A document that has changed since is its writer's affair, or of the next round.
      return { updateOne: { filter: { _id, revision }, update: { $set: searchable } } }
    })
    await collection.bulkWrite(updates, { ordered: false })
  }
}

/** The fields of a stored document that searches need. */
export function searchableIn(
  definition: Definition,
  doc: object,
  indexed: boolean,
): Pick<StoredDocument, 'text' | 'parts' | 'searchableBy'> {
  const by = searchableBy(definition, indexed)
  if (by === undefined) return {}
  const texts = (definition.text ?? []).map(field => (doc as Record<string, unknown>)[field])
  return { ...searchableOf(texts, indexed), searchableBy: by }
}
