import { Refusal } from '@gantry/contracts'
import { type CommandMetadata, type Log, superviseUnderLease, type Worker } from '@gantry/event-sourcing'
import { Backoff, sleep } from '@gantry/pacing'
import type { Leases } from '@gantry/stores'
import type { AuditPushes, PushedRange } from './auditpush.ts'
import type { Destination } from './destination.ts'
import type { PushMetrics } from './metrics.ts'

/** The audit log in parts that can be pushed. */
export interface PushSource {
  /** Waits for a limited time until the audit log has all changes. @throws Error or Refusal when it takes longer */
  upToDate(): Promise<void>
  /** The range after a record that fits into one object; undefined when there is no later record. */
  next(after: number): Promise<PushedRange | undefined>
  /** An export of the range with its trailer. Hashes are those of every other export; users have pseudonyms. */
  export(range: PushedRange, at: Date): Promise<Buffer>
}

export interface AuditPushOptions {
  /** Stream of the destination. */
  id: string
  everyMs: number
  pushes: AuditPushes
  source: PushSource
  destination: Destination
  metrics: PushMetrics
  process: { leases: Leases; holder: string; log: Log; now(): Date; metadata(actor: string): CommandMetadata }
}

const NAME = 'identity.audit-push'
const RETRY = { firstMs: 1_000, longestMs: 300_000, jitter: 0.5 }
/** The longest delay of a timer (setTimeout). */
const LONGEST_PAUSE_MS = 2 ** 31 - 1

/**
 * Pushes the audit log in consecutive parts, one replica at a time. Each range is recorded in the log before it is sent, and
 * its end after the destination has accepted it. A process that dies between the two leaves a range that the next one sends
 * again under the same name, so that the objects together have every record once. A process that takes over pushes at once,
 * because only the process before it knew whether records were left; without records nothing is sent.
 */
export function startAuditPush(options: AuditPushOptions): Worker {
  const { id, everyMs, pushes, destination, metrics } = options
  const { leases, holder, log, now } = options.process
  const worker = superviseUnderLease({ leases, name: NAME, holder, log }, async (_, held, confirm) => {
    const pauses = new Backoff(RETRY)
    const { acceptedPushBegunAt } = (await pushes.load(id)).state
    if (acceptedPushBegunAt !== null) metrics.succeeded(new Date(acceptedPushBegunAt))
    let dueAt = 0
    while (!held.aborted) {
      await sleep(Math.min(Math.max(0, dueAt - now().getTime()), LONGEST_PAUSE_MS), { signal: held })
      if (held.aborted) return
      const startedAt = now()
      try {
        await pushRest(options, held, confirm)
        metrics.succeeded(startedAt)
        pauses.reset()
        dueAt = startedAt.getTime() + everyMs
      } catch (error) {
        if (held.aborted) return
        metrics.failed()
        const pauseMs = pauses.next()
        const reason = error instanceof Refusal ? error.details.detail : (error as Error).message
        log.warn(
          { worker: NAME, destination: destination.shown, reason, pauseMs: Math.round(pauseMs) },
          'the audit log could not be pushed, tries again',
        )
        dueAt = now().getTime() + pauseMs
      }
    }
  })
  return {
    name: NAME,
    async stop() {
      await worker.stop()
      destination.close()
    },
  }
}

/** Pushes all records that are in the audit log, in as many objects as needed. */
async function pushRest(
  { id, pushes, source, destination, metrics, process }: AuditPushOptions,
  signal: AbortSignal,
  confirm: () => void,
): Promise<void> {
  const { log, metadata } = process
  await source.upToDate()
  while (!signal.aborted) {
    const { pushed, running } = (await pushes.load(id)).state
    if (!running) {
      const range = await source.next(pushed)
      if (!range) return
      await pushes.execute(id, { type: 'BeginAuditPush', metadata: metadata('audit push'), range })
      continue
    }
    const body = await source.export(running, new Date(running.begunAt))
    // A restored log has other records at the same positions, which must not be taken for those that were sent.
    const begunAt = running.begunAt.replace(/[-:.]/g, '')
    const name = `${running.first.position}-${running.last.position}-${begunAt}`
    confirm()
    await destination.put({ name, body }, signal)
    const { number } = running.last
    await pushes.execute(id, { type: 'EndAuditPush', metadata: metadata('audit push'), number })
    metrics.succeeded(new Date(running.begunAt))
    const records = number - running.first.number + 1
    log.info(
      { worker: NAME, destination: destination.shown, name, records, bytes: body.length },
      'pushed a part of the audit log',
    )
  }
}
