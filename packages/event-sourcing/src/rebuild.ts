import type { Collection, Lease, Version } from '@gantry/read-models'
import { type RecordedEvent, START } from './event.ts'
import { follow, type Running } from './projector-run.ts'

export interface RebuildOptions {
  lease: Lease
  signal: AbortSignal
  /** Whether what is there is read meanwhile, rather than made for the first time. */
  serving: boolean
}

/** Documents that are removed at a time. */
const PIECE = 500
const PROGRESS_MS = 10_000

/**
 * Projects the whole log over what is there as a new generation, then removes the documents of older ones: the log does
 * not know them. Readers and commands go on meanwhile.
 *
 * A document that a command writes meanwhile has no mark. Its event was in the log before the document could be found,
 * so the log is followed, with marks, from the moment that a document is found until it is removed. A rebuild that ends
 * early leaves nothing to undo: the next one begins a generation of its own.
 */
export async function rebuild(options: Running, run: RebuildOptions): Promise<void> {
  const { name, readModels, collections, log } = options
  const generation = await nextGeneration(options, run.lease)
  log.info({ projector: name }, 'makes the read models from the log')
  const projecting = { ...run, generation, untilCaughtUp: true, onWritten: progressOf(options) }
  await follow(options, { ...projecting, from: START })
  let removed = 0
  for (const definition of collections) {
    const collection = readModels.collection(definition)
    for await (const found of pieces(collection, generation)) {
      if (run.signal.aborted) return
      await follow(options, projecting)
      if (run.signal.aborted) return
      removed += await collection.removeOlder(generation, found)
    }
  }
  if (run.signal.aborted || removed === 0) return
  // What a command made in place of a document before it was removed.
  await follow(options, projecting)
  log.info({ projector: name, removed }, 'removed documents that the log does not know')
}

/** Greater than every one before, also where the number of the last one was lost. */
async function nextGeneration({ key, readModels }: Running, lease: Lease): Promise<number> {
  const name = `${key}.generation`
  const last = Number((await readModels.checkpoints.get(name)) ?? 0)
  const next = Math.max(last + 1, (await readModels.time()).getTime())
  await readModels.checkpoints.save(name, String(next), lease)
  return next
}

// biome-ignore lint/suspicious/noExplicitAny: collections of different documents
async function* pieces(collection: Collection<any>, generation: number): AsyncGenerator<Version[]> {
  let piece: Version[] = []
  for await (const version of collection.olderThan(generation)) {
    piece.push(version)
    if (piece.length < PIECE) continue
    yield piece
    piece = []
  }
  if (piece.length > 0) yield piece
}

/** Logs every few seconds how far the projection is. */
function progressOf({ name, log }: Running) {
  let events = 0
  let toldAt = performance.now()
  return (written: readonly RecordedEvent[]) => {
    events += written.length
    if (performance.now() - toldAt < PROGRESS_MS) return
    toldAt = performance.now()
    const through = written.at(-1)?.recordedAt
    log.info(
      { projector: name, events, ...(through && { through }) },
      'is making the read models from the log',
    )
  }
}
