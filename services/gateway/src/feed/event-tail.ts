import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import { subjects } from '@gantry/contracts'
import { type Bus, BusUnavailable } from '@gantry/messaging'
import { feedReader, unknownMessage } from './feed-position.ts'
import { positionAt } from './feed-start.ts'
import { CHUNK_LENGTH, type Chunk, type Entry, entryOf } from './streamed-events.ts'
import type { TimeSlices } from './time-slices.ts'

/** Number of messages before the head of the bus at which the tail begins. */
const KEPT_MESSAGES = 500
const KEPT_ENTRIES = 1_000
const KEPT_LENGTH = 4_194_304
/** A follower gets new events at most this long after they arrived, so that several share one write. */
const BATCH_MS = 80
/** Number of followers that get new events in one slice. */
const FOLLOWERS_PER_SLICE = 25

/** The latest events of the stream. All followers share one read of the bus. */
export interface Tail {
  /** Whether the tail keeps all events after the sequence. @throws BusUnavailable when the read of the bus has failed */
  reaches(sequence: number): boolean
  /**
   * The events after a sequence, including new ones. Ends when the signal is aborted, or when the tail has dropped events
   * that the follower has not taken.
   * @throws BusUnavailable
   */
  after(sequence: number, signal: AbortSignal): AsyncGenerator<Chunk>
  /** Size of the events that it keeps. */
  bytes(): number
}

/** @returns the tail; its read of the bus ends when all signals that were passed are aborted */
export type OpenTail = (signal: AbortSignal) => Promise<Tail>

interface Reading {
  tail: Promise<Tail>
  bytes(): number
  members: number
  ending: AbortController
}

export function eventTail(bus: Bus, slices: TimeSlices): { open: OpenTail; bytes(): number } {
  let current: Reading | undefined

  const begin = () => {
    const ending = new AbortController()
    const forget = () => {
      if (current === reading) current = undefined
    }
    ending.signal.addEventListener('abort', forget)
    const tail = openTail({ bus, slices, signal: ending.signal, failed: forget })
    const reading: Reading = { tail, bytes: () => 0, members: 0, ending }
    tail.then(({ bytes }) => {
      reading.bytes = bytes
    }, forget)
    return reading
  }

  const open: OpenTail = signal => {
    current ??= begin()
    const reading = current
    reading.members++
    const leave = () => {
      reading.members--
      if (reading.members === 0) reading.ending.abort()
    }
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    return reading.tail
  }
  return { open, bytes: () => current?.bytes() ?? 0 }
}

interface TailOptions {
  bus: Bus
  slices: TimeSlices
  signal: AbortSignal
  failed(): void
}

/** A follower that has taken all events up to a sequence. */
interface Waiting {
  sequence: number
  proceed(): void
}

async function openTail({ bus, slices, signal, failed }: TailOptions): Promise<Tail> {
  const start = Math.max(0, (await bus.head()) - KEPT_MESSAGES)
  const kept = keptEntries(start)
  const reader = feedReader(await positionAt(bus, unknownMessage(start)))
  const waiting = new Set<Waiting>()
  const wakeFollowers = inRounds(slices, () =>
    [...waiting].filter(({ sequence }) => sequence < kept.newest()),
  )
  let failure: unknown

  const read = async () => {
    const missed = ({ through }: { through: number }) => kept.drop(through)
    const options = { after: kept.from(), subjects: [subjects.allEvents], live: true, signal, missed }
    for await (const message of bus.read(options)) {
      const isNew = reader.pass(message)
      const position = reader.position()
      kept.add(message.sequence, position, isNew ? entryOf(message, position) : undefined)
      wakeFollowers()
    }
    throw new BusUnavailable('the bus was closed')
  }

  read().catch(error => {
    failure = error
    failed()
    for (const { proceed } of [...waiting]) proceed()
  })

  const untilNewer = (sequence: number, ended: AbortSignal) =>
    new Promise<void>(resolve => {
      const proceed = () => {
        waiting.delete(follower)
        ended.removeEventListener('abort', proceed)
        resolve()
      }
      const follower = { sequence, proceed }
      waiting.add(follower)
      ended.addEventListener('abort', proceed)
      if (ended.aborted || failure) proceed()
      else if (sequence < kept.newest()) wakeFollowers()
    })

  const requireReadable = () => {
    if (failure) throw failure
  }

  return {
    bytes: kept.bytes,
    reaches(sequence) {
      requireReadable()
      return sequence >= kept.from()
    },
    async *after(sequence, ended) {
      for (let reached = sequence; ; ) {
        await untilNewer(reached, ended)
        if (ended.aborted) return
        requireReadable()
        if (reached < kept.from()) return
        const chunk = kept.after(reached)
        reached = chunk.through
        yield chunk
      }
    },
  }
}

/**
 * Wakes the followers that are due. Each takes one chunk per round, so that all work for followers is done in slices, and
 * the next round waits, so that a chunk has several events.
 */
function inRounds(slices: TimeSlices, due: () => readonly Waiting[]): () => Promise<void> {
  let waking = false
  return async () => {
    if (waking) return
    waking = true
    for (let round = due(); round.length > 0; round = due()) {
      const nextRound = pause(BATCH_MS, undefined, { ref: false })
      for (let first = 0; first < round.length; first += FOLLOWERS_PER_SLICE) {
        const slice = await slices.takeFirst()
        for (const { proceed } of round.slice(first, first + FOLLOWERS_PER_SLICE)) proceed()
        await setImmediate()
        slice.end()
      }
      await nextRound
    }
    waking = false
  }
}

/** The latest events, without gaps. @param start sequence after which they begin */
function keptEntries(start: number) {
  let from = start
  let newest = start
  let position = ''
  let length = 0
  const entries: Entry[] = []
  /** The chunk after each sequence that a follower has reached. Followers at the same sequence share it. */
  const chunks = new Map<number, Chunk>()

  const dropFirst = () => {
    const [first] = entries.splice(0, 1)
    if (!first) return
    from = first.sequence
    length -= first.json.length
  }

  const chunkAfter = (sequence: number): Chunk => {
    const first = entries.findLastIndex(entry => entry.sequence <= sequence) + 1
    let last = first
    for (let taken = 0; last < entries.length && taken < CHUNK_LENGTH; last++)
      taken += entries[last]?.json.length ?? 0
    const end = last < entries.length ? entries[last - 1] : undefined
    const through = end ? { through: end.sequence, position: end.position } : { through: newest, position }
    return { entries: entries.slice(first, last), ...through }
  }

  return {
    from: () => from,
    newest: () => newest,
    bytes: () => length,
    /** @param at position of a reader after the message */
    add(sequence: number, at: string, entry: Entry | undefined) {
      newest = sequence
      position = at
      chunks.clear()
      if (!entry) return
      entries.push(entry)
      length += entry.json.length
      while (entries.length > KEPT_ENTRIES || (length > KEPT_LENGTH && entries.length > 1)) dropFirst()
    },
    /** Drops all events up to the sequence. */
    drop(through: number) {
      chunks.clear()
      while (entries[0] && entries[0].sequence <= through) dropFirst()
      from = Math.max(from, through)
      newest = Math.max(newest, through)
    },
    after(sequence: number): Chunk {
      const chunk = chunks.get(sequence) ?? chunkAfter(sequence)
      chunks.set(sequence, chunk)
      return chunk
    },
  }
}
