import { type CollectionDefinition, defineCollection, type ReadModels, type Write } from '@gantry/stores'
import type { Position, RecordedEvent } from '../log/event.ts'
import { StreamQuarantined } from '../log/fold.ts'
import type { Log } from './worker.ts'

/** A stream whose documents lack the effect of some of its events, and the reason. */
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
  /** Names (`type@version`) of the unknown events; empty for a quarantined stream. */
  unknown: readonly string[]
}

type HeldStreams = CollectionDefinition<HeldStream>

/** The relays of the services of projectors. They hold streams with an event that cannot be made public. */
export const relaysOf = (projectors: readonly string[]): string[] => [
  ...new Set(projectors.map(name => `${name.split('.')[0]}.relay`)),
]

export const isRelay = (holder: string): boolean => holder.endsWith('.relay')

/**
 * The held streams of one projector or relay. A rebuild of a projector finds its held streams anew. A relay keeps
 * its held streams until it reads the whole log again.
 */
export const heldStreams = (projector: string): HeldStreams =>
  defineCollection<HeldStream>({
    name: `${projector}.held`,
    version: 1,
    fields: { status: 'string' },
  })

/**
 * All records have the same revision: only the projector writes them, under its lease, and each replaces its predecessor.
 */
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
  /** The stream to project again; all held streams when left out. */
  stream?: string | undefined
}

/** The last request for a retry, and whether it has been carried out. */
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
 * Requests that held streams are projected again from their first event. The projector carries it out in the process
 * that runs it.
 * @returns a function that tells whether the request has been carried out
 */
export async function requestRetry(
  projector: string,
  { checkpoints }: ReadModels,
  { id, stream }: RetryRequest,
): Promise<() => Promise<boolean>> {
  await checkpoints.save(requested(projector), stream === undefined ? id : `${id} ${stream}`)
  return async () => (await checkpoints.get(done(projector))) === id
}

/**
 * Lets work on many streams continue when one of them is quarantined.
 * @returns a handler for a promise's `catch` that logs StreamQuarantined and rethrows every other error
 */
export function pastQuarantine(log: Pick<Log, 'warn'>): (error: unknown) => undefined {
  return error => {
    if (!(error instanceof StreamQuarantined)) throw error
    log.warn({ stream: error.event.stream, reason: error.reason }, 'left out a quarantined stream')
  }
}
