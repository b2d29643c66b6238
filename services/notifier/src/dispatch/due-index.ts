import { type Queue, queuePrefix } from '../delivery/delivery.projection.ts'

/** A pending delivery with the time of its next attempt. */
export interface Entry {
  id: string
  queue: Queue
  /** ISO 8601. */
  dueAt: string
}

/** The first pending deliveries of one queue. */
export interface QueueIndex {
  readonly queue: Queue
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
const ENTRIES_PER_QUEUE = 1_000

/**
 * In-memory index of pending deliveries by queue and due time. The store has all of them; the index saves queries. The
 * number of entries of a queue is bounded: beyond the bound the index is complete up to some time only, and the store is
 * queried when that time is reached.
 */
export class DueIndex {
  /** Least recently served first. */
  readonly #queues = new Map<string, QueueIndex>()
  readonly #bound: number
  #complete = false

  constructor(bound = ENTRIES_PER_QUEUE) {
    this.#bound = bound
  }

  /** Adds a delivery that this process or another one reported. */
  add(entry: Entry): void {
    const index = this.#get(entry.queue) ?? this.#open(entry.queue, this.#complete ? ALL_TIME : NO_TIME)
    // A query that is running may have read the store before this entry was written.
    if (entry.dueAt >= index.completeUntil && !index.querying) return
    const position = index.entries.findLastIndex(other => other.dueAt <= entry.dueAt) + 1
    index.entries.splice(position, 0, entry)
    if (!index.querying) this.#trim(index)
  }

  /**
   * Records that the store has a delivery in the queue that is due at `dueAt`. Its queue is queried at that time unless the
   * index has it.
   */
  addFirst(queue: Queue, dueAt: string): void {
    const index = this.#get(queue) ?? this.#open(queue, dueAt)
    if (firstTime(index) > dueAt) index.completeUntil = dueAt
  }

  /**
   * Records that every queue with pending deliveries was reported. From then on a queue that is not in the index is empty.
   */
  markComplete(): void {
    this.#complete = true
  }

  /**
   * Merges the result of a query: all deliveries of the queue that are due before `until`, or all of the queue if it is
   * left out.
   */
  merge(index: QueueIndex, entries: readonly Entry[], until = ALL_TIME): void {
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

  /** Discards the entries of a queue, so that the store is queried for them again. */
  reopen(queue: Queue): void {
    this.#open(queue, NO_TIME)
  }

  /** Removes the entries of a queue, unless `reopen` replaced them. */
  close(index: QueueIndex): void {
    if (this.#get(index.queue) === index) this.#queues.delete(queuePrefix(index.queue))
  }

  /** Queues with entries to attempt or to query now, least recently served first. */
  due(now: string): QueueIndex[] {
    return [...this.#queues.values()].filter(index => firstTime(index) <= now)
  }

  /** Removes and returns the first entry if it is due. Moves the queue to the end of the round-robin order. */
  take(index: QueueIndex, now: string): Entry | undefined {
    const [first] = index.entries
    if (!first || first.dueAt > now) return undefined
    index.entries.shift()
    if (this.#get(index.queue) === index) {
      this.#queues.delete(queuePrefix(index.queue))
      if (firstTime(index) !== ALL_TIME) this.#queues.set(queuePrefix(index.queue), index)
    }
    return first
  }

  /** The first time after `after` at which a queue has to be attempted or queried; undefined when there is none. */
  next(after: string): string | undefined {
    let next: string | undefined
    for (const index of this.#queues.values()) {
      const first = firstTime(index)
      if (first > after && first !== ALL_TIME && (next === undefined || first < next)) next = first
    }
    return next
  }

  clear(): void {
    this.#queues.clear()
    this.#complete = false
  }

  #get(queue: Queue): QueueIndex | undefined {
    return this.#queues.get(queuePrefix(queue))
  }

  #open(queue: Queue, completeUntil: string): QueueIndex {
    const index = { queue, entries: [], completeUntil, querying: false }
    this.#queues.set(queuePrefix(queue), index)
    return index
  }

  #trim(index: QueueIndex): void {
    const [beyond] = index.entries.splice(this.#bound)
    if (beyond && beyond.dueAt < index.completeUntil) index.completeUntil = beyond.dueAt
  }
}

const firstTime = ({ entries, completeUntil }: QueueIndex) => {
  const first = entries[0]?.dueAt ?? ALL_TIME
  return first < completeUntil ? first : completeUntil
}
