import { type Lane, laneKey } from '../delivery/lane.ts'

/** A pending delivery with the time of its next attempt. */
export interface Entry {
  id: string
  lane: Lane
  /** ISO 8601. */
  dueAt: string
}

/** The due index of one lane in this process: the first pending deliveries of the lane. */
export interface LaneIndex {
  readonly lane: Lane
  /** Ordered by due time. */
  entries: Entry[]
  /** The index is complete for due times before this time. The store has to be queried for later ones. */
  completeUntil: string
  /** Whether a query of the store is running. */
  querying: boolean
}

/**
 * In-memory index of pending deliveries by lane and due time. The store has all of them; the index saves queries. The
 * number of entries of a lane is bounded: beyond the bound the index is complete up to some time only, and the store is
 * queried when that time is reached.
 */
export interface DueIndex {
  /** Adds a delivery that this process or another one reported. */
  add(entry: Entry): void
  /**
   * Records that the store has a delivery in the lane that is due at `dueAt`. Its lane is queried at that time unless the
   * index has it.
   */
  addFirst(lane: Lane, dueAt: string): void
  /**
   * Records that every lane with pending deliveries was reported. From then on a lane that is not in the index is empty.
   */
  surveyed(): void
  /**
   * Merges the result of a query: all deliveries of the lane that are due before `until`, or all of the lane if it is
   * left out.
   */
  merge(line: LaneIndex, entries: readonly Entry[], until?: string): void
  /** Discards the entries of a lane, so that the store is queried for them again. */
  reopen(lane: Lane): void
  /** Removes the entries of a lane, unless `reopen` replaced them. */
  close(line: LaneIndex): void
  /** Lanes with entries to attempt or to query now, least recently served first. */
  due(now: string): LaneIndex[]
  /** Removes and returns the first entry if it is due. Moves the lane to the end of the round-robin order. */
  take(line: LaneIndex, now: string): Entry | undefined
  /** The first time after `after` at which a lane has to be attempted or queried; undefined when there is none. */
  next(after: string): string | undefined
  clear(): void
}

/** Sorts after every ISO 8601 time. */
const ALL_TIME = '~'
/** Sorts before every ISO 8601 time. */
const NO_TIME = ''
const ENTRIES_PER_LANE = 1_000

export function dueIndex(bound = ENTRIES_PER_LANE): DueIndex {
  const lines = new Map<string, LaneIndex>()
  let complete = false

  const open = (lane: Lane, completeUntil: string): LaneIndex => {
    const line = { lane, entries: [], completeUntil, querying: false }
    lines.set(laneKey(lane), line)
    return line
  }

  const firstTime = ({ entries: known, completeUntil }: LaneIndex) => {
    const first = known[0]?.dueAt ?? ALL_TIME
    return first < completeUntil ? first : completeUntil
  }

  const trim = (line: LaneIndex) => {
    const [beyond] = line.entries.splice(bound)
    if (beyond && beyond.dueAt < line.completeUntil) line.completeUntil = beyond.dueAt
  }

  const close = (line: LaneIndex) => {
    const key = laneKey(line.lane)
    if (lines.get(key) === line) lines.delete(key)
  }

  return {
    add(entry) {
      const line = lines.get(laneKey(entry.lane)) ?? open(entry.lane, complete ? ALL_TIME : NO_TIME)
      // A query that is running may have read the store before this entry was written.
      if (entry.dueAt >= line.completeUntil && !line.querying) return
      const place = line.entries.findLastIndex(other => other.dueAt <= entry.dueAt) + 1
      line.entries.splice(place, 0, entry)
      if (!line.querying) trim(line)
    },
    addFirst(lane, dueAt) {
      const line = lines.get(laneKey(lane)) ?? open(lane, dueAt)
      if (firstTime(line) > dueAt) line.completeUntil = dueAt
    },
    surveyed() {
      complete = true
    },
    merge(line, entries, until = ALL_TIME) {
      const byId = new Map(line.entries.map(entry => [entry.id, entry]))
      for (const entry of entries) {
        const noted = byId.get(entry.id)
        if (!noted || entry.dueAt < noted.dueAt) byId.set(entry.id, entry)
      }
      line.entries = [...byId.values()].sort((a, b) => (a.dueAt < b.dueAt ? -1 : a.dueAt > b.dueAt ? 1 : 0))
      line.completeUntil = until
      line.querying = false
      trim(line)
      if (firstTime(line) === ALL_TIME) close(line)
    },
    reopen: lane => void open(lane, NO_TIME),
    close,
    due: now => [...lines.values()].filter(line => firstTime(line) <= now),
    take(line, now) {
      const [first] = line.entries
      if (!first || first.dueAt > now) return undefined
      line.entries.shift()
      const key = laneKey(line.lane)
      if (lines.get(key) === line) {
        lines.delete(key)
        if (firstTime(line) !== ALL_TIME) lines.set(key, line)
      }
      return first
    },
    next(after) {
      let next: string | undefined
      for (const line of lines.values()) {
        const first = firstTime(line)
        if (first > after && first !== ALL_TIME && (next === undefined || first < next)) next = first
      }
      return next
    },
    clear() {
      lines.clear()
      complete = false
    },
  }
}
