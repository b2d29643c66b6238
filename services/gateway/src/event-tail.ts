import { setImmediate } from 'node:timers/promises'
import { subjects } from '@gantry/contracts'
import { type Bus, BusUnavailable } from '@gantry/messaging'
import { CHUNK_LENGTH, type Chunk, type Entry, entryOf } from './streamed-events.ts'
import type { TimeSlices } from './time-slices.ts'

/** Number of messages before the head of the bus at which the tail begins. */
const KEPT_MESSAGES = 500
const KEPT_ENTRIES = 1_000
const KEPT_LENGTH = 4_194_304
/** Number of followers that get new events in one slice. */
const FOLLOWERS_PER_SLICE = 25

/** The latest events of the stream. The bus is read once for all followers. */
export interface Tail {
  /** Whether the tail keeps all events after the position. @throws BusUnavailable when the read of the bus has failed */
  reaches(position: number): boolean
  /**
   * The events after a position, including new ones. Ends when the signal is aborted, or when the tail has dropped events
   * that the follower has not taken.
   * @throws BusUnavailable
   */
  after(position: number, signal: AbortSignal): AsyncGenerator<Chunk>
}

/** @returns the tail; its read of the bus ends when all signals that were passed are aborted */
export type OpenTail = (signal: AbortSignal) => Promise<Tail>

interface Reading {
  tail: Promise<Tail>
  members: number
  ending: AbortController
}

export function eventTail(bus: Bus, slices: TimeSlices): OpenTail {
  let current: Reading | undefined

  const begin = () => {
    const ending = new AbortController()
    const forget = () => {
      if (current === reading) current = undefined
    }
    ending.signal.addEventListener('abort', forget)
    const tail = openTail({ bus, slices, signal: ending.signal, failed: forget })
    tail.catch(forget)
    const reading = { tail, members: 0, ending }
    return reading
  }

  return signal => {
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
}

interface TailOptions {
  bus: Bus
  slices: TimeSlices
  signal: AbortSignal
  failed(): void
}

/** A follower that has taken all events up to a position. */
interface Waiting {
  position: number
  proceed(): void
}

async function openTail({ bus, slices, signal, failed }: TailOptions): Promise<Tail> {
  const kept = keptEntries(Math.max(0, (await bus.head()) - KEPT_MESSAGES))
  const waiting = new Set<Waiting>()
  let failure: unknown
  let waking = false

  const due = () => [...waiting].filter(({ position }) => position < kept.newest())

  /** Each follower takes one chunk per call, so that all work for followers is done in slices. */
  const wakeFollowers = async () => {
    if (waking) return
    waking = true
    for (let round = due(); round.length > 0; round = due()) {
      for (let first = 0; first < round.length; first += FOLLOWERS_PER_SLICE) {
        const slice = await slices.takeFirst()
        for (const { proceed } of round.slice(first, first + FOLLOWERS_PER_SLICE)) proceed()
        await setImmediate()
        slice.end()
      }
    }
    waking = false
  }

  const read = async () => {
    const missed = ({ through }: { through: number }) => kept.drop(through)
    const options = { after: kept.from(), subjects: [subjects.allEvents], live: true, signal, missed }
    for await (const message of bus.read(options)) {
      kept.add(message.sequence, entryOf(message))
      wakeFollowers()
    }
    throw new BusUnavailable('the bus was closed')
  }

  read().catch(error => {
    failure = error
    failed()
    for (const { proceed } of [...waiting]) proceed()
  })

  const untilNewer = (position: number, ended: AbortSignal) =>
    new Promise<void>(resolve => {
      const proceed = () => {
        waiting.delete(follower)
        ended.removeEventListener('abort', proceed)
        resolve()
      }
      const follower = { position, proceed }
      waiting.add(follower)
      ended.addEventListener('abort', proceed)
      if (ended.aborted || failure) proceed()
      else if (position < kept.newest()) wakeFollowers()
    })

  const requireReadable = () => {
    if (failure) throw failure
  }

  return {
    reaches(position) {
      requireReadable()
      return position >= kept.from()
    },
    async *after(position, ended) {
      for (let reached = position; ; ) {
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

/** The latest events, without gaps. @param start position after which they begin */
function keptEntries(start: number) {
  let from = start
  let newest = start
  let length = 0
  const entries: Entry[] = []

  const dropFirst = () => {
    const [first] = entries.splice(0, 1)
    if (!first) return
    from = first.position
    length -= first.json.length
  }

  return {
    from: () => from,
    newest: () => newest,
    add(position: number, entry: Entry | undefined) {
      newest = position
      if (!entry) return
      entries.push(entry)
      length += entry.json.length
      while (entries.length > KEPT_ENTRIES || (length > KEPT_LENGTH && entries.length > 1)) dropFirst()
    },
    /** Drops all events up to the position. */
    drop(through: number) {
      while (entries[0] && entries[0].position <= through) dropFirst()
      from = Math.max(from, through)
      newest = Math.max(newest, through)
    },
    after(position: number): Chunk {
      const first = entries.findLastIndex(entry => entry.position <= position) + 1
      let last = first
      for (let taken = 0; last < entries.length && taken < CHUNK_LENGTH; last++)
        taken += entries[last]?.json.length ?? 0
      const through = last < entries.length ? (entries[last - 1]?.position ?? newest) : newest
      return { entries: entries.slice(first, last), through }
    },
  }
}
