import type { Collection, Lease, Version } from '@gantry/read-models'
import { type RecordedEvent, START } from './event.ts'
import { projectLog } from './log-projection.ts'
import type { ReadSide } from './read-side.ts'

export interface RebuildOptions {
  lease: Lease
  signal: AbortSignal
  /** Whether documents of an earlier generation are read meanwhile; false when they are made for the first time. */
  serving: boolean
}

/** Maximum number of documents that are removed in one write. */
const PIECE = 500
const PROGRESS_MS = 10_000

/**
 * Projects the whole log over the existing documents as a new generation, then removes the documents of older
 * generations, which the log does not give. Readers and commands continue meanwhile.
 *
 * A document that a command writes meanwhile has no mark of the generation. Its event is in the log before the document
 * can be found. So between finding an unmarked document and removing it, the rebuild projects the log up to its head,
 * with marks. A rebuild that ends early leaves nothing to undo: the next one begins another generation.
 */
export async function rebuild(readSide: ReadSide, options: RebuildOptions): Promise<void> {
  const { name, readModels, collections, log } = readSide
  const { lease, signal } = options
  const generation = await nextGeneration(readSide, lease)
  log.info({ projector: name }, 'makes the read models from the log')
  const toTheHead = { ...options, generation, untilCaughtUp: true, onWritten: progressOf(readSide) }
  await projectLog(readSide, { ...toTheHead, from: START })
  let removed = 0
  for (const definition of collections) {
    const collection = readModels.collection(definition)
    for await (const found of pieces(collection, generation)) {
      if (signal.aborted) return
      await projectLog(readSide, toTheHead)
      if (signal.aborted) return
      removed += await collection.removeOlder(generation, found)
    }
  }
  if (signal.aborted || removed === 0) return
  // A command may have written a document again after it was removed.
  await projectLog(readSide, toTheHead)
  log.info({ projector: name, removed }, 'removed documents that the log does not know')
}

/** Greater than every generation before, even if the number of the last one was lost. */
async function nextGeneration({ key, readModels }: ReadSide, lease: Lease): Promise<number> {
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

/** Logs the progress of the projection every few seconds. */
function progressOf({ name, log }: ReadSide) {
  let events = 0
  let loggedAt = performance.now()
  return (written: readonly RecordedEvent[]) => {
    events += written.length
    if (performance.now() - loggedAt < PROGRESS_MS) return
    loggedAt = performance.now()
    const through = written.at(-1)?.recordedAt
    log.info(
      { projector: name, events, ...(through && { through }) },
      'is making the read models from the log',
    )
  }
}
