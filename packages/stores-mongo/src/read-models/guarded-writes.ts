import type { Document, Write } from '@gantry/stores'
import {
  type AnyBulkWriteOperation,
  type Collection,
  type Filter,
  MongoBulkWriteError,
  MongoRuntimeError,
  MongoServerError,
} from 'mongodb'
import { PIECE } from '../connection/server.ts'
import type { StoredDocument } from './stored-document.ts'

const DUPLICATE = 11_000

export const isDuplicate = (error: unknown) => error instanceof MongoServerError && error.code === DUPLICATE

/** A document to store, or null for its tombstone. It is guarded by its revision. */
export interface Change {
  id: string
  revision: number
  doc: Document | null
  /** Whether it replaces the same revision: true for tombstones and for forced writes. */
  overSame: boolean
  /** Whether it lacks the effect of events that its writer does not know; see Write in packages/stores. */
  incomplete: boolean
}

/** The change of a write, with a copy of the document at the time of the call. */
export const changeOf = ({ id, revision, doc, force, incomplete }: Omit<Write, 'collection'>): Change => ({
  id,
  revision,
  doc: doc && (JSON.parse(JSON.stringify(doc)) as Document),
  overSame: force === true || doc === null,
  incomplete: incomplete === true,
})

/** The stored state of a document or tombstone. */
type Known = Pick<Change, 'revision' | 'incomplete'>

function replaces({ revision, overSame, incomplete }: Change, known: Known | undefined): boolean {
  if (!known || revision > known.revision) return true
  if (revision < known.revision || (incomplete && !known.incomplete)) return false
  return overSame || (known.incomplete && !incomplete)
}

/** The documents that a change may replace: the rule of `replaces`, evaluated by the server. */
function replaceable({ revision, overSame, incomplete }: Change): Filter<StoredDocument> {
  if (incomplete === overSame)
    return { $or: [{ revision: { $lt: revision } }, { revision, incomplete: true }] }
  return { revision: overSame ? { $lte: revision } : { $lt: revision } }
}

/** Reduces successive changes to one per document. */
export function newest(changes: readonly Change[]): Change[] {
  const byId = new Map<string, Change>()
  for (const change of changes) if (replaces(change, byId.get(change.id))) byId.set(change.id, change)
  return [...byId.values()]
}

interface Applying {
  stored(change: Change): StoredDocument
  /** Maximum number of documents that one request replaces. */
  changesPerRequest: number
  /** Called between requests. @throws when the process was paused since the last call */
  confirm(): void
  /**
   * Whether the writer knows the newest revisions, as a command does. The stored revision of a single change is then not
   * read before it is written.
   */
  isNext: boolean
}

/** Far longer than requests take, and far shorter than tombstones are kept. */
export const PAUSED_MS = 60_000

/**
 * Detects that the process was paused between two requests. Its next write could then be outdated, and the tombstone that
 * would have rejected it may be forgotten.
 * @param elapsed reads a monotonic clock, in milliseconds
 * @returns a function that throws when the process was paused since it was last called
 */
export function pauseWatch(elapsed: () => number): () => void {
  let last = elapsed()
  return () => {
    const now = elapsed()
    if (now - last > PAUSED_MS) throw new MongoRuntimeError('the process was paused while it wrote')
    last = now
  }
}

/**
 * Applies each change unless something newer is stored. No two changes may have the same document. The stored revisions are
 * read first, so that outdated changes, which are most of the projector's after the command handlers, cause no writes. Each
 * write is still guarded: a replacement only matches an older revision, and an insert fails if a document exists. A document
 * that is stored concurrently is thus never overwritten by an older one; a failed insert is tried again as a replacement.
 * The changes are written in pieces, one after the other. When one fails, the earlier ones stay applied, and applying all of
 * them again is harmless.
 * @returns the number of applied changes
 */
export async function makeChanges(
  collection: Collection<StoredDocument>,
  changes: readonly Change[],
  applying: Applying,
): Promise<number> {
  const [only] = changes
  if (applying.isNext && only?.doc && changes.length === 1 && (await makeNext(collection, only, applying)))
    return 1
  let applied = 0
  for (let from = 0; from < changes.length; from += PIECE)
    applied += await makePiece(collection, changes.slice(from, from + PIECE), applying)
  return applied
}

/**
 * Applies a change to the document that its revision suggests: to none for the first revisions, else to an earlier one.
 * @returns whether it was applied; otherwise something else is stored
 */
async function makeNext(
  collection: Collection<StoredDocument>,
  change: Change,
  { stored, confirm }: Applying,
): Promise<boolean> {
  confirm()
  const document = stored(change)
  const operation = change.revision <= 1 ? { insertOne: { document } } : replacement(change, document)
  return (await writeAll(collection, [operation])).applied === 1
}

async function makePiece(
  collection: Collection<StoredDocument>,
  changes: readonly Change[],
  { stored, changesPerRequest, confirm }: Applying,
): Promise<number> {
  let applied = 0
  let open = changes
  while (open.length > 0) {
    confirm()
    const known = await knownOf(
      collection,
      open.map(({ id }) => id),
    )
    confirm()
    const due = open.filter(change => replaces(change, known.get(change.id)))
    if (due.length === 0) break
    const { existing = [], fresh = [] } = Object.groupBy(due, ({ id }) =>
      known.has(id) ? 'existing' : 'fresh',
    )
    const inserts = fresh.map(change => ({ insertOne: { document: stored(change) } }))
    const outcome = await writeAll(collection, inserts)
    applied += outcome.applied
    const replacements = existing.map(change => replacement(change, stored(change)))
    applied += await writeInPieces(collection, replacements, changesPerRequest)
    open = outcome.existing.map(index => fresh[index] as Change)
  }
  return applied
}

async function knownOf(collection: Collection<StoredDocument>, ids: string[]): Promise<Map<string, Known>> {
  const [id] = ids
  const those = ids.length === 1 && id !== undefined ? { _id: id } : { _id: { $in: ids } }
  const known = await collection.find(those, { projection: { revision: 1, incomplete: 1 } }).toArray()
  return new Map(known.map(({ _id, revision, incomplete = false }) => [_id, { revision, incomplete }]))
}

type Operation = AnyBulkWriteOperation<StoredDocument>

/** Optional fields, which a replacement unsets. */
const OPTIONAL = ['incomplete', 'metAt', 'doc', 'text', 'parts', 'words', 'impacts', 'searchableBy'] as const

function replacement(change: Change, { _id, ...rest }: StoredDocument): Operation {
  const absent = OPTIONAL.filter(field => rest[field] === undefined)
  const update = {
    $set: rest,
    ...(absent.length > 0 && { $unset: Object.fromEntries(absent.map(field => [field, '' as const])) }),
  }
  return { updateOne: { filter: { _id: change.id, ...replaceable(change) }, update } }
}

/** Updates or deletes existing documents. @returns the number of operations that matched */
export async function writeInPieces(
  collection: Collection<StoredDocument>,
  operations: readonly Operation[],
  changesPerRequest: number,
): Promise<number> {
  let applied = 0
  for (let from = 0; from < operations.length; from += changesPerRequest)
    applied += (await writeAll(collection, operations.slice(from, from + changesPerRequest))).applied
  return applied
}

/** @returns the number of applied operations, and the indexes of inserts that found an existing document */
async function writeAll(
  collection: Collection<StoredDocument>,
  operations: Operation[],
): Promise<{ applied: number; existing: number[] }> {
  if (operations.length === 0) return { applied: 0, existing: [] }
  try {
    const { insertedCount, matchedCount, deletedCount } = await collection.bulkWrite(operations, {
      ordered: false,
    })
    return { applied: insertedCount + matchedCount + deletedCount, existing: [] }
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error
    const failures = [error.writeErrors].flat()
    const onlyExisting = failures.length > 0 && failures.every(({ code }) => code === DUPLICATE)
    if (!onlyExisting || error.result.getWriteConcernError()) throw error
    const { insertedCount, matchedCount } = error.result
    return { applied: insertedCount + matchedCount, existing: failures.map(({ index }) => index) }
  }
}
