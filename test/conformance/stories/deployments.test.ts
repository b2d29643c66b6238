import { describe, expect, test } from 'vitest'
import { apiFields, cancelled, createApi, deploy, listApis, readApi } from '../src/apis.ts'
import { admin, eventually, uuid } from '../src/gantry.ts'
import type { Api, DeploymentJob } from '../src/records.ts'

const path = (environment: string, { id }: Api) => `/environments/${environment}/apis/${id}`
const environmentsOf = async ({ id }: Api) =>
  (await readApi(id, { includeDeployedOn: true })).deployedOn?.map(on => on.environment).toSorted()
const statusOf = async ({ id }: Api) => (await readApi(id)).deploymentStatus

const undeploy = async (api: Api, environment: string) => {
  const job = (await admin.delete(path(environment, api))).as<DeploymentJob>(202)
  await eventually(async () => expect(await environmentsOf(api)).not.toContain(environment))
  return job
}

describe('deploying', () => {
  test('returns the job, which is shown while it runs, and ends in DEPLOYED', async () => {
    const api = await createApi()
    expect(api.deploymentStatus).toBe('CREATED')
    const environment = uuid()
    const job = (await admin.put(path(environment, api))).as<DeploymentJob>(202)
    expect(job).toMatchObject({ type: 'DEPLOY', api: api.id, environment })
    const running = await readApi(api.id, { includeRunningJobs: true })
    const { api: _, ...shown } = job
    // The agent may have completed the job before the read. A job that is shown equals the returned one.
    if (running.deploymentStatus === 'DEPLOYMENT_IN_PROGRESS')
      expect(running.runningJobs).toEqual([{ ...shown, environmentName: null }])
    else expect(running).toMatchObject({ deploymentStatus: 'DEPLOYED', runningJobs: [] })

    await eventually(async () => expect(await statusOf(api)).toBe('DEPLOYED'))
    const { deployedOn, runningJobs } = await readApi(api.id, {
      includeDeployedOn: true,
      includeRunningJobs: true,
    })
    expect(deployedOn?.map(on => on.environment)).toEqual([environment])
    expect(Date.parse(deployedOn?.[0]?.deployedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(api.createdAt))
    expect(runningJobs).toEqual([])
    const record = await readApi(api.id, { includeDeployedOn: false })
    expect(record).not.toHaveProperty('deployedOn')
    expect(record).not.toHaveProperty('runningJobs')
    ;(await admin.get(`/apis/${api.id}`, { includeRunningJobs: 'perhaps' })).refused(400)
  })

  test('tracks each environment separately, and a second time leaves the API deployed once', async () => {
    const api = await createApi()
    const [staging, production] = [uuid(), uuid()]
    await deploy(api, staging)
    await deploy(api, production)
    expect(await environmentsOf(api)).toEqual([staging, production].toSorted())
    await undeploy(api, staging)
    expect(await environmentsOf(api)).toEqual([production])
    ;(await admin.put(path(production, api))).is(202, 409)
    await eventually(async () => expect(await statusOf(api)).toBe('DEPLOYED'))
    expect(await environmentsOf(api)).toEqual([production])
  })

  test('needs an environment id', async () => {
    const api = await createApi()
    ;(await admin.put(path('staging', api))).is(400, 404)
    expect(await statusOf(api)).toBe('CREATED')
  })
})

describe('undeploying', () => {
  test('returns the job and ends in UNDEPLOYED; the API may be deployed again; lists show each state', async () => {
    const api = await createApi()
    const listed = async (query: object) => (await listApis({ name: api.name, ...query })).totalElements
    expect(await listed({ deployed: true })).toBe(0)
    const { environment } = await deploy(api)
    expect(await listed({ deployed: true })).toBe(1)
    expect(await listed({ environment })).toBe(1)
    expect(await listed({ environment: uuid() })).toBe(0)

    const job = await undeploy(api, environment)
    expect(job).toMatchObject({ type: 'UNDEPLOY', api: api.id, environment })
    expect(await statusOf(api)).toBe('UNDEPLOYED')
    expect(await environmentsOf(api)).toEqual([])
    expect(await listed({ deployed: true })).toBe(0)
    expect(await listed({ environment })).toBe(0)
    await deploy(api, environment)
    expect(await statusOf(api)).toBe('DEPLOYED')
    ;(await admin.delete(path(uuid(), api))).is(202, 404, 409)
    expect(await environmentsOf(api)).toEqual([environment])
  })
})

describe('cancelling a deployment', () => {
  test('returns the failed job, is visible immediately, and frees the environment for another job', async () => {
    const api = await createApi()
    const { job, environment, answer } = await cancelled(api, url => admin.post(url))
    expect(answer.as<DeploymentJob>(200)).toEqual({ ...job, status: 'FAILED' })
    const { runningJobs = [] } = await readApi(api.id, { includeRunningJobs: true })
    expect(runningJobs.map(({ id }) => id)).not.toContain(job.id)
    ;(await admin.post(`${path(environment, api)}/cancel`)).refused(409, 'deployment-not-running')
    await deploy(api, environment)
    expect(await statusOf(api)).toBe('DEPLOYED')
  })

  test('needs a running job', async () => {
    const api = await createApi()
    const { environment } = await deploy(api)
    ;(await admin.post(`${path(environment, api)}/cancel`)).refused(409, 'deployment-not-running')
    ;(await admin.post(`${path(uuid(), api)}/cancel`)).refused(409, 'deployment-not-running')
    expect(await environmentsOf(api)).toEqual([environment])
  })
})

describe('deleting a deployed API', () => {
  test('with undeploy=true undeploys it everywhere and deletes it', async () => {
    const api = await createApi()
    const environments = [(await deploy(api)).environment, (await deploy(api)).environment]
    ;(await admin.delete(`/apis/${api.id}`, { query: { undeploy: true } })).is(204)
    ;(await admin.get(`/apis/${api.id}`)).refused(404)
    for (const environment of environments) expect((await listApis({ environment })).totalElements).toBe(0)
  })

  test('without undeploy also deletes it, and an update before keeps its deployments', async () => {
    const api = await createApi()
    const { environment } = await deploy(api)
    ;(await admin.put(`/apis/${api.id}`, apiFields({ name: api.name, status: 'INACTIVE' }))).is(200)
    expect(await statusOf(api)).toBe('DEPLOYED')
    expect(await environmentsOf(api)).toEqual([environment])
    ;(await admin.delete(`/apis/${api.id}`)).is(204)
    ;(await admin.get(`/apis/${api.id}`)).refused(404)
    expect((await listApis({ environment })).totalElements).toBe(0)
    ;(await admin.put(path(environment, api))).refused(404)
  })
})
