import {
  type Aggregate,
  type CommandMetadata,
  type Executed,
  type Log,
  pastQuarantine,
} from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import type { Collection, Leases } from '@gantry/read-models'
import type { AttemptClaim, DeliveryCommand } from '../delivery/delivery.decide.ts'
import { type DeliveryDocument, documentOf, dueAt, laneOf } from '../delivery/delivery.projection.ts'
import {
  type DeliveryEvent,
  type DeliveryState,
  isBlocked,
  isPending,
  type Pending,
} from '../delivery/delivery.ts'
import { type Lane, pendingOf } from '../delivery/lane.ts'
import type { WebhookCommand } from '../webhook/webhook.decide.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import type { WebhookEvent, WebhookState } from '../webhook/webhook.ts'
import type { MakeAttempt } from './attempts.ts'
import type { Entry } from './due-index.ts'
import { removeFinished } from './expiry.ts'
import type { Limiter, Slot } from './limiter.ts'
import type { NotifierMetrics } from './metrics.ts'
import { ordering } from './ordering.ts'
import { scheduler, type TakenUp } from './scheduler.ts'

export interface DispatcherOptions {
  delivery: Aggregate<DeliveryState, DeliveryCommand, DeliveryEvent>
  deliveries: Collection<DeliveryDocument>
  webhook: Aggregate<WebhookState, WebhookCommand, WebhookEvent>
  webhooks: Collection<WebhookDocument>
  makeAttempt: MakeAttempt
  room: Limiter
  metrics: NotifierMetrics
  /** Time after the start of an attempt until it counts as lost, in milliseconds. */
  lostAfterMs: number
  /** How long finished deliveries are kept, in milliseconds. */
  retentionMs: number
  leases: Leases
  bus: Bus
  holder: string
  now(): Date
  /** Metadata of a command that the service issues by itself. */
  metadata(causationId?: string): CommandMetadata
  log: Log
}

interface NewDelivery {
  id: string
  eventId: string
  eventType: string
  body: string
  /** When the event was committed, ISO 8601. */
  committedAt?: string
  /** Subject of the event. The deliveries of a resource to an ordered webhook are made in the order of their creation. */
  resource?: string
  /** Id of the recovery that creates the delivery; its attempts then count as retries in the concurrency limits. */
  recovery?: string
}

/**
 * Creates deliveries and makes their attempts. Every attempt is claimed by an append before it is sent, so any replica
 * may make any attempt, and no attempt is made twice. The process that creates a delivery makes its first attempt if it
 * has a free slot; the process that schedules makes the other attempts.
 */
export interface Dispatcher {
  /** Waits until a new delivery is likely to get a slot at once, for a bounded time. */
  ready(): Promise<void>
  /** Creates the delivery unless it exists. Its first attempt starts at once if there is a slot. */
  deliver(
    webhook: WebhookDocument,
    delivery: NewDelivery,
    metadata: CommandMetadata,
  ): Promise<Executed<DeliveryState, DeliveryEvent>>
  /** To be called after a user's command made a delivery due or finished it. */
  changed(state: DeliveryState): void
  /** To be called after an update of a webhook: it may have become active, or have another URL. */
  webhookChanged(id: string): void
  /** Cancels the pending deliveries of a deleted webhook. */
  abandon(webhook: string): Promise<void>
  start(): void
  /** Starts no more attempts and waits for those that are running. */
  stop(): Promise<void>
}

/**
 * How long a delivery that could not be claimed is not tried again: its document in the store may be outdated for a
 * while.
 */
const HOLD_MS = 1_000
/** Maximum time that the creation of a delivery waits for a free slot. */
const READY_MS = 100
/**
 * Maximum difference of clocks. It delays the removal of streams, so that none is removed while its event is recent
 * enough to create the delivery again, or while the outcome of an attempt may still arrive.
 */
const SKEW_MS = 60_000
/** Number of deliveries that are cancelled concurrently. */
const BATCH = 250

export function dispatcher(options: DispatcherOptions): Dispatcher {
  const { delivery, deliveries, webhook, webhooks, makeAttempt, room, metrics, now, metadata, log } = options
  const busy = new Set<string>()
  const underWay = new Set<Promise<unknown>>()
  const lines = ordering(delivery, deliveries)
  let running = false

  const claimFor = ({ url }: WebhookDocument) => ({ url, lostAfterMs: options.lostAfterMs })

  /** `stop` waits for the work. */
  const track = <T>(work: Promise<T>): Promise<T> => {
    underWay.add(work)
    const done = () => void underWay.delete(work)
    work.then(done, done)
    return work
  }

  const leave = (state: Pending) => {
    due.leave({ id: state.id, lane: laneOf(state), dueAt: dueAt(state) })
  }

  /** Makes a claimed attempt. It holds its slot until the outcome is recorded. */
  const carryOut = async (target: WebhookDocument, claimed: Pending, place: Slot) => {
    busy.add(claimed.id)
    let state: DeliveryState = claimed
    try {
      state = await makeAttempt(target, claimed)
      if (isPending(state) && 'dueAt' in state.next) leave(state)
    } catch (error) {
      log.error({ delivery: claimed.id, err: error }, 'cannot make an attempt')
    } finally {
      busy.delete(claimed.id)
      place.release(succeeded(state, claimed.attempts))
      due.wake()
    }
    await callNext(state)
  }

  /**
   * Executes a command that can claim the first attempt, and starts the attempt. Without a slot the scheduler starts it
   * later.
   */
  const beginning = async (
    target: WebhookDocument,
    kind: Exclude<Lane['kind'], 'turn'>,
    execute: (claim?: AttemptClaim) => Promise<Executed<DeliveryState, DeliveryEvent>>,
  ) => {
    const place = running ? placeFor(target, { webhook: target.id, kind }) : undefined
    let begun = false
    try {
      const executed = await execute(place && claimFor(target))
      const { state, events } = executed
      if (events.length > 0 && isPending(state)) {
        begun = place !== undefined
        if (place) track(carryOut(target, state, place))
        else leave(state)
      }
      return executed
    } finally {
      if (!begun) place?.release()
    }
  }

  const placeFor = (target: WebhookDocument, lane: Lane): Slot | undefined => {
    if (!mayCall(target, lane)) return undefined
    const place = room.acquire(lane)
    if (typeof place !== 'string') return place
    metrics.deferred(place)
    return undefined
  }

  /** Starts a blocked delivery if its predecessors have finished. */
  const callUp = async (id: string) => {
    const { state } = await delivery.load(id)
    if (!isBlocked(state) || !(await lines.hasCome(state))) return
    const target = await webhooks.get(state.webhook)
    // Deliveries of a deleted webhook need no start; without the document of a live webhook the scheduler starts them
    // later.
    if (!target) return
    const command: DeliveryCommand = { type: 'TakeTurn', metadata: metadata() }
    await beginning(target.doc, 'first', claim => delivery.execute(id, { ...command, claim }))
  }

  /** Starts the successor of a finished delivery. After a failure, or the death of the process, the scheduler starts it. */
  const callNext = async (ended: DeliveryState) => {
    try {
      const next = await lines.next(ended)
      if (next) await callUp(next)
    } catch (error) {
      log.warn({ err: error }, 'cannot start the next delivery of an ordered webhook')
    }
  }

  const make = async (
    target: WebhookDocument,
    { id, eventId, eventType, body, committedAt, resource, recovery }: NewDelivery,
    commanded: CommandMetadata,
  ) => {
    const line = target.ordered && resource !== undefined ? await lines.last(target.id, resource) : undefined
    const command: DeliveryCommand = {
      type: 'CreateDelivery',
      metadata: commanded,
      id,
      webhook: target.id,
      url: target.url,
      eventId,
      eventType,
      body,
      committedAt,
      recovery,
      line,
    }
    if (line?.after) {
      const executed = await delivery.execute(id, command)
      // The predecessor may have finished before this delivery was visible as its successor.
      if (executed.events.length > 0) await callUp(id)
      else await makeKnown(executed)
      return executed
    }
    const kind = eventType === 'TEST' ? 'test' : recovery === undefined ? 'first' : 'retry'
    const executed = await beginning(target, kind, claim => delivery.execute(id, { ...command, claim }))
    if (line && executed.events.length === 0) await makeKnown(executed)
    return executed
  }

  /**
   * Writes the document of a delivery of an ordered webhook, so that the next delivery of the resource is placed after it
   * even if the process that created it died before it wrote the document.
   */
  const makeKnown = async ({ state, revision }: Executed<DeliveryState, DeliveryEvent>) => {
    if (isPending(state)) await deliveries.put(documentOf(state), revision)
  }

  const takeUp = (entry: Entry): Promise<TakenUp> | undefined => {
    const place = running ? room.acquire(entry.lane) : 'room'
    if (typeof place === 'string') return undefined
    busy.add(entry.id)
    return track(claim(entry, place).finally(() => place.release()))
  }

  /** Claims a due attempt and makes it. */
  const claim = async ({ id, lane }: Entry, place: Slot): Promise<TakenUp> => {
    let release = () => void busy.delete(id)
    try {
      const target = await webhooks.get(lane.webhook)
      if (!target) return (await isDeleted(lane.webhook)) ? 'waiting' : 'unclear'
      if (!mayCall(target.doc, lane)) return 'waiting'
      const { state, events } = await delivery.execute(id, {
        type: 'StartAttempt',
        metadata: metadata(),
        claim: claimFor(target.doc),
      })
      if (events.length > 0 && isPending(state)) await carryOut(target.doc, state, place)
      else release = () => void setTimeout(() => busy.delete(id), HOLD_MS).unref()
      return 'begun'
    } finally {
      release()
    }
  }

  const mayCall = ({ active }: WebhookDocument, { kind }: Lane) => active || kind === 'test'

  /** Whether attempts may be made in a lane. Cancels the pending deliveries of a webhook that turns out to be deleted. */
  const isOpen = async (lane: Lane): Promise<boolean> => {
    const target = await webhooks.get(lane.webhook)
    if (!target) await isDeleted(lane.webhook).catch(pastQuarantine(log))
    return target !== undefined && mayCall(target.doc, lane)
  }

  /** Only the log tells a deleted webhook from one that is not projected yet. Cancels the deliveries of a deleted one. */
  const isDeleted = async (id: string): Promise<boolean> => {
    const { state } = await webhook.load(id)
    if (state.status !== 'Deleted') return false
    await abandon(id)
    return true
  }

  const abandon: Dispatcher['abandon'] = async id => {
    room.reset(id)
    for (;;) {
      const pending = await deliveries.list({
        where: { queue: pendingOf(id) },
        sort: [{ field: 'queue', direction: 'asc' }],
        limit: BATCH,
      })
      const executed = await Promise.all(
        pending.map(({ doc }) => delivery.execute(doc.id, { type: 'AbandonDelivery', metadata: metadata() })),
      )
      for (const { state, events } of executed) if (events.length > 0) countEnded(state)
      if (!executed.some(({ events }) => events.length > 0)) return
    }
  }

  /** Counts a cancelled delivery in the metrics. */
  const countEnded = (state: DeliveryState) => {
    if (state.status === 'CANCELLED')
      metrics.finished(state.status, Date.parse(state.finishedAt) - Date.parse(state.committedAt))
  }

  const due = scheduler({
    ...options,
    takeUp,
    heldForMs: lane => room.delayMs(lane),
    changed: id => room.reset(id),
    async callForgotten(id, signal) {
      for await (const waiting of lines.forgotten(id, signal))
        await callUp(waiting).catch(pastQuarantine(log))
    },
    isOpen,
    isBusy: id => busy.has(id),
    housekeeping(signal) {
      const keptMs = options.retentionMs + options.lostAfterMs + SKEW_MS
      const before = new Date(now().getTime() - keptMs).toISOString()
      return removeFinished({ delivery, deliveries, before, signal, log })
    },
  })

  return {
    ready: () => room.halfFree(READY_MS),
    deliver: (...made) => track(make(...made)),
    changed(state) {
      countEnded(state)
      if (isPending(state) && 'dueAt' in state.next) leave(state)
      track(callNext(state))
    },
    webhookChanged: due.reopen,
    abandon,
    start() {
      running = true
      due.start()
    },
    async stop() {
      running = false
      await due.stop()
      while (underWay.size > 0) await Promise.allSettled(underWay)
    },
  }
}

/** Whether an attempt succeeded; undefined when its outcome says nothing about the endpoint. */
function succeeded(state: DeliveryState, number: number): boolean | undefined {
  const attempt = state.status === 'Absent' ? undefined : state.log.find(each => each.number === number)
  if (!attempt || attempt.durationMs === null || attempt.fault === 'SERVICE') return undefined
  return attempt.error === null
}
