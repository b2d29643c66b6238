import { setTimeout as pause } from 'node:timers/promises'
import { subjects } from '@gantry/contracts'
import type { Bus, MissedMessages } from '@gantry/messaging'
import type { Slot } from '@gantry/service-runtime'
import type { OpenTail, Tail } from './event-tail.ts'
import { type FeedReader, feedReader, parsePosition } from './feed-position.ts'
import { type FeedStart, positionGone } from './feed-start.ts'
import type { ReplaySlots } from './replay-slots.ts'
import { CHUNK_LENGTH, type Chunk, type Entry, entryOf } from './streamed-events.ts'
import type { TimeSlices } from './time-slices.ts'

const SLOW_MS = 5_000
/** Pause of a follower that waits for a bus that is built again. */
const REBUILT_PAUSE_MS = 500

export interface EventChunksOptions {
  bus: Bus
  slots: ReplaySlots
  slices: TimeSlices
  tail: OpenTail
  /** Total time that a reader may keep its replay waiting before it loses the slot, in milliseconds. Default: 5,000. */
  slowMs?: number | undefined
}

export interface Reading {
  start: FeedStart
  follow: boolean
  signal: AbortSignal
}

/**
 * The events after a place. Then the stream ends, or continues with new events if it follows. Events that the tail does
 * not keep are read from the bus, which needs a slot; a stream that gets none is refused before it begins.
 * @throws Refusal too-many-replays, BusUnavailable; the chunks throw Refusal position-gone, BusUnavailable
 */
export async function eventChunks(
  options: EventChunksOptions,
  { start, follow, signal }: Reading,
): Promise<AsyncGenerator<Chunk>> {
  const { bus, slots } = options
  const { after, position } = start
  const tail = follow ? await options.tail(signal) : undefined
  const until = tail ? Number.POSITIVE_INFINITY : await bus.head()
  const isReplay = tail && position.awaited.length === 0 ? !tail.reaches(after) : after < until
  const slot = isReplay ? await slots.begin(signal) : undefined
  return chunks(options, { start, until, tail, slot, signal })
}

interface Begun {
  start: FeedStart
  until: number
  tail: Tail | undefined
  slot: Slot | undefined
  signal: AbortSignal
}

async function* chunks(options: EventChunksOptions, begun: Begun): AsyncGenerator<Chunk> {
  const { start, until, tail, signal } = begun
  let { slot } = begun
  let { after } = start
  let reader = feedReader(start.position)
  /** Whether removed events count as missed. They do for a reader that has read the events before them. */
  let misses = start.resumes
  while (!signal.aborted && after < until) {
    const latest = reader.caughtUp() && tail?.reaches(after) ? tail : undefined
    if (latest) slot?.release()
    else if (!slot?.held()) slot = await options.slots.resume(signal)
    const before = after
    let position: string | undefined
    const next = latest
      ? latest.after(after, signal)
      : replay(options, { after, reader, misses, slot, signal })
    for await (const chunk of next) {
      after = chunk.through
      position = chunk.position
      misses = true
      yield chunk
    }
    if (latest && position !== undefined) reader = feedReader(parsePosition(position))
    if (tail && !latest && after === before) {
      slot?.release()
      await pause(REBUILT_PAUSE_MS, undefined, { signal }).catch(() => {})
    }
  }
  slot?.release()
}

interface Replay {
  after: number
  reader: FeedReader
  misses: boolean
  slot: Slot | undefined
  signal: AbortSignal
}

/**
 * The events that are on the bus now. A slow reader loses the slot and its replay ends early, so that no events wait in
 * memory for it.
 */
async function* replay(
  { bus, slices, slowMs = SLOW_MS }: EventChunksOptions,
  { after, reader, misses, slot, signal }: Replay,
): AsyncGenerator<Chunk> {
  const end = await bus.head()
  const gone: MissedMessages[] = []
  let through = after
  let hasRead = misses
  const messages = bus
    .read({
      after,
      subjects: [subjects.allEvents],
      live: false,
      signal,
      missed(range) {
        if (hasRead) gone.push(range)
      },
    })
    [Symbol.asyncIterator]()
  const slowReader = slowReaderTimer(slowMs, () => {
    slot?.release()
    // A failure to end this read does not fail the stream, which continues with another read.
    messages.return?.().catch(() => {})
  })
  const given = async function* (chunk: Chunk) {
    const taken = slowReader.begin()
    yield chunk
    taken()
  }
  let entries: Entry[] = []
  let length = 0
  const collected = () => ({ entries, through, position: reader.position() })
  let slice = await slices.take()
  try {
    for await (const message of { [Symbol.asyncIterator]: () => messages }) {
      // Breaks the response off: the reader resumes after its last position and then gets the refusal.
      if (gone[0]) {
        yield* given(collected())
        throw await positionGone(bus)
      }
      through = message.sequence
      hasRead = true
      const entry = reader.pass(message) ? entryOf(message, reader.position()) : undefined
      if (entry) entries.push(entry)
      length += entry?.json.length ?? 0
      if (length < CHUNK_LENGTH && !slice.over()) continue
      yield* given(collected())
      entries = []
      length = 0
      if (slice.over()) {
        slice.end()
        slice = await slices.take()
      }
    }
    slice.end()
    through = Math.max(through, end)
    if (!slowReader.lost() && !signal.aborted) yield* given(collected())
  } finally {
    slice.end()
    slowReader.end()
  }
}

/** @param lost called once when a reader has kept a replay waiting for `ms` milliseconds in total */
function slowReaderTimer(ms: number, lost: () => void) {
  let leftMs = ms
  let isLost = false
  let timer: NodeJS.Timeout | undefined
  return {
    lost: () => isLost,
    /** Called when the reader gets a chunk. @returns function to call when it asks for the next one */
    begin() {
      const since = performance.now()
      timer = setTimeout(() => {
        isLost = true
        lost()
      }, leftMs)
      return () => {
        clearTimeout(timer)
        leftMs = Math.max(0, leftMs - (performance.now() - since))
      }
    },
    end: () => clearTimeout(timer),
  }
}
