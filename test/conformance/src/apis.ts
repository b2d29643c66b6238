import type { Answer } from './answer.ts'
import type { Client, Query } from './client.ts'
import { admin, cleanUp, eventually, unique, uuid } from './gantry.ts'
import type { Api, DeploymentJob, Page, Version } from './records.ts'

export const apiFields = (fields: Partial<Api> = {}) => ({
  name: unique('api'),
  displayName: 'An API',
  status: 'ACTIVE',
  tags: [],
  ...fields,
})

export const createApi = async (fields: Partial<Api> = {}, client: Client = admin): Promise<Api> => {
  const api = (await client.post('/apis', apiFields(fields))).as<Api>(201)
  cleanUp(`/apis/${api.id}`)
  return api
}

export const readApi = async (id: string, query = {}) => (await admin.get(`/apis/${id}`, query)).as<Api>(200)

export const listApis = async (query: Query) => (await admin.get('/apis', query)).as<Page<Api>>(200)

export const createVersion = async (api: Api, fields: Partial<Version> = {}) =>
  (await admin.post(`/apis/${api.id}/versions`, { name: '1.0', ...fields })).as<Version>(201)

/** Deploys and waits until the agent has reported success. */
export const deploy = async (api: Api, environment: string = uuid()) => {
  const job = (await admin.put(`/environments/${environment}/apis/${api.id}`)).as<DeploymentJob>(202)
  await eventually(async () => {
    const { deployedOn = [] } = await readApi(api.id, { includeDeployedOn: true })
    if (!deployedOn.some(on => on.environment === environment))
      throw new Error(`Not deployed on ${environment}`)
  })
  return { job, environment }
}

/** Number of jobs that the agent gets before the one that is cancelled. */
const EARLIER_JOBS = 10

/**
 * Starts jobs until `cancel` reaches one that is still running, because the agent may report before the request arrives.
 * The agent takes one job at a time, so it reports this one after those of another API.
 * @param cancel cancels the job of an API and environment
 */
export const cancelled = async (api: Api, cancel: (path: string) => Promise<Answer>) => {
  const other = await createApi()
  const start = ({ id }: Api, environment: string) => admin.put(`/environments/${environment}/apis/${id}`)
  for (let tries = 1; ; tries += 1) {
    const earlier = Array.from({ length: EARLIER_JOBS }, () => start(other, uuid()))
    // A new environment each time, so that no earlier job conflicts.
    const environment = uuid()
    const job = (await start(api, environment)).as<DeploymentJob>(202)
    const answer = await cancel(`/environments/${environment}/apis/${api.id}/cancel`)
    for (const started of await Promise.all(earlier)) started.is(202)
    if (answer.status !== 409 || tries === 100) return { job, environment, answer }
    answer.refused(409, 'deployment-not-running')
  }
}
