import { setTimeout as pause } from 'node:timers/promises'
import { type Log, superviseUnderLease, type Worker } from '@gantry/event-sourcing'
import type { Bus, Json } from '@gantry/messaging'
import type { Leases } from '@gantry/stores'
import type { Deliveries } from '../delivery/deliveries.ts'
import { parseQueueKey, type Queue, queueEnd, queuePrefix } from '../delivery/delivery.projection.ts'
import { DueIndex, type Entry, type QueueIndex } from './due-index.ts'
import type { Limiter } from './limiter.ts'

/** The result of the start of a due delivery. */
export type Started =
  | 'started'
  /** The webhook is inactive or deleted; `webhookChanged` is called when it becomes active. */
  | 'inactive'
  /** The webhook is not known yet, or the attempt failed to start: tried again after a pause. */
  | 'unclear'

/** Starts the deliveries that the scheduler finds. */
export interface Starter {
  /** Claims and makes the attempt of a due delivery. @returns undefined when no concurrency slot is granted */
  startDue(entry: Entry): Promise<Started> | undefined
  /** Starts blocked deliveries of an ordered webhook whose predecessor has finished. */
  startUnblocked(webhook: string, signal: AbortSignal): Promise<void>
  /** Whether this process is working on a delivery, so that its document in the store may be outdated. */
  isBusy(id: string): boolean
  /** Whether attempts may be made in a queue that has pending deliveries in the store. */
  isOpen(queue: Queue): Promise<boolean>
  /** Reads a webhook again. With another URL than before, its circuit breaker is closed. */
  refresh(webhook: string): Promise<void>
}

export interface SchedulerOptions {
  deliveries: Deliveries
  limiter: Limiter
  /** Runs periodically in the process that schedules, concurrently with scheduling. */
  housekeeping(signal: AbortSignal): Promise<void>
  leases: Leases
  holder: string
  bus: Bus
  now(): Date
  log: Log
}

/** Name of the lease, and of the worker in logs. */
export const SCHEDULER = 'notifier.scheduler'
/** Interval of the scans of the store. */
const SCAN_MS = 5_000
const HOUSEKEEPING_MS = 60_000
/** Page size of queries for the deliveries of a queue. */
const PAGE = 250
/** Pause after a failure of the service itself. */
const HOLD_MS = 1_000
const LONGEST_TIMER_MS = 3_600_000
const HINT_DUE = 'notifier.due'
const HINT_WEBHOOK = 'notifier.webhook-changed'

/**
 * Starts due attempts, in one process at a time, by lease. It indexes pending deliveries by due time, receives hints from
 * the other processes, and scans the store for deliveries whose hint was lost. A process that schedules after it lost
 * the lease is harmless: every attempt is claimed by an append, so no attempt is made twice.
 */
export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #starter: Starter
  readonly #index = new DueIndex()
  readonly #queries = new Set<Promise<void>>()
  readonly #unlisten: (() => void)[] = []
  #scheduling = false
  #woken = false
  #timer: NodeJS.Timeout | undefined
  #worker: Worker | undefined

  constructor(options: SchedulerOptions, starter: Starter) {
    this.#options = options
    this.#starter = starter
  }

  /** Hands a pending delivery over to the process that schedules. */
  add(entry: Entry): void {
    if (this.#scheduling) this.#add(entry)
    else this.#hint(HINT_DUE, entry as unknown as Json)
  }

  /** To be called after a change of a webhook: it may have become active, or have another URL. */
  webhookChanged(webhook: string): void {
    if (this.#scheduling) this.#reopen(webhook)
    else this.#hint(HINT_WEBHOOK, { id: webhook })
  }

  /** Looks for due deliveries, e.g. because a concurrency slot was released. */
  wake(): void {
    if (!this.#scheduling || this.#woken) return
    this.#woken = true
    setImmediate(() => {
      this.#woken = false
      if (this.#scheduling) this.#startAllDue()
    })
  }

  start(): void {
    const { bus, leases, holder, log } = this.#options
    this.#unlisten.push(
      bus.listen(HINT_DUE, hint => this.#add(hint as unknown as Entry)),
      bus.listen(HINT_WEBHOOK, hinted => void this.#reopen((hinted as { id: string }).id)),
    )
    this.#worker = superviseUnderLease({ leases, name: SCHEDULER, holder, log }, (_, signal) =>
      this.#schedule(signal),
    )
  }

  async stop(): Promise<void> {
    for (const stop of this.#unlisten.splice(0)) stop()
    await this.#worker?.stop()
    await Promise.all(this.#queries)
  }

  /** Sends a hint to the process that schedules. The next scan makes up for a lost hint. */
  #hint(subject: string, data: Json) {
    const { bus, log } = this.#options
    bus.broadcast(subject, data).catch(error => log.warn({ err: error }, 'cannot send a scheduling hint'))
  }

  #add(entry: Entry) {
    if (!this.#scheduling) return
    this.#index.add(entry)
    this.wake()
  }

  /** Reads a webhook again, then looks for its deliveries. */
  async #reopen(webhook: string) {
    if (!this.#scheduling) return
    // What cannot be read now is read by the next attempt.
    await this.#starter.refresh(webhook).catch(() => {})
    if (!this.#scheduling) return
    for (const kind of ['first', 'retry', 'manual'] as const) this.#index.reopen({ webhook, kind })
    this.wake()
  }

  #later(ms: number) {
    return new Date(this.#options.now().getTime() + ms).toISOString()
  }

  /** Starts due attempts while there are slots, round robin over the queues. */
  #startAllDue() {
    const { limiter, now } = this.#options
    const time = now().toISOString()
    let wait = LONGEST_TIMER_MS
    let queues = this.#index.due(time).filter(({ queue }) => {
      const ms = limiter.delayMs(queue)
      if (ms > 0) wait = Math.min(wait, ms)
      return ms <= 0
    })
    while (queues.length > 0) queues = queues.filter(index => this.#startNext(index, time))
    clearTimeout(this.#timer)
    const next = this.#index.next(time)
    if (next !== undefined) wait = Math.min(wait, Date.parse(next) - now().getTime())
    this.#timer = setTimeout(() => this.wake(), Math.max(wait, 1))
  }

  /** @returns whether the queue may have another attempt to start now */
  #startNext(index: QueueIndex, time: string): boolean {
    const first = index.entries[0]
    if (!first || first.dueAt > time) {
      if (index.completeUntil <= time && !index.querying) this.#query(index)
      return false
    }
    if (!this.#starter.isBusy(first.id)) {
      const started = this.#starter.startDue(first)
      if (!started) return false
      this.#settle(index, first, started)
    }
    this.#index.take(index, time)
    return true
  }

  async #settle(index: QueueIndex, entry: Entry, started: Promise<Started>) {
    const outcome = await started.catch((error): Started => {
      this.#options.log.error({ delivery: entry.id, err: error }, 'cannot make an attempt')
      return 'unclear'
    })
    if (outcome === 'inactive') this.#index.close(index)
    if (outcome === 'unclear') this.#add({ ...entry, dueAt: this.#later(HOLD_MS) })
    this.wake()
  }

  /** Queries the store for the next deliveries of the queue. */
  #query(index: QueueIndex) {
    index.querying = true
    const query = this.#complete(index)
      .catch(error => {
        this.#options.log.error({ err: error }, 'cannot read due deliveries')
        index.querying = false
        index.completeUntil = this.#later(HOLD_MS)
      })
      .finally(() => {
        this.#queries.delete(query)
        this.wake()
      })
    this.#queries.add(query)
  }

  async #complete(index: QueueIndex) {
    const found = await this.#options.deliveries.documents.list({
      where: { queue: { gte: `${queuePrefix(index.queue)}/`, lt: queueEnd(index.queue) } },
      sort: [{ field: 'queue', direction: 'asc' }],
      limit: PAGE,
    })
    const entries = found.map(({ doc }): Entry => {
      const { queue, dueAt } = parseQueueKey(doc.queue ?? '')
      return { id: doc.id, queue, dueAt }
    })
    const idle = entries.filter(({ id }) => !this.#starter.isBusy(id))
    const last = found.length < PAGE ? undefined : entries.at(-1)?.dueAt
    this.#index.merge(index, idle, last !== undefined && idle.length === 0 ? this.#later(HOLD_MS) : last)
  }

  /** Scans the store until the lease is lost. */
  async #schedule(signal: AbortSignal) {
    const { housekeeping, log } = this.#options
    this.#scheduling = true
    let keptAt = Number.NEGATIVE_INFINITY
    let keeping: Promise<void> | undefined
    try {
      while (!signal.aborted) {
        const startedAt = performance.now()
        await this.#scan(signal)
        if (!keeping && startedAt - keptAt > HOUSEKEEPING_MS) {
          keptAt = startedAt
          keeping = housekeeping(signal)
            .catch(error => log.error({ err: error }, 'cannot remove expired deliveries'))
            .finally(() => {
              keeping = undefined
            })
        }
        // Scans take at most about a twentieth of the time.
        const ms = Math.max(SCAN_MS, 20 * (performance.now() - startedAt))
        await pause(ms, undefined, { signal }).catch(() => {})
      }
    } finally {
      this.#scheduling = false
      clearTimeout(this.#timer)
      this.#index.clear()
      await keeping
    }
  }

  /** Reads the first pending delivery of each queue: one query for each queue, independent of its length. */
  async #scan(signal: AbortSignal) {
    for (let after = ''; !signal.aborted; ) {
      const [first] = await this.#options.deliveries.documents.list({
        where: { queue: { gt: after } },
        sort: [{ field: 'queue', direction: 'asc' }],
        limit: 1,
      })
      if (!first?.doc.queue) break
      const { queue, dueAt } = parseQueueKey(first.doc.queue)
      if (queue.kind === 'turn') await this.#starter.startUnblocked(queue.webhook, signal)
      else if (await this.#starter.isOpen(queue)) this.#index.addFirst(queue, dueAt)
      after = queueEnd(queue)
    }
    this.#index.markComplete()
    this.wake()
  }
}
