import type { Document, Write } from '@gantry/read-models'
import {
  type AnyBulkWriteOperation,
  type Collection,
  type Filter,
  MongoBulkWriteError,
  MongoServerError,
} from 'mongodb'
import { PIECE } from './server.ts'
import type { StoredDocument } from './stored-document.ts'

const DUPLICATE = 11_000

export const isDuplicate = (error: unknown) => error instanceof MongoServerError && error.code === DUPLICATE

/** A document to store, or null to remove it, unless something newer is there. */
export interface Change {
  id: string
  revision: number
  doc: Document | null
  /** Whether the same revision gives way too: to a removal, and to what is forced. */
  overSame: boolean
  /** Whether it lacks the effect of events that its writer does not know; see Write in packages/read-models. */
  incomplete: boolean
}

/** What a write is to do, with a copy of the document as it is now. */
export const changeOf = ({ id, revision, doc, force, incomplete }: Omit<Write, 'collection'>): Change => ({
  id,
  revision,
  doc: doc && (JSON.parse(JSON.stringify(doc)) as Document),
  overSame: force === true || doc === null,
  incomplete: incomplete === true,
})

/** A document that is there, or its removal. */
type Known = Pick<Change, 'revision' | 'incomplete'>

function goesOver({ revision, overSame, incomplete }: Change, known: Known | undefined): boolean {
  if (!known || revision > known.revision) return true
  if (revision < known.revision || (incomplete && !known.incomplete)) return false
  return overSame || (known.incomplete && !incomplete)
}

/** What the server lets a change replace: the same as goesOver. */
function replaceable({ revision, overSame, incomplete }: Change): Filter<StoredDocument> {
  if (incomplete === overSame)
    return { $or: [{ revision: { $lt: revision } }, { revision, incomplete: true }] }
  return { revision: overSame ? { $lte: revision } : { $lt: revision } }
}

/** What is left of changes that come one after the other: one for each document. */
export function newest(changes: readonly Change[]): Change[] {
  const byId = new Map<string, Change>()
  for (const change of changes) if (goesOver(change, byId.get(change.id))) byId.set(change.id, change)
  return [...byId.values()]
}

interface Making {
  stored(change: Change): StoredDocument
  /** How many documents one request may replace. */
  changesPerRequest: number
}

/**
 * Makes each change, of which no two are of one document, unless something newer is there. What is there is looked up
 * first: late changes, nearly all that a projector has after the command handlers, cost nothing more. Each is guarded
 * all the same, by a replacement that only finds an older revision or an insert that finds none: who comes in between
 * is never overwritten by something older, and whose insert meets a document looks again. They are made in pieces, one
 * after the other: when one fails, those before it stay made, and making all of them again does no harm.
 * @returns how many were made
 */
export async function makeChanges(
  collection: Collection<StoredDocument>,
  changes: readonly Change[],
  making: Making,
): Promise<number> {
  let made = 0
  for (let from = 0; from < changes.length; from += PIECE)
    made += await makePiece(collection, changes.slice(from, from + PIECE), making)
  return made
}

async function makePiece(
  collection: Collection<StoredDocument>,
  changes: readonly Change[],
  { stored, changesPerRequest }: Making,
): Promise<number> {
  let made = 0
  let open = changes
  while (open.length > 0) {
    const known = await knownOf(
      collection,
      open.map(({ id }) => id),
    )
    const due = open.filter(change => goesOver(change, known.get(change.id)))
    if (due.length === 0) break
    const { there = [], fresh = [] } = Object.groupBy(due, ({ id }) => (known.has(id) ? 'there' : 'fresh'))
    const inserts = fresh.map(change => ({ insertOne: { document: stored(change) } }))
    const outcome = await writeAll(collection, inserts)
    made += outcome.made
    for (let from = 0; from < there.length; from += changesPerRequest) {
      const some = there.slice(from, from + changesPerRequest)
      made += (
        await writeAll(
          collection,
          some.map(change => replacement(change, stored(change))),
        )
      ).made
    }
    open = outcome.met.map(index => fresh[index] as Change)
  }
  return made
}

async function knownOf(collection: Collection<StoredDocument>, ids: string[]): Promise<Map<string, Known>> {
  const [id] = ids
  const those = ids.length === 1 && id !== undefined ? { _id: id } : { _id: { $in: ids } }
  const known = await collection.find(those, { projection: { revision: 1, incomplete: 1 } }).toArray()
  return new Map(known.map(({ _id, revision, incomplete = false }) => [_id, { revision, incomplete }]))
}

function replacement(
  change: Change,
  { _id, ...rest }: StoredDocument,
): AnyBulkWriteOperation<StoredDocument> {
  return { replaceOne: { filter: { _id: change.id, ...replaceable(change) }, replacement: rest } }
}

/** @returns how many were made, and the places of inserts that met a document */
async function writeAll(
  collection: Collection<StoredDocument>,
  operations: AnyBulkWriteOperation<StoredDocument>[],
): Promise<{ made: number; met: number[] }> {
  if (operations.length === 0) return { made: 0, met: [] }
  try {
    const { insertedCount, matchedCount } = await collection.bulkWrite(operations, { ordered: false })
    return { made: insertedCount + matchedCount, met: [] }
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error
    const failures = [error.writeErrors].flat()
    const onlyMet = failures.length > 0 && failures.every(({ code }) => code === DUPLICATE)
    if (!onlyMet || error.result.getWriteConcernError()) throw error
    const { insertedCount, matchedCount } = error.result
    return { made: insertedCount + matchedCount, met: failures.map(({ index }) => index) }
  }
}
