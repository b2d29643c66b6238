import { setTimeout as pause } from 'node:timers/promises'
import { type Log, supervise, underLease, type Worker } from '@gantry/event-sourcing'
import type { Bus, Json } from '@gantry/messaging'
import type { Collection, Leases } from '@gantry/read-models'
import type { DeliveryDocument } from '../delivery/delivery.projection.ts'
import { type Lane, laneEnd, laneKey, parseQueueKey } from '../delivery/lane.ts'
import { dueIndex, type Entry, type LaneIndex } from './due-index.ts'

/** The result of taking up a due delivery. */
export type TakenUp =
  | 'begun'
  /** The webhook is inactive or deleted; `reopen` is called when it becomes active. */
  | 'waiting'
  /** The webhook is not known yet, or the attempt failed to start: tried again after a pause. */
  | 'unclear'

export interface SchedulerOptions {
  deliveries: Collection<DeliveryDocument>
  /** Claims and makes the attempt of a due delivery. @returns undefined when no concurrency slot is granted */
  takeUp(entry: Entry): Promise<TakenUp> | undefined
  /** Time until circuit breaker and rate limit admit the next attempt of a lane, in milliseconds. */
  heldForMs(lane: Lane): number
  /** Whether this process is working on a delivery, so that its document in the store may be outdated. */
  isBusy(id: string): boolean
  /** Called when this process or another one changed a webhook. */
  changed(webhook: string): void
  /** Whether attempts may be made in a lane that has pending deliveries in the store. */
  isOpen(lane: Lane): Promise<boolean>
  /** Starts blocked deliveries of an ordered webhook whose predecessor has finished. */
  callForgotten(webhook: string, signal: AbortSignal): Promise<void>
  /** Runs periodically in the process that schedules, concurrently with scheduling. */
  housekeeping(signal: AbortSignal): Promise<void>
  leases: Leases
  bus: Bus
  holder: string
  now(): Date
  log: Log
}

/**
 * Starts due attempts, in one process at a time, by lease. It indexes pending deliveries by due time, receives hints from
 * the other processes, and surveys the store for deliveries whose hint was lost. A process that schedules after it lost
 * the lease is harmless: every attempt is claimed by an append, so no attempt is made twice.
 */
export interface Scheduler extends Worker {
  /** Hands a delivery over to the process that schedules. */
  leave(entry: Entry): void
  /** Looks for due deliveries of a webhook, e.g. because it is active again. */
  reopen(webhook: string): void
  /** Looks for due deliveries, e.g. because a concurrency slot was released. */
  wake(): void
  start(): void
}

/** Interval of the surveys of the store. */
const SURVEY_MS = 5_000
const HOUSEKEEPING_MS = 60_000
/** Page size of queries for the deliveries of a lane. */
const LOOK = 250
/** Pause after a failure of the service itself. */
const HOLD_MS = 1_000
const LONGEST_TIMER_MS = 3_600_000
const HINT_DUE = 'notifier.due'
const HINT_WEBHOOK = 'notifier.webhook-changed'

export function scheduler(options: SchedulerOptions): Scheduler {
  const { deliveries, takeUp, heldForMs, isBusy, isOpen, bus, now, log } = options
  const plan = dueIndex()
  const looks = new Set<Promise<void>>()
  let scheduling = false
  let woken = false
  let timer: NodeJS.Timeout | undefined
  let worker: Worker | undefined
  const unlisten: (() => void)[] = []

  const later = (ms: number) => new Date(now().getTime() + ms).toISOString()

  /** Sends a hint to the process that schedules. The next survey makes up for a lost hint. */
  const hint = (subject: string, data: Json) => {
    bus.broadcast(subject, data).catch(error => log.warn({ err: error }, 'cannot send a scheduling hint'))
  }

  const note = (entry: Entry) => {
    if (!scheduling) return
    plan.add(entry)
    wake()
  }

  const open = (webhook: string) => {
    options.changed(webhook)
    if (!scheduling) return
    for (const kind of ['first', 'retry', 'manual'] as const) plan.reopen({ webhook, kind })
    wake()
  }

  const wake = () => {
    if (!scheduling || woken) return
    woken = true
    setImmediate(() => {
      woken = false
      if (scheduling) begin()
    })
  }

  /** Starts due attempts while there are slots, round robin over the lanes. */
  const begin = () => {
    const time = now().toISOString()
    let wait = LONGEST_TIMER_MS
    let lines = plan.due(time).filter(({ lane }) => {
      const ms = heldForMs(lane)
      if (ms > 0) wait = Math.min(wait, ms)
      return ms <= 0
    })
    while (lines.length > 0) lines = lines.filter(line => beginNext(line, time))
    clearTimeout(timer)
    const next = plan.next(time)
    if (next !== undefined) wait = Math.min(wait, Date.parse(next) - now().getTime())
    timer = setTimeout(wake, Math.max(wait, 1))
  }

  /** @returns whether the lane may have another attempt to start now */
  const beginNext = (line: LaneIndex, time: string): boolean => {
    const first = line.entries[0]
    if (!first || first.dueAt > time) {
      if (line.completeUntil <= time && !line.querying) look(line)
      return false
    }
    if (!isBusy(first.id)) {
      const taken = takeUp(first)
      if (!taken) return false
      settle(line, first, taken)
    }
    plan.take(line, time)
    return true
  }

  const settle = async (line: LaneIndex, entry: Entry, taken: Promise<TakenUp>) => {
    const outcome = await taken.catch((error): TakenUp => {
      log.error({ delivery: entry.id, err: error }, 'cannot make an attempt')
      return 'unclear'
    })
    if (outcome === 'waiting') plan.close(line)
    if (outcome === 'unclear') note({ ...entry, dueAt: later(HOLD_MS) })
    wake()
  }

  /** Queries the store for the next deliveries of the lane. */
  const look = (line: LaneIndex) => {
    line.querying = true
    const looking = learn(line)
      .catch(error => {
        log.error({ err: error }, 'cannot read due deliveries')
        line.querying = false
        line.completeUntil = later(HOLD_MS)
      })
      .finally(() => {
        looks.delete(looking)
        wake()
      })
    looks.add(looking)
  }

  const learn = async (line: LaneIndex) => {
    const found = await deliveries.list({
      where: { queue: { gte: `${laneKey(line.lane)}/`, lt: laneEnd(line.lane) } },
      sort: [{ field: 'queue', direction: 'asc' }],
      limit: LOOK,
    })
    const entries = found.map(({ doc }): Entry => {
      const { lane, dueAt } = parseQueueKey(doc.queue ?? '')
      return { id: doc.id, lane, dueAt }
    })
    const idle = entries.filter(({ id }) => !isBusy(id))
    const last = found.length < LOOK ? undefined : entries.at(-1)?.dueAt
    plan.merge(line, idle, last !== undefined && idle.length === 0 ? later(HOLD_MS) : last)
  }

  /** Reads the first pending delivery of each lane: one query for each lane, independent of its length. */
  const survey = async (signal: AbortSignal) => {
    let after = ''
    while (!signal.aborted) {
      const [first] = await deliveries.list({
        where: { queue: { gt: after } },
        sort: [{ field: 'queue', direction: 'asc' }],
        limit: 1,
      })
      if (!first?.doc.queue) break
      const { lane, dueAt } = parseQueueKey(first.doc.queue)
      if (lane.kind === 'turn') await options.callForgotten(lane.webhook, signal)
      else if (await isOpen(lane)) plan.addFirst(lane, dueAt)
      after = laneEnd(lane)
    }
    plan.surveyed()
    wake()
  }

  const schedule = async (signal: AbortSignal) => {
    scheduling = true
    let keptAt = Number.NEGATIVE_INFINITY
    let keeping: Promise<void> | undefined
    try {
      while (!signal.aborted) {
        const startedAt = performance.now()
        await survey(signal)
        if (!keeping && startedAt - keptAt > HOUSEKEEPING_MS) {
          keptAt = startedAt
          keeping = options
            .housekeeping(signal)
            .catch(error => log.error({ err: error }, 'cannot remove expired deliveries'))
            .finally(() => {
              keeping = undefined
            })
        }
        // Surveys take at most about a twentieth of the time.
        const ms = Math.max(SURVEY_MS, 20 * (performance.now() - startedAt))
        await pause(ms, undefined, { signal }).catch(() => {})
      }
    } finally {
      scheduling = false
      clearTimeout(timer)
      plan.clear()
      await keeping
    }
  }

  return {
    leave(entry) {
      if (scheduling) note(entry)
      else hint(HINT_DUE, entry as unknown as Json)
    },
    reopen(webhook) {
      open(webhook)
      if (!scheduling) hint(HINT_WEBHOOK, { id: webhook })
    },
    wake,
    start() {
      unlisten.push(
        bus.listen(HINT_DUE, entry => note(entry as unknown as Entry)),
        bus.listen(HINT_WEBHOOK, hinted => open((hinted as { id: string }).id)),
      )
      const lease = { leases: options.leases, name: 'notifier.scheduler', holder: options.holder }
      worker = supervise('notifier.scheduler', log, signal =>
        underLease({ ...lease, signal }, (_, held) => schedule(held)),
      )
    },
    async stop() {
      for (const stop of unlisten.splice(0)) stop()
      await worker?.stop()
      await Promise.all(looks)
    },
  }
}
