import { type Lane, laneKey } from '../delivery/lane.ts'

/** A pending delivery with the time of its next attempt. */
export interface Entry {
  id: string
  lane: Lane
  /** ISO 8601. */
  dueAt: string
}

/** The due index of one lane in this process: the first pending deliveries of the lane. */
export interface Line {
  readonly lane: Lane
  /** Ordered by due time. */
  known: Entry[]
  /** The index is complete for due times before this time. The store has to be queried for later ones. */
  knownUntil: string
  /** Whether a query of the store is running. */
  looking: boolean
}

/**
 * In-memory index of pending deliveries by lane and due time. The store has all of them; the index saves queries. The
 * number of entries of a lane is bounded: beyond the bound the index is complete up to some time only, and the store is
 * queried when that time is reached.
 */
export interface Agenda {
  /** Adds a delivery that this process or another one reported. */
  note(entry: Entry): void
  /**
   * Records that the store has a delivery in the lane that is due at `dueAt`. Its lane is queried at that time unless the
   * index has it.
   */
  found(lane: Lane, dueAt: string): void
  /**
   * Records that every lane with pending deliveries was reported. From then on a lane that is not in the index is empty.
   */
  surveyed(): void
  /**
   * Merges the result of a query: all deliveries of the lane that are due before `until`, or all of the lane if it is
   * left out.
   */
  learn(line: Line, entries: readonly Entry[], until?: string): void
  /** Discards the entries of a lane, so that the store is queried for them again. */
  reopen(lane: Lane): void
  /** Removes the entries of a lane, unless `reopen` replaced them. */
  close(line: Line): void
  /** Lanes with entries to attempt or to query now, least recently served first. */
  due(now: string): Line[]
  /** Removes and returns the first entry if it is due. Moves the lane to the end of the round-robin order. */
  take(line: Line, now: string): Entry | undefined
  /** The first time after `after` at which a lane has to be attempted or queried; undefined when there is none. */
  next(after: string): string | undefined
  clear(): void
}

/** Sorts after every ISO 8601 time. */
const ALL_TIME = '~'
/** Sorts before every ISO 8601 time. */
const NO_TIME = ''
const KNOWN_PER_LANE = 1_000

export function agenda(bound = KNOWN_PER_LANE): Agenda {
  const lines = new Map<string, Line>()
  let complete = false

  const open = (lane: Lane, knownUntil: string): Line => {
    const line = { lane, known: [], knownUntil, looking: false }
    lines.set(laneKey(lane), line)
    return line
  }

  const firstTime = ({ known, knownUntil }: Line) => {
    const first = known[0]?.dueAt ?? ALL_TIME
    return first < knownUntil ? first : knownUntil
  }

  const trim = (line: Line) => {
    const [beyond] = line.known.splice(bound)
    if (beyond && beyond.dueAt < line.knownUntil) line.knownUntil = beyond.dueAt
  }

  const close = (line: Line) => {
    const key = laneKey(line.lane)
    if (lines.get(key) === line) lines.delete(key)
  }

  return {
    note(entry) {
      const line = lines.get(laneKey(entry.lane)) ?? open(entry.lane, complete ? ALL_TIME : NO_TIME)
      // A query that is running may have read the store before this entry was written.
      if (entry.dueAt >= line.knownUntil && !line.looking) return
      const place = line.known.findLastIndex(other => other.dueAt <= entry.dueAt) + 1
      line.known.splice(place, 0, entry)
      if (!line.looking) trim(line)
    },
    found(lane, dueAt) {
      const line = lines.get(laneKey(lane)) ?? open(lane, dueAt)
      if (firstTime(line) > dueAt) line.knownUntil = dueAt
    },
    surveyed() {
      complete = true
    },
    learn(line, entries, until = ALL_TIME) {
      const byId = new Map(line.known.map(entry => [entry.id, entry]))
      for (const entry of entries) {
        const noted = byId.get(entry.id)
        if (!noted || entry.dueAt < noted.dueAt) byId.set(entry.id, entry)
      }
      line.known = [...byId.values()].sort((a, b) => (a.dueAt < b.dueAt ? -1 : a.dueAt > b.dueAt ? 1 : 0))
      line.knownUntil = until
      line.looking = false
      trim(line)
      if (firstTime(line) === ALL_TIME) close(line)
    },
    reopen: lane => void open(lane, NO_TIME),
    close,
    due: now => [...lines.values()].filter(line => firstTime(line) <= now),
    take(line, now) {
      const [first] = line.known
      if (!first || first.dueAt > now) return undefined
      line.known.shift()
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
