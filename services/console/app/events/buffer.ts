import type { Schemas } from '../http/schemas.ts'

/** An event of any type. */
export type FeedEvent = Omit<Schemas['StreamedEvent'], 'data'> & { data: Record<string, unknown> }

/** A received event, with its length as text, by which memory is limited. */
interface Held {
  event: FeedEvent
  length: number
}

/** Rows and characters that are kept for the list. The oldest ones are removed first. */
const SHOWN_ROWS = 5_000
const SHOWN_LENGTH = 30_000_000
/** Rows and characters that wait while the list is paused. When they are reached, no more is received. */
const WAITING_ROWS = 2_000
const WAITING_LENGTH = 10_000_000
/** Events with which a list that begins at an earlier time is filled at once. */
export const STEP = 500

/** The events of a feed: those that are shown, and those that wait while the list is paused. */
export class EventBuffer {
  #shown = limited(SHOWN_ROWS, SHOWN_LENGTH)
  #waiting = limited(WAITING_ROWS, WAITING_LENGTH)
  /** Events that may still be shown before the list pauses. */
  #allowed: number
  #byHand = false
  #reached: string | undefined

  /** @param allowed events after which the list pauses */
  constructor(allowed: number) {
    this.#allowed = allowed
  }

  get paused(): boolean {
    return this.#allowed <= 0
  }
  /** Whether a person has paused the list. */
  get pausedByHand(): boolean {
    return this.#byHand
  }
  /** Whether no further event should be received now. */
  get full(): boolean {
    return this.#waiting.isFull()
  }
  get waiting(): number {
    return this.#waiting.held.length
  }
  /** Number of events that were removed from the beginning of the list. */
  get removed(): number {
    return this.#shown.removed()
  }
  get received(): number {
    return this.removed + this.#shown.held.length + this.waiting
  }
  /** Time of the last event that arrived. */
  get reached(): string | undefined {
    return this.#reached
  }
  get shown(): FeedEvent[] {
    return this.#shown.held.map(({ event }) => event)
  }

  add(event: FeedEvent, length: number): void {
    this.#reached = event.time
    if (this.paused) this.#waiting.add({ event, length })
    else this.#show({ event, length })
  }

  pause(): void {
    this.#allowed = 0
    this.#byHand = true
  }

  /** Shows waiting events. @param count events after which the list pauses again */
  show(count = Number.POSITIVE_INFINITY): void {
    this.#allowed = count
    this.#byHand = false
    for (const held of this.#waiting.take(count)) this.#show(held)
  }

  #show(held: Held): void {
    this.#allowed--
    this.#shown.add(held)
    this.#shown.trim()
  }
}

function limited(rows: number, length: number) {
  let total = 0
  let removed = 0
  const held: Held[] = []
  const isOver = () => held.length > rows || (total > length && held.length > 1)
  const take = (count: number) => {
    const taken = held.splice(0, count)
    for (const each of taken) total -= each.length
    return taken
  }
  return {
    held,
    take,
    removed: () => removed,
    isFull: () => held.length >= rows || total >= length,
    add(each: Held) {
      held.push(each)
      total += each.length
    },
    trim() {
      while (isOver()) removed += take(1).length
    },
  }
}
