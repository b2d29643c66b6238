import { setTimeout as pause } from 'node:timers/promises'
import { type Log, supervise, underLease, type Worker } from '@gantry/event-sourcing'
import type { Bus, Json } from '@gantry/messaging'
import type { Collection, Leases } from '@gantry/read-models'
import type { DeliveryDocument } from '../delivery/delivery.projection.ts'
import { type Lane, laneEnd, laneKey, parseQueueKey } from '../delivery/lane.ts'
import { agenda, type Entry, type Line } from './agenda.ts'

/** What came of taking up what was due. */
export type TakenUp =
  | 'begun'
  /** Its webhook is not to be called; it will be said when that changes. */
  | 'waiting'
  /** It cannot be told yet. */
  | 'unclear'

export interface SchedulerOptions {
  deliveries: Collection<DeliveryDocument>
  /** Takes up a delivery that is due, when there is room. @returns undefined when there is none */
  takeUp(entry: Entry): Promise<TakenUp> | undefined
  /** For how many milliseconds nothing of a lane can be taken up, room or not. */
  heldForMs(lane: Lane): number
  /** Whether this process is at a delivery, so that what the store says of it is out of date. */
  isBusy(id: string): boolean
  /** A webhook changed, here or elsewhere. */
  changed(webhook: string): void
  /** Whether anything is to be begun in a lane that the store has something in. */
  isOpen(lane: Lane): Promise<boolean>
  /** Begins what waits for its turn at a webhook though that has come. */
  callForgotten(webhook: string, signal: AbortSignal): Promise<void>
  /** Done from time to time by whoever schedules, beside that. */
  housekeeping(signal: AbortSignal): Promise<void>
  leases: Leases
  bus: Bus
  holder: string
  now(): Date
  log: Log
}

/**
 * Takes up what is due, in one process at a time, by lease. It keeps an agenda of what is due, hears from the others
 * what they leave behind, and surveys the store for what it did not hear of. A scheduler that does not know that it
 * lost its lease does no harm: it begins nothing that another has begun.
 */
export interface Scheduler extends Worker {
  /** Leaves a delivery to the scheduler, wherever that is. */
  leave(entry: Entry): void
  /** There may be something to begin for a webhook, e.g. since it is active again. */
  reopen(webhook: string): void
  /** There may be room again. */
  wake(): void
  start(): void
}

/** How often the store is looked through for what nobody told of. */
const SURVEY_MS = 5_000
const HOUSEKEEPING_MS = 60_000
/** Deliveries read of a lane at a time. */
const LOOK = 250
/** After a failure of our own. */
const HOLD_MS = 1_000
const LONGEST_TIMER_MS = 3_600_000
const HINT_DUE = 'notifier.due'
const HINT_WEBHOOK = 'notifier.webhook-changed'

export function scheduler(options: SchedulerOptions): Scheduler {
  const { deliveries, takeUp, heldForMs, isBusy, isOpen, bus, now, log } = options
  const plan = agenda()
  const looks = new Set<Promise<void>>()
  let scheduling = false
  let woken = false
  let timer: NodeJS.Timeout | undefined
  let worker: Worker | undefined
  const unlisten: (() => void)[] = []

  const later = (ms: number) => new Date(now().getTime() + ms).toISOString()

  /** Tells the scheduler where it is. When this gets lost, the survey finds out. */
  const hint = (subject: string, data: Json) => {
    bus.broadcast(subject, data).catch(error => log.warn({ err: error }, 'a hint could not be given'))
  }

  const note = (entry: Entry) => {
    if (!scheduling) return
    plan.note(entry)
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

  /** Begins what is due and has room, a delivery of each lane in turn. */
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

  /** @returns whether the line may have more to begin now */
  const beginNext = (line: Line, time: string): boolean => {
    const first = line.known[0]
    if (!first || first.dueAt > time) {
      if (line.knownUntil <= time && !line.looking) look(line)
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

  const settle = async (line: Line, entry: Entry, taken: Promise<TakenUp>) => {
    const outcome = await taken.catch((error): TakenUp => {
      log.error({ delivery: entry.id, err: error }, 'an attempt could not be made')
      return 'unclear'
    })
    if (outcome === 'waiting') plan.close(line)
    if (outcome === 'unclear') note({ ...entry, dueAt: later(HOLD_MS) })
    wake()
  }

  /** Asks the store what comes next in the lane. */
  const look = (line: Line) => {
    line.looking = true
    const looking = learn(line)
      .catch(error => {
        log.error({ err: error }, 'what is due could not be read')
        line.looking = false
        line.knownUntil = later(HOLD_MS)
      })
      .finally(() => {
        looks.delete(looking)
        wake()
      })
    looks.add(looking)
  }

  const learn = async (line: Line) => {
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
    plan.learn(line, idle, last !== undefined && idle.length === 0 ? later(HOLD_MS) : last)
  }

  /** Looks at the first of each lane that has something pending: a query for each lane, however long it is. */
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
      else if (await isOpen(lane)) plan.found(lane, dueAt)
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
            .catch(error => log.error({ err: error }, 'what has expired could not be removed'))
            .finally(() => {
              keeping = undefined
            })
        }
        // Where a survey takes long, it is made less often.
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
