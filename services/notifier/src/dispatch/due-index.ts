import { type Lane, laneKey } from '../delivery/delivery.projection.ts'

/** A pending delivery with the time of its next attempt. */
export interface Entry {
  id: string
  lane: Lane
  /** ISO 8601. */
  dueAt: string
}

/** The first pending deliveries of one lane. */
export interface LaneIndex {
  readonly lane: Lane
  /** Ordered by due time. */
  entries: Entry[]
  /** The index is complete for due times before this time. The store has to be queried for later ones. */
  completeUntil: string
  /** Whether a query of the store is running. */
  querying: boolean
}

/** Sorts after every ISO 8601 time. */
const ALL_TIME = '~'
/** Sorts before every ISO 8601 time. */
const NO_TIME = ''
const ENTRIES_PER_LANE = 1_000

/**
 * In-memory index of pending deliveries by lane and due time. The store has all of them; the index saves queries. The
 * number of entries of a lane is bounded: beyond the bound the index is complete up to some time only, and the store is
 * queried when that time is reached.
 */
export class DueIndex {
  /** Least recently served first. */
  readonly #lanes = new Map<string, LaneIndex>()
  readonly #bound: number
  #complete = false

  constructor(bound = ENTRIES_PER_LANE) {
    this.#bound = bound
  }

  /** Adds a delivery that this process or another one reported. */
  add(entry: Entry): void {
    const index = this.#get(entry.lane) ?? this.#open(entry.lane, this.#complete ? ALL_TIME : NO_TIME)
    // A query that is running may have read the store before this entry was written.
    if (entry.dueAt >= index.completeUntil && !index.querying) return
    const position = index.entries.findLastIndex(other => other.dueAt <= entry.dueAt) + 1
    index.entries.splice(position, 0, entry)
    if (!index.querying) this.#trim(index)
  }

  /**
   * Records that the store has a delivery in the lane that is due at `dueAt`. Its lane is queried at that time unless the
   * index has it.
   */
  addFirst(lane: Lane, dueAt: string): void {
    const index = this.#get(lane) ?? this.#open(lane, dueAt)
    if (firstTime(index) > dueAt) index.completeUntil = dueAt
  }

  /**
   * Records that every lane with pending deliveries was reported. From then on a lane that is not in the index is empty.
   */
  surveyed(): void {
    this.#complete = true
  }

  /**
   * Merges the result of a query: all deliveries of the lane that are due before `until`, or all of the lane if it is
   * left out.
   */
  merge(index: LaneIndex, entries: readonly Entry[], until = ALL_TIME): void {
    const byId = new Map(index.entries.map(entry => [entry.id, entry]))
    for (const entry of entries) {
      const added = byId.get(entry.id)
      if (!added || entry.dueAt < added.dueAt) byId.set(entry.id, entry)
    }
    index.entries = [...byId.values()].sort((a, b) => (a.dueAt < b.dueAt ? -1 : a.dueAt > b.dueAt ? 1 : 0))
    index.completeUntil = until
    index.querying = false
    this.#trim(index)
    if (firstTime(index) === ALL_TIME) this.close(index)
  }

  /** Discards the entries of a lane, so that the store is queried for them again. */
  reopen(lane: Lane): void {
    this.#open(lane, NO_TIME)
  }

  /** Removes the entries of a lane, unless `reopen` replaced them. */
  close(index: LaneIndex): void {
    if (this.#get(index.lane) === index) this.#lanes.delete(laneKey(index.lane))
  }

  /** Lanes with entries to attempt or to query now, least recently served first. */
  due(now: string): LaneIndex[] {
    return [...this.#lanes.values()].filter(index => firstTime(index) <= now)
  }

  /** Removes and returns the first entry if it is due. Moves the lane to the end of the round-robin order. */
  take(index: LaneIndex, now: string): Entry | undefined {
    const [first] = index.entries
    if (!first || first.dueAt > now) return undefined
    index.entries.shift()
    if (this.#get(index.lane) === index) {
      this.#lanes.delete(laneKey(index.lane))
      if (firstTime(index) !== ALL_TIME) this.#lanes.set(laneKey(index.lane), index)
    }
    return first
  }

  /** The first time after `after` at which a lane has to be attempted or queried; undefined when there is none. */
  next(after: string): string | undefined {
    let next: string | undefined
    for (const index of this.#lanes.values()) {
      const first = firstTime(index)
      if (first > after && first !== ALL_TIME && (next === undefined || first < next)) next = first
    }
    return next
  }

  clear(): void {
    this.#lanes.clear()
    this.#complete = false
  }

  #get(lane: Lane): LaneIndex | undefined {
    return this.#lanes.get(laneKey(lane))
  }

  #open(lane: Lane, completeUntil: string): LaneIndex {
    const index = { lane, entries: [], completeUntil, querying: false }
    this.#lanes.set(laneKey(lane), index)
    return index
  }

  #trim(index: LaneIndex): void {
    const [beyond] = index.entries.splice(this.#bound)
    if (beyond && beyond.dueAt < index.completeUntil) index.completeUntil = beyond.dueAt
  }
}

const firstTime = ({ entries, completeUntil }: LaneIndex) => {
  const first = entries[0]?.dueAt ?? ALL_TIME
  return first < completeUntil ? first : completeUntil
}
