import { Refusal, subjects } from '@gantry/contracts'
import type { Bus, MissedMessages } from '@gantry/messaging'
import type { OpenTail, Tail } from './event-tail.ts'
import type { ReplaySlot, ReplaySlots } from './replay-slots.ts'
import { CHUNK_LENGTH, type Chunk, type Entry, entryOf } from './streamed-events.ts'
import type { TimeSlices } from './time-slices.ts'

const SLOW_MS = 5_000

export interface EventChunksOptions {
  bus: Bus
  slots: ReplaySlots
  slices: TimeSlices
  tail: OpenTail
  /** Total time that a reader may keep its replay waiting before it loses the slot, in milliseconds. Default: 5,000. */
  slowMs?: number | undefined
}

export interface Reading {
  /** Position to begin after. Undefined begins with the oldest event on the bus. */
  after: number | undefined
  follow: boolean
  signal: AbortSignal
}

/**
 * The events after a position. Then the stream ends, or continues with new events if it follows. Events that the tail does
 * not keep are read from the bus, which needs a slot; a stream that gets none is refused before it begins.
 * @throws Refusal too-many-replays, BusUnavailable; the chunks throw Refusal position-gone, BusUnavailable
 */
export async function eventChunks(
  options: EventChunksOptions,
  { after, follow, signal }: Reading,
): Promise<AsyncGenerator<Chunk>> {
  const { bus, slots } = options
  const tail = follow ? await options.tail(signal) : undefined
  const until = tail ? Number.POSITIVE_INFINITY : await bus.head()
  const isReplay = tail ? !tail.reaches(after ?? 0) : (after ?? 0) < until
  const slot = isReplay ? await slots.begin(signal) : undefined
  return chunks(options, { after, until, tail, slot, signal })
}

interface Begun {
  after: number | undefined
  until: number
  tail: Tail | undefined
  slot: ReplaySlot | undefined
  signal: AbortSignal
}

async function* chunks(options: EventChunksOptions, begun: Begun): AsyncGenerator<Chunk> {
  const { until, tail, signal } = begun
  let { after, slot } = begun
  while (!signal.aborted && (after ?? 0) < until) {
    const isReplay = !tail?.reaches(after ?? 0)
    if (!isReplay) slot?.release()
    else if (!slot?.held()) slot = await options.slots.resume(signal)
    const next = tail && !isReplay ? tail.after(after ?? 0, signal) : replay(options, { after, slot, signal })
    for await (const chunk of next) {
      after = chunk.through
      yield chunk
    }
  }
  slot?.release()
}

interface Replay {
  after: number | undefined
  slot: ReplaySlot | undefined
  signal: AbortSignal
}

/**
 * The events that are on the bus now. A slow reader loses the slot and its replay ends early, so that no events wait in
 * memory for it.
 */
async function* replay(
  { bus, slices, slowMs = SLOW_MS }: EventChunksOptions,
  { after, slot, signal }: Replay,
): AsyncGenerator<Chunk> {
  const end = await bus.head()
  const gone: MissedMessages[] = []
  let through = after
  const messages = bus
    .read({
      after: after ?? 0,
      subjects: [subjects.allEvents],
      live: false,
      signal,
      missed(range) {
        if (through !== undefined) gone.push(range)
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
  let slice = await slices.take()
  try {
    for await (const message of { [Symbol.asyncIterator]: () => messages }) {
      // Breaks the response off: the reader resumes after its last position and then gets the refusal.
      if (gone[0]) {
        if (through !== undefined) yield* given({ entries, through })
        throw positionGone(gone[0].through)
      }
      through = message.sequence
      const entry = entryOf(message)
      if (entry) entries.push(entry)
      length += entry?.json.length ?? 0
      if (length < CHUNK_LENGTH && !slice.over()) continue
      yield* given({ entries, through })
      entries = []
      length = 0
      if (slice.over()) {
        slice.end()
        slice = await slices.take()
      }
    }
    slice.end()
    if (!slowReader.lost() && !signal.aborted) yield* given({ entries, through: Math.max(through ?? 0, end) })
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

/** @param removed position up to which events have been removed */
export const positionGone = (removed: number) =>
  new Refusal('position-gone', {
    detail: `events up to position ${removed} have been removed because of their age: read after=${removed}`,
    oldestPosition: String(removed),
  })
