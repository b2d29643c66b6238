import type { DeploymentStatus, Job } from '@gantry/contracts'

export type DeploymentEvent =
  | { type: 'DeploymentStarted'; data: Omit<Job, 'status' | 'api'> }
  | { type: 'ApiDeployed'; data: { job: string; environment: string; deployedAt: string } }
  | { type: 'ApiUndeployed'; data: { job: string; environment: string; undeployedAt: string } }
  | {
      type: 'DeploymentFailed'
      data: { job: string; type: Job['type']; environment: string; message: string | null; failedAt: string }
    }

export type RunningJob = Omit<Job, 'api'>

export interface Deployments {
  /** Time of the deployment (ISO 8601 UTC) by environment. */
  deployedOn: ReadonlyMap<string, string>
  runningJobs: readonly RunningJob[]
}

export function evolveDeployments(state: Deployments, event: DeploymentEvent): Deployments {
  const { deployedOn, runningJobs } = state
  const without = (job: string) => runningJobs.filter(({ id }) => id !== job)
  switch (event.type) {
    case 'DeploymentStarted':
      return { deployedOn, runningJobs: [...runningJobs, { ...event.data, status: 'RUNNING' }] }
    case 'ApiDeployed': {
      const { job, environment, deployedAt } = event.data
      return {
        deployedOn: new Map(deployedOn).set(environment, deployedAt),
        runningJobs: without(job),
      }
    }
    case 'ApiUndeployed': {
      const { job, environment } = event.data
      const others = new Map(deployedOn)
      others.delete(environment)
      return { deployedOn: others, runningJobs: without(job) }
    }
    case 'DeploymentFailed':
      return { deployedOn, runningJobs: without(event.data.job) }
    default:
      event satisfies never
      return state
  }
}

/** The status of an API after an event of its deployments. */
export function deploymentStatus(
  { deployedOn, runningJobs }: Deployments,
  { type }: DeploymentEvent,
): DeploymentStatus {
  if (runningJobs.length > 0) return 'DEPLOYMENT_IN_PROGRESS'
  if (type === 'DeploymentFailed') return 'DEPLOYMENT_FAILED'
  return deployedOn.size > 0 ? 'DEPLOYED' : 'UNDEPLOYED'
}
