import { type DeploymentReport, type Job, Refusal } from '@gantry/contracts'
import { type CommandMetadata, nameUuids } from '@gantry/event-sourcing'
import type { DeploymentEvent, Deployments, RunningJob } from './deployment.ts'

export type DeploymentCommand =
  | {
      type: 'StartDeployment'
      metadata: CommandMetadata
      job: string
      kind: Job['type']
      environment: string
    }
  | { type: 'ReportDeployment'; metadata: CommandMetadata; report: DeploymentReport }
  | { type: 'CancelDeployment'; metadata: CommandMetadata; job: string }
  /** Fails the job if it is still running and started before `startedBefore` (ISO 8601 UTC). */
  | {
      type: 'TimeOutDeployment'
      metadata: CommandMetadata
      job: string
      startedBefore: string
      message: string
    }

export function decideDeployment(state: Deployments, command: DeploymentCommand): DeploymentEvent[] {
  const { now } = command.metadata
  switch (command.type) {
    case 'StartDeployment': {
      const { job, kind, environment } = command
      if (state.runningJobs.some(running => running.environment === environment))
        throw new Refusal('deployment-running')
      if (kind === 'UNDEPLOY' && !state.deployedOn.has(environment)) throw new Refusal('api-not-deployed')
      return [{ type: 'DeploymentStarted', data: { id: job, type: kind, environment, startedAt: now } }]
    }
    case 'ReportDeployment':
      return decideReport(state, command.report, now)
    case 'CancelDeployment': {
      const running = state.runningJobs.find(({ id }) => id === command.job)
      if (!running) throw new Refusal('deployment-not-running')
      return [failed(running, 'cancelled', now)]
    }
    case 'TimeOutDeployment': {
      const { job, startedBefore, message } = command
      const running = state.runningJobs.find(({ id }) => id === job)
      return running && running.startedAt < startedBefore ? [failed(running, message, now)] : []
    }
    default:
      return command satisfies never
  }
}

const jobUuid = nameUuids('a3b1f0c2-7d4e-4c1a-9d55-2e6b8f9a1c37')

/** The id of the job that a deletion ends a deployment with. It is the same in every try of the command. */
export const undeployJob = (commandId: string, environment: string) => jobUuid(`${commandId}/${environment}`)

/** The events that end all deployments at once. */
export const undeployAll = (
  { deployedOn }: Deployments,
  { commandId, now }: CommandMetadata,
): DeploymentEvent[] =>
  [...deployedOn.keys()].map(environment => ({
    type: 'ApiUndeployed',
    data: { job: undeployJob(commandId, environment), environment, undeployedAt: now },
  }))

/** Only a report for a running job has an effect, so a repeated report has none. */
function decideReport(
  state: Deployments,
  { job, outcome, message }: DeploymentReport,
  now: string,
): DeploymentEvent[] {
  const running = state.runningJobs.find(({ id }) => id === job)
  if (!running) return []
  if (outcome === 'FAILED') return [failed(running, message ?? null, now)]
  const { type, environment } = running
  return type === 'DEPLOY'
    ? [{ type: 'ApiDeployed', data: { job, environment, deployedAt: now } }]
    : [{ type: 'ApiUndeployed', data: { job, environment, undeployedAt: now } }]
}

const failed = (
  { id, type, environment }: RunningJob,
  message: string | null,
  now: string,
): DeploymentEvent => ({
  type: 'DeploymentFailed',
  data: { job: id, type, environment, message, failedAt: now },
})
