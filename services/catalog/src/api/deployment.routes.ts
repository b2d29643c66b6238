import { cancelDeployment, deployApi, type Job, Refusal, undeployApi } from '@gantry/contracts'
import type { CommandMetadata } from '@gantry/event-sourcing'
import type { AddRoute } from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import type { EnvironmentAggregate } from '../environment/environment.decide.ts'
import type { EnvironmentDocument } from '../environment/environment.projection.ts'
import type { ApiAggregate } from './api.decide.ts'

export interface DeploymentRoutes {
  api: ApiAggregate
  environment: EnvironmentAggregate
  environments: Pick<Collection<EnvironmentDocument>, 'get'>
}

export function deploymentRoutes(
  route: AddRoute,
  { api, environment, environments }: DeploymentRoutes,
): void {
  route(deployApi, async ({ params, metadata, newId }) => {
    const id = params.environment_id
    if (!(await environments.get(id))) {
      const { state } = await api.load(params.api_id)
      if (state.status !== 'Live') throw new Refusal('api-not-found')
      // Before the job: a request that fails in between can be repeated.
      await environment.execute(id, { type: 'RegisterEnvironment', metadata, id })
    }
    return { status: 202, body: await start('DEPLOY', params, metadata, newId()) }
  })

  route(undeployApi, async ({ params, metadata, newId }) => ({
    status: 202,
    body: await start('UNDEPLOY', params, metadata, newId()),
  }))

  route(cancelDeployment, async ({ params, metadata }) => {
    const { api_id, environment_id } = params
    const { state } = await api.load(api_id)
    if (state.status !== 'Live') throw new Refusal('api-not-found')
    const job = state.runningJobs.find(({ environment }) => environment === environment_id)
    if (!job) throw new Refusal('deployment-not-running')
    await api.execute(api_id, { type: 'CancelDeployment', metadata, job: job.id })
    const body: Job = { ...job, api: api_id, status: 'FAILED' }
    return { status: 200, body }
  })

  const start = async (
    kind: Job['type'],
    { api_id, environment_id }: { api_id: string; environment_id: string },
    metadata: CommandMetadata,
    job: string,
  ): Promise<Job> => {
    await api.execute(api_id, { type: 'StartDeployment', metadata, job, kind, environment: environment_id })
    return {
      id: job,
      type: kind,
      api: api_id,
      environment: environment_id,
      status: 'RUNNING',
      startedAt: metadata.now,
    }
  }
}
