import { setTimeout as pause } from 'node:timers/promises'
import {
  type Aggregate,
  type CommandMetadata,
  type Executed,
  type Log,
  supervise,
  underLease,
  type Worker,
} from '@gantry/event-sourcing'
import type { Bus, Json } from '@gantry/messaging'
import type { Collection, Leases } from '@gantry/read-models'
import type { DeliveryCommand } from '../delivery/delivery.decide.ts'
import { type DeliveryDocument, dueAt, laneOf } from '../delivery/delivery.projection.ts'
import { type DeliveryEvent, type DeliveryState, isPending, type Pending } from '../delivery/delivery.ts'
import { type Lane, laneEnd, laneKey, parseQueueKey, pendingOf } from '../delivery/lane.ts'
import type { WebhookCommand } from '../webhook/webhook.decide.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import type { WebhookEvent, WebhookState } from '../webhook/webhook.ts'
import { agenda, type Entry, type Line } from './agenda.ts'
import type { MakeAttempt } from './attempts.ts'
import type { Room } from './room.ts'

export interface DispatcherOptions {
  delivery: Aggregate<DeliveryState, DeliveryCommand, DeliveryEvent>
  deliveries: Collection<DeliveryDocument>
  webhook: Aggregate<WebhookState, WebhookCommand, WebhookEvent>
  webhooks: Collection<WebhookDocument>
  makeAttempt: MakeAttempt
  room: Room
  /** How long after its beginning an attempt counts as lost, in milliseconds. */
  lostAfterMs: number
  /** How long finished deliveries are kept, in milliseconds. */
  retentionMs: number
  leases: Leases
  bus: Bus
  holder: string
  now(): Date
  /** Circumstances of a command of the service itself. */
  metadata(causationId?: string): CommandMetadata
  log: Log
}

export interface NewDelivery {
  id: string
  eventId: string
  eventType: string
  body: string
}

/** Decides when which attempt is made. */
export interface Dispatcher {
  /** Makes the delivery, unless it was made before; its first attempt begins at once when there is room. */
  deliver(
    webhook: WebhookDocument,
    delivery: NewDelivery,
    metadata: CommandMetadata,
  ): Promise<Executed<DeliveryState, DeliveryEvent>>
  /** A delivery has become due, by a person's command. */
  dueNow(state: DeliveryState): void
  /** A webhook may be called again, or elsewhere. */
  webhookChanged(id: string): void
  /** Cancels what a deleted webhook has pending. */
  abandon(webhook: string): Promise<void>
  start(): void
  /** Begins no attempt any more and waits for those under way. */
  stop(): Promise<void>
}

/** How often the store is looked through for what nobody told this process of. */
const SURVEY_MS = 5_000
const EXPIRY_MS = 60_000
/** Deliveries read of a lane at a time. */
const LOOK = 250
/** After a failure of our own, and before believing that a delivery which could not be claimed can. */
const HOLD_MS = 1_000
const LONGEST_TIMER_MS = 3_600_000
const HINT_DUE = 'notifier.due'
const HINT_WEBHOOK = 'notifier.webhook-changed'

/**
 * Every attempt is claimed by an append before it is sent, so any replica may make any attempt and none is made
 * twice. A new delivery is sent by the process that made it. Everything that waits is left to one of them, which
 * holds the lease of the scheduler: it keeps an agenda of what is due, hears from the others what they leave behind,
 * and surveys the store for what it did not hear of.
 */
export function dispatcher(options: DispatcherOptions): Dispatcher {
  const { delivery, deliveries, webhook, webhooks, makeAttempt, room, bus, now, metadata, log } = options
  const plan = agenda()
  /** Deliveries that this process is busy with: not to be taken from the store's answers again. */
  const busy = new Set<string>()
  const underWay = new Set<Promise<void>>()
  let running = false
  let scheduling = false
  let pumping = false
  let timer: NodeJS.Timeout | undefined
  let scheduler: Worker | undefined
  const unlisten: (() => void)[] = []

  const at = () => now().toISOString()
  const later = (ms: number) => new Date(now().getTime() + ms).toISOString()
  const claimFor = ({ url }: WebhookDocument) => ({ url, lostAfterMs: options.lostAfterMs })

  /** Leaves a pending delivery to the scheduler. */
  const leave = (state: Pending) => noteEntry({ id: state.id, lane: laneOf(state), dueAt: dueAt(state) })

  const noteEntry = (entry: Entry) => {
    if (scheduling) {
      plan.note(entry)
      wake()
    } else hint(HINT_DUE, entry as unknown as Json)
  }

  /** Tells the scheduler, wherever it is. When this gets lost, the survey finds out. */
  const hint = (subject: string, data: Json) => {
    bus.broadcast(subject, data).catch(error => log.warn({ err: error }, 'a hint could not be given'))
  }

  const keepTrack = (work: Promise<void>) => {
    const tracked = work
      .catch(error => log.error({ err: error }, 'an attempt could not be made'))
      .finally(() => underWay.delete(tracked))
    underWay.add(tracked)
  }

  /** Makes an attempt that was claimed; the place in the room is taken until its outcome is recorded. */
  const carryOut = async (target: WebhookDocument, claimed: Pending, giveBack: () => void) => {
    busy.add(claimed.id)
    try {
      const state = await makeAttempt(target, claimed)
      if (isPending(state) && 'dueAt' in state.next) leave(state)
    } finally {
      busy.delete(claimed.id)
      giveBack()
      wake()
    }
  }

  const deliver: Dispatcher['deliver'] = async (target, { id, eventId, eventType, body }, commanded) => {
    const lane: Lane = { webhook: target.id, kind: eventType === 'TEST' ? 'test' : 'first' }
    const giveBack = running ? room.take(lane) : undefined
    try {
      const executed = await delivery.execute(id, {
        type: 'CreateDelivery',
        metadata: commanded,
        id,
        webhook: target.id,
        url: target.url,
        eventId,
        eventType,
        body,
        claim: giveBack && claimFor(target),
      })
      const { state, events } = executed
      if (giveBack && events.length > 0 && isPending(state)) keepTrack(carryOut(target, state, giveBack))
      else {
        giveBack?.()
        if (events.length > 0 && isPending(state)) leave(state)
      }
      return executed
    } catch (error) {
      giveBack?.()
      throw error
    }
  }

  /** Claims and makes the attempt that is due. */
  const attempt = async (line: Line, entry: Entry, giveBack: () => void) => {
    const { id, lane } = entry
    const hold = () => plan.note({ ...entry, dueAt: later(HOLD_MS) })
    try {
      const target = await webhooks.get(lane.webhook)
      if (!target || !mayCall(target.doc, lane)) {
        busy.delete(id)
        // What is pending waits; it is looked for again when the webhook changes.
        if (target) plan.close(line)
        else if (!(await withoutWebhook(lane.webhook))) hold()
        return
      }
      const { state, events } = await delivery.execute(id, {
        type: 'StartAttempt',
        metadata: metadata(),
        claim: claimFor(target.doc),
      })
      if (events.length > 0 && isPending(state)) return await carryOut(target.doc, state, giveBack)
      // Another was faster, or the store's answer was old: it is not believed about this one for a while.
      setTimeout(() => busy.delete(id), HOLD_MS).unref()
    } catch (error) {
      busy.delete(id)
      hold()
      throw error
    } finally {
      giveBack()
      wake()
    }
  }

  const mayCall = ({ active }: WebhookDocument, { kind }: Lane) => active || kind === 'test'

  /**
   * The read models have no such webhook: when it is deleted, which only the log knows, what it has pending is
   * cancelled.
   * @returns whether it is deleted
   */
  const withoutWebhook = async (id: string): Promise<boolean> => {
    const { state } = await webhook.load(id)
    if (state.status !== 'Deleted') return false
    await abandon(id)
    return true
  }

  const abandon: Dispatcher['abandon'] = async id => {
    for (;;) {
      const pending = await deliveries.list({ where: { queue: pendingOf(id) }, limit: LOOK })
      const executed = await Promise.all(
        pending.map(({ doc }) => delivery.execute(doc.id, { type: 'AbandonDelivery', metadata: metadata() })),
      )
      if (!executed.some(({ events }) => events.length > 0)) return
    }
  }

  const wake = () => {
    if (!scheduling || pumping) return
    pumping = true
    setImmediate(() => {
      pumping = false
      if (scheduling) pump()
    })
  }

  /** Begins what is due and has room, a delivery of each lane in turn. */
  const pump = () => {
    const time = at()
    let lines = plan.due(time)
    while (lines.length > 0) lines = lines.filter(line => beginNext(line, time))
    clearTimeout(timer)
    const next = plan.next(time)
    if (next === undefined) return
    timer = setTimeout(wake, Math.min(Date.parse(next) - now().getTime() + 1, LONGEST_TIMER_MS))
  }

  /** @returns whether the line may have more to begin now */
  const beginNext = (line: Line, time: string): boolean => {
    const first = line.known[0]
    if (!first || first.dueAt > time) {
      if (line.knownUntil <= time && !line.looking) keepTrack(look(line))
      return false
    }
    if (busy.has(first.id)) return plan.take(line, time) !== undefined
    const giveBack = room.take(line.lane)
    if (!giveBack) return false
    plan.take(line, time)
    busy.add(first.id)
    keepTrack(attempt(line, first, giveBack))
    return true
  }

  /** Asks the store what comes next in the lane. */
  const look = async (line: Line) => {
    line.looking = true
    const from = `${laneKey(line.lane)}/`
    try {
      const found = await deliveries.list({
        where: { queue: { gte: from, lt: laneEnd(line.lane) } },
        sort: [{ field: 'queue', direction: 'asc' }],
        limit: LOOK,
      })
      const entries = found.map(({ doc }) => ({
        id: doc.id,
        lane: line.lane,
        dueAt: parseQueueKey(doc.queue ?? '').dueAt,
      }))
      const idle = entries.filter(({ id }) => !busy.has(id))
      const last = found.length < LOOK ? undefined : entries.at(-1)?.dueAt
      plan.learn(line, idle, last !== undefined && idle.length === 0 ? later(HOLD_MS) : last)
    } catch (error) {
      line.looking = false
      line.knownUntil = later(HOLD_MS)
      throw error
    } finally {
      wake()
    }
  }

  /**
   * Looks at the first of each lane that has something pending: a query for each lane, however long it is. Finishes
   * what the deletion of a webhook left undone.
   */
  const survey = async (signal: AbortSignal) => {
    let after = ''
    while (!signal.aborted) {
      const [first] = await deliveries.list({
        where: { queue: { gt: after } },
        sort: [{ field: 'queue', direction: 'asc' }],
        limit: 1,
      })
      if (!first?.doc.queue) break
      const { lane, dueAt: due } = parseQueueKey(first.doc.queue)
      const target = await webhooks.get(lane.webhook)
      if (!target) await withoutWebhook(lane.webhook)
      else if (mayCall(target.doc, lane)) plan.found(lane, due)
      after = laneEnd(lane)
    }
    plan.surveyed()
    wake()
  }

  /** Removes records that are older than is to be kept; the log still has what they were made from. */
  const expire = async (signal: AbortSignal) => {
    const before = later(-options.retentionMs)
    while (!signal.aborted) {
      const old = await deliveries.list({ where: { finishedAt: { lt: before } }, limit: LOOK })
      await Promise.all(old.map(({ doc, revision }) => deliveries.remove(doc.id, revision)))
      if (old.length < LOOK) return
    }
  }

  const schedule = async (signal: AbortSignal) => {
    scheduling = true
    let expiredAt = Number.NEGATIVE_INFINITY
    try {
      while (!signal.aborted) {
        const startedAt = performance.now()
        await survey(signal)
        if (startedAt - expiredAt > EXPIRY_MS) {
          expiredAt = startedAt
          await expire(signal)
        }
        // Where a survey takes long, it is made less often.
        const ms = Math.max(SURVEY_MS, 20 * (performance.now() - startedAt))
        await pause(ms, undefined, { signal }).catch(() => {})
      }
    } finally {
      scheduling = false
      clearTimeout(timer)
      plan.clear()
    }
  }

  const reopen = (id: string) => {
    if (!scheduling) return
    plan.reopen({ webhook: id, kind: 'first' })
    plan.reopen({ webhook: id, kind: 'retry' })
    wake()
  }

  return {
    deliver,
    dueNow(state) {
      if (isPending(state) && 'dueAt' in state.next) leave(state)
    },
    webhookChanged(id) {
      if (scheduling) reopen(id)
      else hint(HINT_WEBHOOK, { id })
    },
    abandon,
    start() {
      running = true
      unlisten.push(
        bus.listen(HINT_DUE, entry => {
          if (scheduling) noteEntry(entry as unknown as Entry)
        }),
        bus.listen(HINT_WEBHOOK, hinted => reopen((hinted as { id: string }).id)),
      )
      const lease = { leases: options.leases, name: 'notifier.scheduler', holder: options.holder }
      scheduler = supervise('notifier.scheduler', log, signal =>
        underLease({ ...lease, signal }, (_, held) => schedule(held)),
      )
    },
    async stop() {
      running = false
      for (const stop of unlisten.splice(0)) stop()
      await scheduler?.stop()
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
