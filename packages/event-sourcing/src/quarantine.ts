import { type CollectionDefinition, defineCollection, type ReadModels, type Write } from '@gantry/read-models'
import type { Position, RecordedEvent } from './event.ts'
import type { StreamQuarantined } from './fold.ts'

/** A stream whose documents do not have everything that the log has, and why. */
export interface HeldStream {
  /** Name of the stream. */
  id: string
  /**
   * QUARANTINED: an event throws while it is upcast, folded or projected. INCOMPLETE: the stream has events that this
   * release does not know; its documents lack their effect.
   */
  status: 'QUARANTINED' | 'INCOMPLETE'
  /** The event that throws, or the event with which the projector found the stream incomplete. */
  event: string
  type: string
  revision: number
  position: Position
  reason: string
  /** Names (`type@version`) of the events that were not known; empty for a quarantined stream. */
  unknown: readonly string[]
}

type HeldStreams = CollectionDefinition<HeldStream>

/** The held streams of one projector, a read model like its others: made anew by a rebuild. */
export const heldStreams = (projector: string): HeldStreams =>
  defineCollection<HeldStream>({
    name: `${projector}.held`,
    version: 1,
    fields: { status: 'string' },
  })

/** The projector alone writes these, under its lease: a record replaces the one before whatever its revision. */
const REVISION = 0

export const held = (collection: HeldStreams, stream: HeldStream): Write => ({
  collection,
  id: stream.id,
  doc: stream,
  revision: REVISION,
  force: true,
})

export const released = (collection: HeldStreams, stream: string): Write => ({
  collection,
  id: stream,
  doc: null,
  revision: REVISION,
})

const about = ({ stream, id, type, revision, position }: RecordedEvent) => ({
  id: stream,
  event: id,
  type,
  revision,
  position,
})

export const quarantinedStream = ({ event, reason }: StreamQuarantined): HeldStream => ({
  ...about(event),
  status: 'QUARANTINED',
  reason,
  unknown: [],
})

export const incompleteStream = (event: RecordedEvent, unknown: readonly string[]): HeldStream => ({
  ...about(event),
  status: 'INCOMPLETE',
  reason: `unknown to this release: ${unknown.join(', ')}`,
  unknown,
})

/** All held streams of a projector, in no order. */
export async function* listHeld(definition: HeldStreams, readModels: ReadModels): AsyncGenerator<HeldStream> {
  const collection = readModels.collection(definition)
  for await (const id of collection.ids()) {
    const stored = await collection.get(id)
    if (stored) yield stored.doc
  }
}

const requested = (projector: string) => `${projector}.retry.requested`
const done = (projector: string) => `${projector}.retry.done`

export interface RetryRequest {
  /** Unique for each request. */
  id: string
  /** Only this stream; all when left out. */
  stream?: string | undefined
}

/** The retry that was asked for last, and whether it has been carried out. */
export async function requestedRetry(
  projector: string,
  { checkpoints }: ReadModels,
): Promise<RetryRequest & { isDone: boolean }> {
  const [asked = '', finished] = await Promise.all([
    checkpoints.get(requested(projector)),
    checkpoints.get(done(projector)),
  ])
  const [id = '', ...stream] = asked.split(' ')
  return { id, stream: stream.length > 0 ? stream.join(' ') : undefined, isDone: id === (finished ?? '') }
}

export const retryDone = (projector: string, { checkpoints }: ReadModels, { id }: RetryRequest) =>
  checkpoints.save(done(projector), id)

/**
 * Asks the projector, in whatever process it runs, to project held streams again from their first event.
 * @returns a function that tells whether that has happened
 */
export async function requestRetry(
  projector: string,
  { checkpoints }: ReadModels,
  { id, stream }: RetryRequest,
): Promise<() => Promise<boolean>> {
  await checkpoints.save(requested(projector), stream === undefined ? id : `${id} ${stream}`)
  return async () => (await checkpoints.get(done(projector))) === id
}
