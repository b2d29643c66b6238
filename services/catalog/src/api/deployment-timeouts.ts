import { type Log, superviseUnderLease, type Worker } from '@gantry/event-sourcing'
import { sleep } from '@gantry/pacing'
import { ownMetadata, writtenDuration } from '@gantry/service-runtime'
import { pagesOf, type ReadModels } from '@gantry/stores'
import type { ApiAggregate } from './api.decide.ts'
import { type ApiDocument, apis } from './api.projection.ts'

export interface DeploymentTimeoutsOptions {
  api: ApiAggregate
  readModels: ReadModels
  /** Time after which a job without a report fails, in milliseconds. */
  timeoutMs: number
  holder: string
  now(): Date
  newId(): string
  log: Log
}

/** Pause between searches for overdue jobs, in milliseconds. */
const POLL_MS = 1_000
/** Number of APIs per query. */
const PAGE = 100
const NAME = 'catalog.deployment-timeouts'

/**
 * Fails deployment jobs that have no report after the timeout. A lease makes sure that one process at a time does. The
 * running jobs and their start times come from the read model, so a restart loses no timeout. The decider checks the job
 * and its start time again, so a process that has lost its lease or reads an old document ends no other job.
 */
export function startDeploymentTimeouts(options: DeploymentTimeoutsOptions): Worker {
  const { api, readModels, timeoutMs, holder, now, newId, log } = options
  const { leases } = readModels
  const listed = readModels.collection(apis)
  const message = `no report within ${writtenDuration(timeoutMs)}`

  const metadata = () => ownMetadata({ now, newId }, 'deployment timeout')

  const endOverdue = async ({ id, runningJobs }: ApiDocument, startedBefore: string) => {
    for (const { id: job, environment, startedAt } of runningJobs) {
      if (startedAt >= startedBefore) continue
      const command = { type: 'TimeOutDeployment', job, startedBefore, message } as const
      const { events } = await api.execute(id, { ...command, metadata: metadata() })
      if (events.length === 0) continue
      log.warn(
        { api: id, job, environment, startedAt },
        'a deployment job failed: no report came within the timeout',
      )
    }
  }

  /** Ends all overdue jobs. A job that cannot be ended is logged and does not hold up the others. */
  const endAllOverdue = async (signal: AbortSignal) => {
    const startedBefore = new Date(now().getTime() - timeoutMs).toISOString()
    const where = { jobsSince: { lt: startedBefore } }
    for await (const page of pagesOf(listed, { where, by: 'jobsSince', size: PAGE })) {
      for (const doc of page) {
        if (signal.aborted) return
        await endOverdue(doc, startedBefore).catch(error =>
          log.error({ api: doc.id, err: error }, 'a deployment job could not be ended and is tried again'),
        )
      }
    }
  }

  return superviseUnderLease({ leases, name: NAME, holder, log }, async (_, leaseSignal) => {
    while (!leaseSignal.aborted) {
      await endAllOverdue(leaseSignal)
      await sleep(POLL_MS, { signal: leaseSignal })
    }
  })
}
