import { setTimeout as pause } from 'node:timers/promises'
import {
  type Aggregate,
  type CommandMetadata,
  type Log,
  supervise,
  underLease,
  type Worker,
} from '@gantry/event-sourcing'
import type { ReadModels } from '@gantry/read-models'
import { writtenDuration } from '@gantry/service-kit'
import type { ApiCommand } from './api.decide.ts'
import { type ApiDocument, apis } from './api.projection.ts'
import type { ApiEvent, ApiState } from './api.ts'

export interface DeploymentTimeoutsOptions {
  api: Aggregate<ApiState, ApiCommand, ApiEvent>
  readModels: ReadModels
  /** For how long a job waits for its report, in milliseconds. */
  timeoutMs: number
  holder: string
  now(): Date
  newId(): string
  log: Log
}

/** How often it looks for jobs that are too old. */
const LOOK_MS = 1_000
/** APIs read at a time. */
const PAGE = 100
const NAME = 'catalog.deployment-timeouts'

/**
 * Ends deployment jobs whose report does not come in time as failed, in one process at a time, by lease. Which jobs run
 * and since when is read from the read model, so that restarts lose no timeout. The decider checks job and start time
 * again: a holder that has lost its lease, or reads an old document, ends nothing that it should not.
 */
export function startDeploymentTimeouts(options: DeploymentTimeoutsOptions): Worker {
  const { api, readModels, timeoutMs, holder, now, newId, log } = options
  const { leases } = readModels
  const listed = readModels.collection(apis)
  const message = `no report within ${writtenDuration(timeoutMs)}`

  const metadata = (): CommandMetadata => {
    const commandId = newId()
    return {
      commandId,
      now: now().toISOString(),
      actor: { id: null, name: 'deployment timeout' },
      requestId: commandId,
    }
  }

  const endOld = async ({ id, runningJobs }: ApiDocument, startedBefore: string) => {
    for (const { id: job, environment, startedAt } of runningJobs) {
      if (startedAt >= startedBefore) continue
      const command = { type: 'TimeOutDeployment', job, startedBefore, message } as const
      const { events } = await api.execute(id, { ...command, metadata: metadata() })
      if (events.length === 0) continue
      log.warn(
        { api: id, job, environment, startedAt },
        'a deployment job ended as failed: no report came in time',
      )
    }
  }

  /** Looks at all APIs with a job that is too old, also at those behind one that cannot be changed. */
  const round = async (signal: AbortSignal) => {
    const startedBefore = new Date(now().getTime() - timeoutMs).toISOString()
    for (let after = ''; !signal.aborted; ) {
      const found = await listed.list({
        where: { jobsSince: { gt: after, lt: startedBefore } },
        sort: [{ field: 'jobsSince', direction: 'asc' }],
        limit: PAGE,
      })
      for (const { doc } of found) {
        if (signal.aborted) return
        await endOld(doc, startedBefore).catch(error =>
          log.error({ api: doc.id, err: error }, 'a deployment job could not be ended, tries again'),
        )
      }
      if (found.length < PAGE) return
      after = found.at(-1)?.doc.jobsSince ?? after
    }
  }

  return supervise(NAME, log, signal =>
    underLease({ leases, name: NAME, holder, signal }, async (_, held) => {
      while (!held.aborted) {
        await round(held)
        await pause(LOOK_MS, undefined, { signal: held }).catch(() => {})
      }
    }),
  )
}
