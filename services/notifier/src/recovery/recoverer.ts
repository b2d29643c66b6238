import type { PublicEvent } from '@gantry/contracts'
import {
  AppendTooLarge,
  type Log,
  pastQuarantine,
  superviseUnderLease,
  type Worker,
} from '@gantry/event-sourcing'
import type { Bus, MissedMessages } from '@gantry/messaging'
import { sleep } from '@gantry/pacing'
import { type Leases, pagesOf } from '@gantry/stores'
import { type Deliveries, type Dispatch, deliveryId } from '../delivery/deliveries.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import type { Webhooks } from '../webhook/webhooks.ts'
import { placeOf } from './bus-position.ts'
import { countEvents, eventsIn } from './recovery.events.ts'
import type { Recoveries } from './recovery.projection.ts'
import type { Running } from './recovery.ts'

export interface RecovererOptions {
  recoveries: Recoveries
  webhooks: Webhooks
  deliveries: Deliveries
  dispatcher: Dispatch
  bus: Bus
  leases: Leases
  holder: string
  log: Log
}

/** Number of events that are handled of each recovery before the next recovery follows. */
const BATCH = 25
/** Pause between batches. It limits the load of recoveries relative to new events. */
const PAUSE_MS = 250
const IDLE_MS = 500
/** Number of batches for the webhooks of one owner before those of other owners follow. */
const BATCHES_PER_OWNER = 8
/** A recovery pauses while its webhook has at least this many pending deliveries. */
const BACKLOG = 250
const PAGE = 100

/**
 * Runs recoveries, in one process at a time, by lease. After the death of a process a batch may be handled again. This is
 * idempotent: the id of a delivery is determined by event and webhook, and the delivery records which recovery created
 * it.
 */
export function startRecoverer(options: RecovererOptions): Worker {
  const { recoveries, leases, holder, log } = options
  const advance = advancing(options)

  /**
   * Advances the oldest running recovery of each webhook by one batch. Reads all pages, so that recoveries of inactive
   * webhooks do not block later ones.
   * @returns whether there are running recoveries
   */
  const advanceAll = async (signal: AbortSignal): Promise<boolean> => {
    let any = false
    const advanced = new Set<string>()
    const batches = new Map<string | null, number>()
    const mayAdvance = (owner: string | null) => {
      const count = (batches.get(owner) ?? 0) + 1
      batches.set(owner, count)
      return count <= BATCHES_PER_OWNER
    }
    for await (const running of pagesOf(recoveries.documents, { by: 'runningSince', size: PAGE })) {
      for (const doc of running) {
        if (signal.aborted) return false
        if (advanced.has(doc.webhook)) continue
        advanced.add(doc.webhook)
        // A failure of one recovery does not stop the others.
        await advance(doc.id, mayAdvance, signal).catch(error => {
          advanced.delete(doc.webhook)
          if (!signal.aborted)
            log.error({ recovery: doc.id, err: error }, 'cannot advance a recovery, tries again')
        })
      }
      any ||= running.length > 0
    }
    return any
  }

  return superviseUnderLease({ leases, name: 'notifier.recoveries', holder, log }, async (_, leaseSignal) => {
    while (!leaseSignal.aborted) {
      const any = await advanceAll(leaseSignal)
      await sleep(any ? PAUSE_MS : IDLE_MS, { signal: leaseSignal })
    }
  })
}

/**
 * @returns a function that handles the next batch of events of a recovery, unless its webhook is inactive or behind, or its
 *   owner may not advance
 */
function advancing(options: RecovererOptions) {
  const { recoveries, webhooks, deliveries, dispatcher, bus, log } = options
  /**
   * Creates or retries the delivery of an event.
   * @returns whether this recovery delivers the event, in this or an earlier run of the batch
   */
  const recover = async (target: WebhookDocument, event: PublicEvent, recovery: string): Promise<boolean> => {
    const metadata = deliveries.metadata(event.id)
    let executed = await dispatcher.deliver(target, event, { metadata, committedAt: event.time, recovery })
    if (executed.events.length === 0) {
      const id = deliveryId(event.id, target.id)
      executed = await deliveries.issue(id, { type: 'RecoverDelivery', recovery }, event.id)
      if (executed.events.length > 0) dispatcher.changed(executed.state)
    }
    return executed.state.status !== 'Absent' && executed.state.recovery === recovery
  }

  return async (
    id: string,
    mayAdvance: (owner: string | null) => boolean,
    signal: AbortSignal,
  ): Promise<void> => {
    const { state } = await recoveries.load(id)
    if (state.status !== 'RUNNING') return
    const target = (await webhooks.documents.get(state.webhook))?.doc
    if (!target) {
      if (await webhooks.isDeleted(state.webhook)) await recoveries.issue(id, { type: 'AbandonRecovery' })
      return
    }
    if (!target.active) return
    if ((await deliveries.countPendingOf(target.id)) >= BACKLOG) return
    if (!mayAdvance(target.owner)) return

    const place = await placeOf(bus, state)
    if (place === 'incomplete') return
    if (place !== 'same') {
      log.warn({ recovery: id }, 'the bus was lost: a recovery continues on the new one')
      const moved = { after: state.position, examined: 0, recovered: 0, ...place }
      return void (await recoveries.issue(id, { type: 'AdvanceRecovery', ...moved }))
    }

    if (state.total === null) {
      const total = await countEvents(state, target, { bus, signal })
      if (!signal.aborted) await recoveries.issue(id, { type: 'CountRecovery', total })
      return
    }

    const { found, position } = await nextBatch(state, target, { bus, log, signal })
    let recovered = 0
    for (const event of found) {
      if (signal.aborted) return
      if (await recover(target, event, id).catch(refusedForSize).catch(pastQuarantine(log))) recovered++
    }
    if (signal.aborted) return
    const progress = { after: state.position, position, examined: found.length, recovered }
    await recoveries.issue(id, { type: 'AdvanceRecovery', ...progress })
  }
}

const refusedForSize = (error: unknown): false => {
  if (!(error instanceof AppendTooLarge)) throw error
  return false
}

/** Reads the next batch of events of a recovery, and the position up to which they reach. */
async function nextBatch(
  state: Running,
  target: WebhookDocument,
  { bus, log, signal }: { bus: Bus; log: Log; signal: AbortSignal },
) {
  const found: PublicEvent[] = []
  const enough = new AbortController()
  const ending = AbortSignal.any([signal, enough.signal])
  const missed = (range: MissedMessages) =>
    log.warn(
      { recovery: state.id, ...range },
      'messages were removed because of their age: a recovery may miss events',
    )
  try {
    const unhandled = { ...state, after: state.position }
    for await (const { event, sequence } of eventsIn(unhandled, target, { bus, signal: ending, missed })) {
      found.push(event)
      if (found.length === BATCH) return { found, position: sequence }
    }
    return { found, position: state.through }
  } finally {
    enough.abort()
  }
}
