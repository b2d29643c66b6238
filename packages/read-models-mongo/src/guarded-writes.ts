import type { Document, Write } from '@gantry/read-models'
import {
  type AnyBulkWriteOperation,
  type Collection,
  type Filter,
  MongoBulkWriteError,
  MongoRuntimeError,
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
  /** Marks what is under the id, also where that stays; see Write in packages/read-models. 0 marks nothing. */
  generation: number
}

/** What a write is to do, with a copy of the document as it is now. */
export const changeOf = ({
  id,
  revision,
  doc,
  force,
  incomplete,
  generation = 0,
}: Omit<Write, 'collection'>): Change => ({
  id,
  revision,
  doc: doc && (JSON.parse(JSON.stringify(doc)) as Document),
  overSame: force === true || doc === null,
  incomplete: incomplete === true,
  generation,
})

/** A document that is there, or its removal. */
type Known = Pick<Change, 'revision' | 'incomplete' | 'generation'>

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
  /** To be called between requests. @throws when the process was paused since the last call */
  confirm(): void
}

/** Far longer than requests take, and far shorter than removals are remembered. */
const PAUSED_MS = 60_000

/**
 * Notices that a process was paused between two requests: what it was about to write may be late by then, and the
 * removal that would have kept it off may be forgotten.
 * @param elapsed milliseconds of a stopwatch
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
  { stored, changesPerRequest, confirm }: Making,
): Promise<number> {
  let made = 0
  let open = changes
  while (open.length > 0) {
    confirm()
    const known = await knownOf(
      collection,
      open.map(({ id }) => id),
    )
    confirm()
    const { due = [], late = [] } = Object.groupBy(open, change =>
      goesOver(change, known.get(change.id)) ? 'due' : 'late',
    )
    const unmarked = late.filter(({ id, generation }) => generation > (known.get(id)?.generation ?? 0))
    await writeInPieces(collection, unmarked.map(mark), changesPerRequest)
    if (due.length === 0) break
    const { there = [], fresh = [] } = Object.groupBy(due, ({ id }) => (known.has(id) ? 'there' : 'fresh'))
    const inserts = fresh.map(change => ({ insertOne: { document: stored(change) } }))
    const outcome = await writeAll(collection, inserts)
    made += outcome.made
    const replacements = there.map(change => replacement(change, stored(change)))
    made += await writeInPieces(collection, replacements, changesPerRequest)
    open = outcome.met.map(index => fresh[index] as Change)
  }
  return made
}

async function knownOf(collection: Collection<StoredDocument>, ids: string[]): Promise<Map<string, Known>> {
  const [id] = ids
  const those = ids.length === 1 && id !== undefined ? { _id: id } : { _id: { $in: ids } }
  const known = await collection
    .find(those, { projection: { revision: 1, incomplete: 1, generation: 1 } })
    .toArray()
  return new Map(
    known.map(({ _id, revision, incomplete = false, generation = 0 }) => [
      _id,
      { revision, incomplete, generation },
    ]),
  )
}

type Operation = AnyBulkWriteOperation<StoredDocument>

/** Fields that a document need not have. The mark of a generation is none of them: it outlives a replacement. */
const OPTIONAL = ['incomplete', 'metAt', 'doc', 'text', 'parts', 'searchableBy'] as const

function replacement(change: Change, { _id, generation = 0, ...rest }: StoredDocument): Operation {
  const absent = OPTIONAL.filter(field => rest[field] === undefined)
  const update = {
    $set: rest,
    ...(absent.length > 0 && { $unset: Object.fromEntries(absent.map(field => [field, '' as const])) }),
    $max: { generation },
  }
  return { updateOne: { filter: { _id: change.id, ...replaceable(change) }, update } }
}

const mark = ({ id, generation }: Change): Operation => ({
  updateOne: { filter: { _id: id }, update: { $max: { generation } } },
})

/** Changes documents that are there. @returns how many operations found theirs, or removed it */
export async function writeInPieces(
  collection: Collection<StoredDocument>,
  operations: readonly Operation[],
  changesPerRequest: number,
): Promise<number> {
  let made = 0
  for (let from = 0; from < operations.length; from += changesPerRequest)
    made += (await writeAll(collection, operations.slice(from, from + changesPerRequest))).made
  return made
}

/** @returns how many were made, and the places of inserts that met a document */
async function writeAll(
  collection: Collection<StoredDocument>,
  operations: Operation[],
): Promise<{ made: number; met: number[] }> {
  if (operations.length === 0) return { made: 0, met: [] }
  try {
    const { insertedCount, matchedCount, deletedCount } = await collection.bulkWrite(operations, {
      ordered: false,
    })
    return { made: insertedCount + matchedCount + deletedCount, met: [] }
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error
    const failures = [error.writeErrors].flat()
    const onlyMet = failures.length > 0 && failures.every(({ code }) => code === DUPLICATE)
    if (!onlyMet || error.result.getWriteConcernError()) throw error
    const { insertedCount, matchedCount } = error.result
    return { made: insertedCount + matchedCount, met: failures.map(({ index }) => index) }
  }
}
