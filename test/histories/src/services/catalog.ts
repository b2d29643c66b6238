import { catalogService, catalogSettings } from '@gantry/catalog'
import { PUBLIC_EVENTS, requests, subjects } from '@gantry/contracts'
import type { RecordedEvent } from '@gantry/event-sourcing'
import type { Asked, Request, ServiceUnderTest } from '../replica.ts'
import { foreignFact, idNamed } from './foreign-fact.ts'

const input = ({ name, variant }: Asked) => ({
  name: `api-${name}`,
  displayName: `API ${variant}`,
  status: 'ACTIVE',
  tags: [`tag-${variant % 2}`],
})
const version = ({ name, variant }: Asked) => ({ name: `v${name}`, displayName: `Version ${variant}` })
const environment = ({ name }: Asked) => idNamed(`environment ${name}`)

/** A request on an existing API. */
const ofApi = (make: (api: string, asked: Asked) => Request) => (asked: Asked) => {
  const api = asked.id('api')
  return api === undefined ? undefined : make(api, asked)
}
const create = (asked: Asked): Request => ({ method: 'POST', url: '/apis', payload: input(asked) })
const createVersion = ofApi((api, asked) => ({
  method: 'POST',
  url: `/apis/${api}/versions`,
  payload: version(asked),
  // Requests with the same name have the same key, so that a second one is a repetition.
  ...(asked.variant === 0 && { headers: { 'idempotency-key': `${api}:${asked.name}` } }),
}))
const update = ofApi((api, asked) => ({
  method: 'PUT',
  url: `/apis/${api}`,
  payload: input(asked),
  readAt: `/apis/${api}`,
}))
/** Restores the state of the first, second or third event. */
const restore = ofApi((api, { log, name }) => {
  const events = log.filter(({ stream }) => stream === `api-${api}`)
  const at = events[name % events.length]?.metadata.at
  return { method: 'POST', url: `/apis/${api}/restore`, payload: { at }, readAt: `/apis/${api}` }
})
const startDeployment = (method: 'PUT' | 'DELETE') =>
  ofApi((api, asked) => ({ method, url: `/environments/${environment(asked)}/apis/${api}` }))

/** The report of the deployment agent on a job that was started. */
const report = ({ log, name, variant }: Asked) => {
  const jobs = log.filter(({ type }) => type === 'DeploymentStarted')
  const job: RecordedEvent | undefined = jobs[name % jobs.length]
  if (!job) return undefined
  const outcome = variant === 0 ? 'FAILED' : 'SUCCEEDED'
  const data = {
    job: job.data.id ?? null,
    api: job.stream.slice('api-'.length),
    environment: job.data.environment ?? null,
    outcome,
  }
  return { id: idNamed(`report of ${job.id}`), subject: subjects.deploymentReported, data }
}

export const catalog: ServiceUnderTest = {
  name: 'catalog',
  make: (dependencies, snapshotEvery) =>
    catalogService(dependencies, catalogSettings.parse({}), { snapshotEvery }),
  async prepare({ peers }) {
    peers.answer(requests.scoresBelow, async () => ({ scores: [] }))
    peers.answer(requests.describedBy, async ({ name }) => ({
      description: { title: name, operations: [`GET /${name}`], total: 1 },
    }))
  },
  contributed: ['ownerDisplayName'],
  first: ['create', 'createVersion'],
  often: ['createVersion', 'updateVersion', 'deleteVersion', 'deploy'],
  requests: {
    create,
    // One kind, so that the fixed seed keeps the kinds of its requests.
    update: asked => (asked.variant === 5 ? restore(asked) : update(asked)),
    delete: ofApi((api, { variant }) => ({
      method: 'DELETE',
      url: `/apis/${api}?undeploy=${variant % 2 === 0}`,
      readAt: `/apis/${api}`,
    })),
    createVersion,
    updateVersion: ofApi((api, asked) => ({
      method: 'PUT',
      url: `/apis/${api}/versions/v${asked.name}`,
      payload: version(asked),
      readAt: `/apis/${api}/versions/v${asked.name}`,
    })),
    deleteVersion: ofApi((api, { name }) => ({
      method: 'DELETE',
      url: `/apis/${api}/versions/v${name}`,
      readAt: `/apis/${api}/versions/v${name}`,
    })),
    deploy: startDeployment('PUT'),
    undeploy: startDeployment('DELETE'),
    report,
    document: ({ id, log, name, variant }) => {
      const api = id('api')
      const versions = log.filter(({ type, stream }) => type === 'VersionCreated' && stream === `api-${api}`)
      const version = versions[name % versions.length]?.data.id
      if (api === undefined || version === undefined) return undefined
      const type = variant % 2 ? 'API_VERSION_DOCUMENT_UPDATED' : 'API_VERSION_DOCUMENT_DELETED'
      const { example } = PUBLIC_EVENTS[type]
      const data = { ...example, api, apiVersion: version, name: `${name}.yaml`, primary: variant > 1 }
      return foreignFact('media', type, { subject: api, revision: variant, data })
    },
    image: ({ id, name, variant }) => {
      const api = id('api')
      const type = variant % 2 ? 'API_IMAGE_UPDATED' : 'API_IMAGE_DELETED'
      return api === undefined ? undefined : foreignFact('media', type, { subject: api, revision: name })
    },
  },
}
