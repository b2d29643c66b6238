import { setTimeout } from 'node:timers/promises'
import {
  binaryEvent,
  type EventData,
  type ReadStreamOptions,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import {
  type Appended,
  type ExpectedRevision,
  NO_STREAM,
  nameUuids,
  type RecordedEvent,
} from '@gantry/event-sourcing'
import { fromStore, STREAM_REMOVED } from './recorded.ts'
import { NoResponse } from './server/errors.ts'
import { encode } from './server/position.ts'
import { read } from './server/read.ts'
import type { Server } from './server/server.ts'
import type { snapshotsOn } from './snapshots.ts'

const endOf = nameUuids('c2a3cf0e-51f5-4f0b-a1b7-5d2f64b1f3a9')
const NOTHING = new Uint8Array()
/** Interval and maximum time of the looks for events that the server has and does not show yet. */
const VISIBLE_POLL_MS = 2
const VISIBLE_MS = 500

/** Reads until there are events, for a limited time. */
async function seen(read: () => Promise<RecordedEvent[]>, forMs: number): Promise<RecordedEvent[]> {
  for (const startedAt = performance.now(); ; await setTimeout(VISIBLE_POLL_MS)) {
    const events = await read()
    if (events.length > 0 || performance.now() - startedAt > forMs) return events
  }
}

/** Reads, appends to and removes streams. The errors are those of the client. */
export function streamsOn(server: Server, snapshots: ReturnType<typeof snapshotsOn>, timeoutMs: number) {
  const readStream = async (stream: string, options: ReadStreamOptions): Promise<RecordedEvent[]> => {
    const events: RecordedEvent[] = []
    try {
      const { client, left } = server.reads()
      const stored = client.readStream(stream, options)
      for await (const { event } of read(stored, { timeoutMs, left })) {
        const recorded = fromStore(event)
        if (recorded) events.push(recorded)
      }
    } catch (error) {
      // Also thrown for a softly deleted stream, which can continue after its last revision.
      if (error instanceof StreamNotFoundError) return []
      throw error
    }
    return events
  }

  const append = async (
    stream: string,
    events: EventData[],
    expected: ExpectedRevision,
  ): Promise<Appended> => {
    try {
      const { nextExpectedRevision, position } = await server.append(stream, events, expected, timeoutMs)
      if (!position) throw new Error('the server does not return the position of the events')
      const revision = Number(nextExpectedRevision)
      const continued = () => readStream(stream, { fromRevision: BigInt(revision), maxCount: 1 })
      // The stream was removed before: the server undeletes it some milliseconds after it has acknowledged the events.
      if (revision !== expected + events.length && (await seen(continued, timeoutMs)).length === 0)
        throw new NoResponse(`revision ${revision} cannot be read within ${timeoutMs} ms`)
      return { revision, position: encode(position) }
    } catch (error) {
      const mayRepeat = error instanceof WrongExpectedVersionError && expected === NO_STREAM
      const earlier = mayRepeat ? await earlierAppend(stream, events) : undefined
      if (!earlier) throw error
      return earlier
    }
  }

  /**
   * The result of an earlier append that continued a removed stream with exactly these events. For NO_STREAM the server only
   * looks for a repetition at revision 0, and such a stream begins later.
   */
  const earlierAppend = async (stream: string, events: EventData[]): Promise<Appended | undefined> => {
    // The server has found events in the stream, which readers may see a moment later.
    const begun = await seen(() => readStream(stream, { maxCount: events.length }), VISIBLE_MS)
    const last = begun.at(-1)
    if (!last || events.some(({ id }, index) => begun[index]?.id !== id)) return undefined
    return { revision: last.revision, position: last.position }
  }

  /**
   * Removes a stream by a soft delete: readers of the stream find nothing from now on, readers of the whole log until the
   * server's scavenge. A tombstone would be permanent and prevent a new stream of the same name. The scavenge keeps the last
   * event of a stream (KurrentDB #1845), so an empty event, which is not an event of a service, is appended first. If the
   * process dies after that, the next try repeats it.
   */
  const remove = async (stream: string, expected: ExpectedRevision): Promise<void> => {
    try {
      await snapshots.erase(stream)
      const end = binaryEvent({ id: endOf(`${stream}/${expected}`), type: STREAM_REMOVED, data: NOTHING })
      const { nextExpectedRevision } = await server.append(stream, [end], expected, timeoutMs)
      await server
        .reads()
        .client.deleteStream(stream, { expectedRevision: nextExpectedRevision, deadline: timeoutMs })
    } catch (error) {
      if (error instanceof StreamNotFoundError) return
      // The server refuses the removal of a missing stream as a wrong revision.
      if (error instanceof WrongExpectedVersionError && (await readStream(stream, {})).length === 0) return
      throw error
    }
  }

  return { read: readStream, append, remove }
}
