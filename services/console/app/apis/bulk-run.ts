import { asProblem } from '../http/problem.ts'
import { whenAdmitted } from '../parts/admitted.ts'
import { apply, type Change, type Outcome } from './bulk-change.ts'
import type { Picked } from './selection.ts'

/** An API of a bulk change with its result. */
export interface BulkItem {
  api: Picked
  result: 'waiting' | Outcome | 'failed'
  /** Why it failed. */
  reason?: string
  /** True if it failed because another person had changed it. */
  overtaken?: boolean
}

/** A bulk change at a moment. */
export interface BulkState {
  running: boolean
  cancelled: boolean
  items: readonly BulkItem[]
  /** Number of items that were changed, or needed no change. */
  done: number
  failed: number
}

const AT_ONCE = 4
/** Time between two notifications of listeners. */
const SHOWN_MS = 100

/** Changes APIs one by one, a few at once, and records the result of each. */
export class BulkRun {
  #items: BulkItem[]
  #change: Change
  #aborting = new AbortController()
  #listeners = new Set<() => void>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #state: BulkState

  constructor(change: Change, apis: readonly Picked[]) {
    this.#change = change
    this.#items = apis.map(api => ({ api: { ...api }, result: 'waiting' }))
    this.#state = this.#stateNow(false)
  }

  state = (): BulkState => this.#state

  subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Changes the items that are waiting or have failed. Resolves when all have a result, or after `cancel`. */
  async run(): Promise<void> {
    this.#aborting = new AbortController()
    const { signal } = this.#aborting
    for (const item of this.#items) if (item.result === 'failed') item.result = 'waiting'
    const waiting = this.#items.filter(({ result }) => result === 'waiting').values()
    this.#publish(true)
    const work = async () => {
      for (const item of waiting) {
        if (signal.aborted) return
        await this.#changeOne(item, signal)
        this.#publishSoon()
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    this.#publish(false)
  }

  /** Starts no further change. A request that is under way is finished, so that its result is known. */
  cancel = () => this.#aborting.abort()

  async #changeOne(item: BulkItem, signal: AbortSignal): Promise<void> {
    try {
      item.result = await whenAdmitted(() => apply(this.#change, item.api, item.overtaken === true), signal)
      delete item.reason
    } catch (error) {
      if (error === signal.reason) return
      const { title, detail, status } = asProblem(error)
      if (status === 412) item.overtaken = true
      item.result = 'failed'
      item.reason = title === detail ? title : `${title}. ${detail}`
    }
  }

  #stateNow(running: boolean): BulkState {
    const failed = this.#items.filter(({ result }) => result === 'failed').length
    const waiting = this.#items.filter(({ result }) => result === 'waiting').length
    const cancelled = !running && this.#aborting.signal.aborted && waiting > 0
    return { running, cancelled, items: this.#items, failed, done: this.#items.length - failed - waiting }
  }

  #publish(running: boolean) {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#state = this.#stateNow(running)
    for (const listener of this.#listeners) listener()
  }

  #publishSoon() {
    this.#timer ??= setTimeout(() => this.#publish(true), SHOWN_MS)
  }
}
