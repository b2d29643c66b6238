import type { PublicEvent } from '@gantry/contracts'
import { type Executed, type Log, pastQuarantine } from '@gantry/event-sourcing'
import { inContext } from '@gantry/tracing'
import { type Deliveries, type Dispatch, deliveryId, type Occasion } from '../delivery/deliveries.ts'
import type { AttemptClaim } from '../delivery/delivery.decide.ts'
import { documentOf, dueAt, type Queue, queueOf } from '../delivery/delivery.projection.ts'
import {
  type DeliveryEvent,
  type DeliveryState,
  isBlocked,
  isPending,
  isTest,
  type Pending,
} from '../delivery/delivery.ts'
import { apiNamedIn } from '../delivery/payloads.ts'
import { concernsEndpoint } from '../http/failure.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import type { Webhooks } from '../webhook/webhooks.ts'
import type { MakeAttempt } from './attempts.ts'
import { Backlog } from './backlog.ts'
import type { Entry } from './due-index.ts'
import type { Deferral, Limiter, Slot } from './limiter.ts'
import type { NotifierMetrics } from './metrics.ts'
import { Ordering } from './ordering.ts'
import type { Scheduler, Started, Starter } from './scheduler.ts'

export interface DispatcherOptions {
  deliveries: Deliveries
  webhooks: Webhooks
  makeAttempt: MakeAttempt
  limiter: Limiter
  scheduler(starter: Starter): Scheduler
  metrics: NotifierMetrics
  /** Time after the start of an attempt until it counts as lost, in milliseconds. */
  lostAfterMs: number
  log: Log
}

type Delivered = Executed<DeliveryState, DeliveryEvent>

/**
 * How long a delivery that could not be claimed is not tried again: its document in the store may be outdated for a
 * while.
 */
const HOLD_MS = 1_000
/** Maximum time that the creation of a delivery waits for a free slot. */
const READY_MS = 100
/** Number of deliveries that are cancelled concurrently. */
const BATCH = 250

/**
 * Creates deliveries and makes their attempts. Every attempt is claimed by an append before it is sent, so any replica
 * may make any attempt, and no attempt is made twice. The process that creates a delivery makes its first attempt if it
 * has a free slot; the process that schedules makes the other attempts.
 */
export class Dispatcher implements Dispatch, Starter {
  readonly #options: DispatcherOptions
  readonly #scheduler: Scheduler
  readonly #ordering: Ordering
  /** Ids of the deliveries that this process is working on. */
  readonly #busy = new Set<string>()
  readonly #backlog = new Backlog()
  readonly #tasks = new Set<Promise<unknown>>()
  #running = false

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#scheduler = options.scheduler(this)
    this.#ordering = new Ordering(options.deliveries)
  }

  /** Number of first attempts that wait because this process does not keep up. */
  get behind(): number {
    return this.#backlog.size
  }

  start(): void {
    this.#running = true
    this.#scheduler.start()
  }

  /** Starts no more attempts and waits for those that are running. */
  async stop(): Promise<void> {
    this.#running = false
    await this.#scheduler.stop()
    while (this.#tasks.size > 0) await Promise.allSettled(this.#tasks)
  }

  /** Waits until a new delivery is likely to get a slot at once, for a bounded time. */
  ready(): Promise<void> {
    return this.#options.limiter.halfFree(READY_MS)
  }

  deliver(webhook: WebhookDocument, event: PublicEvent, occasion: Occasion): Promise<Delivered> {
    return this.#track(
      this.#deliver(webhook, event, occasion).then(delivered => {
        if (delivered.events.length > 0) this.#options.metrics.created(delivered.state)
        return delivered
      }),
    )
  }

  changed(state: DeliveryState): void {
    if (state.status === 'CANCELLED') this.#options.metrics.finished(state)
    this.#schedule(state)
    this.#track(this.#startSuccessor(state))
  }

  /** To be called after an update of a webhook: it may have become active, or have another URL. */
  webhookChanged(id: string): void {
    this.#scheduler.webhookChanged(id)
  }

  /** Cancels the pending deliveries of a deleted webhook. */
  async abandon(webhook: string): Promise<void> {
    const { deliveries, limiter, metrics } = this.#options
    limiter.forget(webhook)
    for (;;) {
      const pending = await deliveries.pendingOf(webhook, BATCH)
      const executed = await Promise.all(
        pending.map(({ id }) => deliveries.issue(id, { type: 'AbandonDelivery' })),
      )
      const cancelled = executed.filter(({ events }) => events.length > 0)
      for (const { state } of cancelled) if (state.status === 'CANCELLED') metrics.finished(state)
      if (cancelled.length === 0) return
    }
  }

  /** Makes the attempts again that a process was making when it died. @param diedBefore ISO 8601 */
  async loseAttempts(diedBefore: string): Promise<void> {
    const { deliveries, lostAfterMs } = this.#options
    const from = new Date(Date.parse(diedBefore) - lostAfterMs).toISOString()
    for (const id of await deliveries.running(from, diedBefore)) {
      const { state } = await deliveries.issue(id, { type: 'LoseAttempt', before: diedBefore })
      this.#schedule(state)
    }
  }

  isBusy(id: string): boolean {
    return this.#busy.has(id)
  }

  /** Cancels the pending deliveries of a webhook that turns out to be deleted. */
  async isOpen(queue: Queue): Promise<boolean> {
    const target = await this.#target(queue.webhook)
    if (!target) await this.#abandonIfDeleted(queue.webhook).catch(pastQuarantine(this.#options.log))
    return target !== undefined && mayCall(target, queue)
  }

  async refresh(webhook: string): Promise<void> {
    await this.#target(webhook)
  }

  startDue(entry: Entry): Promise<Started> | undefined {
    const slot = this.#running ? this.#options.limiter.acquire(entry.queue) : 'room'
    if (typeof slot === 'string') return undefined
    this.#busy.add(entry.id)
    // The scheduler may have been woken in the context of another delivery.
    const claimed = inContext(undefined, () => this.#claim(entry, slot))
    return this.#track(claimed.finally(() => slot.release()))
  }

  async startUnblocked(webhook: string, signal: AbortSignal): Promise<void> {
    for await (const id of this.#ordering.unblocked(webhook, signal))
      await this.#startIfUnblocked(id).catch(pastQuarantine(this.#options.log))
  }

  /** `stop` waits for the work. */
  #track<T>(work: Promise<T>): Promise<T> {
    this.#tasks.add(work)
    const done = () => void this.#tasks.delete(work)
    work.then(done, done)
    return work
  }

  /** Hands a delivery that waits for its next attempt over to the scheduler. */
  #schedule(state: DeliveryState) {
    if (isPending(state) && 'dueAt' in state.next) this.#scheduler.add(entryOf(state))
  }

  #claimFor({ url }: WebhookDocument): AttemptClaim {
    return { url, lostAfterMs: this.#options.lostAfterMs }
  }

  async #deliver(target: WebhookDocument, event: PublicEvent, occasion: Occasion): Promise<Delivered> {
    const { deliveries } = this.#options
    const { id: eventId, type: eventType, subject } = event
    const { id: webhook, url, ordered, format } = target
    const test = isTest({ eventType })
    const id = deliveryId(eventId, webhook)
    const position = ordered && !test ? await this.#ordering.last(webhook, subject) : undefined
    const made = { id, webhook, url, eventId, eventType, format, api: apiNamedIn(event), position }
    const command = { type: 'CreateDelivery' as const, ...made, ...occasion }
    if (position?.after) {
      const executed = await deliveries.create(command, event)
      // The predecessor may have finished before this delivery was visible as its successor.
      if (executed.events.length > 0) await this.#startIfUnblocked(id)
      else await this.#writeDocument(executed)
      return executed
    }
    const kind = test ? 'test' : occasion.recovery === undefined ? 'first' : 'retry'
    const executed = await this.#begin(target, kind, claim => deliveries.create({ ...command, claim }, event))
    if (position && executed.events.length === 0) await this.#writeDocument(executed)
    return executed
  }

  /**
   * Writes the document of a delivery of an ordered webhook, so that the next delivery of the resource is placed after it
   * even if the process that created it died before it wrote the document.
   */
  async #writeDocument({ state, revision }: Delivered) {
    if (isPending(state)) await this.#options.deliveries.documents.put(documentOf(state), revision)
  }

  /**
   * Executes a command that can claim the first attempt, and starts the attempt. Without a slot the scheduler starts it
   * later.
   */
  async #begin(
    target: WebhookDocument,
    kind: 'first' | 'retry' | 'test',
    execute: (claim?: AttemptClaim) => Promise<Delivered>,
  ): Promise<Delivered> {
    const acquired = this.#running ? this.#slotFor(target, { webhook: target.id, kind }) : undefined
    const [slot, deferral] = typeof acquired === 'string' ? [undefined, acquired] : [acquired]
    let begun = false
    try {
      const executed = await execute(slot && this.#claimFor(target))
      const { state, events } = executed
      if (events.length > 0 && isPending(state)) {
        begun = slot !== undefined
        if (slot) this.#track(this.#attempt(target, state, slot))
        else {
          if (deferral === 'room' && kind === 'first') this.#backlog.waits(target.id, state.id)
          this.#scheduler.add(entryOf(state))
        }
      }
      return executed
    } finally {
      if (!begun) slot?.release()
    }
  }

  #slotFor(target: WebhookDocument, queue: Queue): Slot | Deferral | undefined {
    if (!mayCall(target, queue)) return undefined
    this.#options.limiter.know(target)
    const slot = this.#options.limiter.acquire(queue)
    if (typeof slot === 'string') this.#options.metrics.deferred(slot)
    return slot
  }

  /** Claims a due attempt and makes it. */
  async #claim({ id, queue }: Entry, slot: Slot): Promise<Started> {
    const { deliveries } = this.#options
    let release = () => void this.#busy.delete(id)
    try {
      const target = await this.#target(queue.webhook)
      if (!target) return (await this.#abandonIfDeleted(queue.webhook)) ? 'inactive' : 'unclear'
      if (!mayCall(target, queue)) return 'inactive'
      const claim = this.#claimFor(target)
      const { state, events } = await deliveries.issue(id, { type: 'StartAttempt', claim })
      if (events.length > 0 && isPending(state)) await this.#attempt(target, state, slot)
      else release = () => void setTimeout(() => this.#busy.delete(id), HOLD_MS).unref()
      return 'started'
    } finally {
      release()
    }
  }

  /** Makes a claimed attempt. It holds its slot until the outcome is recorded. */
  async #attempt(target: WebhookDocument, claimed: Pending, slot: Slot) {
    const { makeAttempt, log } = this.#options
    this.#busy.add(claimed.id)
    this.#backlog.begins(target.id, claimed.id)
    let state: DeliveryState = claimed
    try {
      state = await makeAttempt(target, claimed)
      this.#schedule(state)
    } catch (error) {
      log.error({ delivery: claimed.id, err: error }, 'cannot make an attempt')
    } finally {
      this.#busy.delete(claimed.id)
      this.#backlog.ends(target.id, claimed.id)
      slot.release(succeeded(state, claimed.attempts))
      this.#scheduler.wake()
    }
    await this.#startSuccessor(state)
  }

  /** Starts the successor of a finished delivery. After a failure, or the death of the process, the scheduler starts it. */
  async #startSuccessor(ended: DeliveryState) {
    try {
      const next = await this.#ordering.next(ended)
      if (next) await this.#startIfUnblocked(next)
    } catch (error) {
      this.#options.log.warn({ err: error }, 'cannot start the next delivery of an ordered webhook')
    }
  }

  /** Starts a blocked delivery if its predecessors have finished. */
  async #startIfUnblocked(id: string) {
    const { deliveries } = this.#options
    const { state } = await deliveries.load(id)
    if (!isBlocked(state) || !(await this.#ordering.isUnblocked(state))) return
    const target = await this.#target(state.webhook)
    if (!target) {
      // The webhook may have been deleted while its event was handled. If it is live and has no document yet, the
      // scheduler starts its deliveries later.
      await this.#abandonIfDeleted(state.webhook)
      return
    }
    await this.#begin(target, 'first', claim => deliveries.issue(id, { type: 'Unblock', claim }))
  }

  /** Reads a webhook, whose owner and URL the limiter has to know. */
  async #target(webhook: string): Promise<WebhookDocument | undefined> {
    const { webhooks, limiter } = this.#options
    const stored = await webhooks.documents.get(webhook)
    if (stored) limiter.know(stored.doc)
    return stored?.doc
  }

  async #abandonIfDeleted(webhook: string): Promise<boolean> {
    const deleted = await this.#options.webhooks.isDeleted(webhook)
    if (deleted) await this.abandon(webhook)
    return deleted
  }
}

const entryOf = (state: Pending): Entry => ({ id: state.id, queue: queueOf(state), dueAt: dueAt(state) })

const mayCall = ({ active }: WebhookDocument, { kind }: Queue) => active || kind === 'test'

/** Whether an attempt succeeded; undefined when its outcome says nothing about the endpoint. */
function succeeded(state: DeliveryState, number: number): boolean | undefined {
  const attempt = state.status === 'Absent' ? undefined : state.log.find(each => each.number === number)
  if (!attempt || attempt.durationMs === null || !concernsEndpoint(attempt)) return undefined
  return attempt.error === null
}
