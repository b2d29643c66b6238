import { PublicEvent, subjects } from '@gantry/contracts'
import {
  type Aggregate,
  AppendTooLarge,
  type CommandMetadata,
  type Log,
  pastQuarantine,
  supervise,
  underLease,
  type Worker,
} from '@gantry/event-sourcing'
import { type Bus, type MissedMessages, sleep } from '@gantry/messaging'
import type { Collection, Leases } from '@gantry/read-models'
import type { DeliveryCommand } from '../delivery/delivery.decide.ts'
import type { DeliveryDocument } from '../delivery/delivery.projection.ts'
import type { DeliveryEvent, DeliveryState } from '../delivery/delivery.ts'
import { pendingOf } from '../delivery/lane.ts'
import { bodyOf, deliveryId } from '../delivery/payload.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import type { WebhookCommand } from '../webhook/webhook.decide.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import type { WebhookEvent, WebhookState } from '../webhook/webhook.ts'
import type { RecoveryCommand } from './recovery.decide.ts'
import type { RecoveryDocument } from './recovery.projection.ts'
import type { RecoveryEvent, RecoveryState, Running } from './recovery.ts'

export interface RecovererOptions {
  recovery: Aggregate<RecoveryState, RecoveryCommand, RecoveryEvent>
  recoveries: Collection<RecoveryDocument>
  webhook: Aggregate<WebhookState, WebhookCommand, WebhookEvent>
  webhooks: Collection<WebhookDocument>
  delivery: Aggregate<DeliveryState, DeliveryCommand, DeliveryEvent>
  deliveries: Collection<DeliveryDocument>
  dispatcher: Dispatcher
  bus: Bus
  leases: Leases
  holder: string
  /** Metadata of a command that the service issues by itself. */
  metadata(causationId?: string): CommandMetadata
  log: Log
}

/** Number of events that are handled of each recovery before the next recovery follows. */
const BATCH = 25
/** Pause between batches. It limits the load of recoveries relative to new events. */
const PAUSE_MS = 250
const IDLE_MS = 500
/** A recovery pauses while its webhook has at least this many pending deliveries. */
const BACKLOG = 250
const MANY = 100

/**
 * Runs recoveries, in one process at a time, by lease. After the death of a process a batch may be handled again. This is
 * idempotent: the id of a delivery is determined by event and webhook, and the delivery records which recovery created
 * it.
 */
export function startRecoverer(options: RecovererOptions): Worker {
  const { recovery, recoveries, webhook, webhooks, delivery, deliveries, dispatcher, bus, metadata, log } =
    options

  /**
   * Creates or retries the delivery of an event.
   * @returns whether this recovery delivers the event, in this or an earlier run of the batch
   */
  const recover = async (target: WebhookDocument, event: PublicEvent, by: string): Promise<boolean> => {
    const { id, type, time, data, subject } = event
    const made = {
      id: deliveryId(id, target.id),
      eventId: id,
      eventType: type,
      body: bodyOf({ id, type, timestamp: time, data }),
      committedAt: time,
      resource: subject,
      recovery: by,
    }
    let executed = await dispatcher.deliver(target, made, metadata(id))
    if (executed.events.length === 0) {
      const again: DeliveryCommand = { type: 'RecoverDelivery', metadata: metadata(id), recovery: by }
      executed = await delivery.execute(made.id, again)
      if (executed.events.length > 0) dispatcher.changed(executed.state)
    }
    return executed.state.status !== 'Absent' && executed.state.recovery === by
  }

  /** Reads the next batch of events, and the position up to which they reach. */
  const nextOf = async (
    { id, position, through, from, to }: Running,
    target: WebhookDocument,
    signal: AbortSignal,
  ) => {
    const found: PublicEvent[] = []
    const enough = new AbortController()
    const wanted = target.eventTypes.map(type => subjects.events('*', type))
    const ending = AbortSignal.any([signal, enough.signal])
    const missed = (range: MissedMessages) =>
      log.warn(
        { recovery: id, ...range },
        'messages were removed because of their age: a recovery may miss events',
      )
    try {
      for await (const message of bus.read({
        subjects: wanted,
        after: position,
        live: false,
        signal: ending,
        missed,
      })) {
        if (message.sequence > through) break
        const event = PublicEvent.safeParse(message.data)
        // A webhook does not receive events about itself.
        if (!event.success || event.data.subject === target.id) continue
        if (event.data.time < from || event.data.time > to) continue
        found.push(event.data)
        if (found.length === BATCH) return { found, position: message.sequence }
      }
      return { found, position: through }
    } finally {
      enough.abort()
    }
  }

  const advance = async (id: string, signal: AbortSignal): Promise<void> => {
    const { state } = await recovery.load(id)
    if (state.status !== 'RUNNING') return
    const target = (await webhooks.get(state.webhook))?.doc
    if (!target) {
      const owner = await webhook.load(state.webhook)
      if (owner.state.status !== 'Deleted') return
      await recovery.execute(id, { type: 'AbandonRecovery', metadata: metadata() })
      return
    }
    if (!target.active) return
    if ((await deliveries.count({ where: { queue: pendingOf(target.id) } })) >= BACKLOG) return

    const { found, position } = await nextOf(state, target, signal)
    let recovered = 0
    for (const event of found) {
      if (signal.aborted) return
      if (await recover(target, event, id).catch(refusedForSize).catch(pastQuarantine(log))) recovered++
    }
    if (signal.aborted) return
    const command = { after: state.position, position, examined: found.length, recovered }
    await recovery.execute(id, { type: 'AdvanceRecovery', metadata: metadata(), ...command })
  }

  const refusedForSize = (error: unknown): false => {
    if (!(error instanceof AppendTooLarge)) throw error
    return false
  }

  /**
   * Advances all running recoveries by one batch. Reads all pages, so that recoveries of inactive webhooks do not block
   * later ones.
   * @returns whether there are running recoveries
   */
  const round = async (signal: AbortSignal): Promise<boolean> => {
    for (let after = ''; ; ) {
      const running = await recoveries.list({
        where: { runningSince: { gt: after } },
        sort: [{ field: 'runningSince', direction: 'asc' }],
        limit: MANY,
      })
      for (const { doc } of running) {
        if (signal.aborted) return false
        // A failure of one recovery does not stop the others.
        await advance(doc.id, signal).catch(error => {
          if (!signal.aborted)
            log.error({ recovery: doc.id, err: error }, 'cannot advance a recovery, tries again')
        })
      }
      if (running.length < MANY) return running.length > 0 || after !== ''
      after = running.at(-1)?.doc.runningSince ?? after
    }
  }

  const { leases, holder } = options
  return supervise('notifier.recoveries', log, signal =>
    underLease({ leases, name: 'notifier.recoveries', holder, signal }, async (_, held) => {
      while (!held.aborted) {
        const any = await round(held)
        await sleep(any ? PAUSE_MS : IDLE_MS, { signal: held })
      }
    }),
  )
}
