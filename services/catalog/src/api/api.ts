import type { ApiInput, ApiSnapshot, Job, VersionRecord } from '@gantry/contracts'
import { type EventSchemas, PersistentMap } from '@gantry/event-sourcing'

type Fields = Omit<ApiInput, 'owner'> & { owner: string | null }

export type ApiEvent =
  | { type: 'ApiCreated'; data: Fields & { id: string; createdAt: string } }
  | { type: 'ApiUpdated'; data: Fields & { updatedAt: string } }
  | { type: 'ApiDeleted'; data: { deletedAt: string } }
  | { type: 'VersionCreated'; data: VersionRecord }
  | { type: 'VersionUpdated'; data: VersionRecord }
  | { type: 'VersionDeleted'; data: { id: string; deletedAt: string } }
  | { type: 'DeploymentStarted'; data: Omit<Job, 'status' | 'api'> }
  | { type: 'ApiDeployed'; data: { job: string; environment: string; deployedAt: string } }
  | { type: 'ApiUndeployed'; data: { job: string; environment: string; undeployedAt: string } }
  | {
      type: 'DeploymentFailed'
      data: { job: string; type: Job['type']; environment: string; message: string | null; failedAt: string }
    }
  | { type: 'ImageAttached'; data: { imageRevision: number; attachedAt: string } }
  | { type: 'ImageDetached'; data: { imageRevision: number; detachedAt: string } }
  | { type: 'ProductJoined'; data: { product: string; at: string } }
  | { type: 'ProductLeft'; data: { product: string; at: string } }
  /** Makes the append that would take a claimed name fail: another API takes over the claim. See `reservation`. */
  | { type: 'NameClaimFenced'; data: object }

export interface Version {
  record: VersionRecord
  /** Revision of the event that changed the version last. Its ETag. */
  revision: number
}

export type RunningJob = Omit<Job, 'api'>

export interface LiveApi {
  status: 'Live'
  record: ApiSnapshot
  /** Revision of the event that changed the record last. Its ETag. */
  recordRevision: number
  /** Versions by id. A persistent map, because copying thousands of versions for each event is too slow. */
  versions: PersistentMap<Version>
  /** Ids of the versions by name. */
  versionIds: PersistentMap<string>
  /** Time of the deployment (ISO 8601 UTC) by environment. */
  deployedOn: ReadonlyMap<string, string>
  runningJobs: readonly RunningJob[]
  /** Membership by product id, with the time of the product event (ISO 8601 UTC) that set it last. */
  products: ReadonlyMap<string, { member: boolean; at: string }>
  /** Revision of the image event that `hasImage` comes from. */
  imageRevision: number
}

export type ApiState =
  | { status: 'Absent' }
  | LiveApi
  /** The last record and versions, for the public event and the documents of the deletion. */
  | { status: 'Deleted'; last: ApiSnapshot; versions: PersistentMap<Version> }

/** Every event type that this release knows, with its upcasters. */
export const apiEvents: EventSchemas<ApiEvent> = {
  ApiCreated: [],
  ApiUpdated: [],
  ApiDeleted: [],
  VersionCreated: [],
  VersionUpdated: [],
  VersionDeleted: [],
  DeploymentStarted: [],
  ApiDeployed: [],
  ApiUndeployed: [],
  DeploymentFailed: [],
  ImageAttached: [],
  ImageDetached: [],
  ProductJoined: [],
  ProductLeft: [],
  NameClaimFenced: [],
}

export const initialApi: ApiState = { status: 'Absent' }

export function evolveApi(state: ApiState, event: ApiEvent, revision: number): ApiState {
  if (event.type === 'ApiCreated') {
    const { createdAt, ...fields } = event.data
    return {
      status: 'Live',
      record: { ...fields, createdAt, updatedAt: createdAt, hasImage: false, deploymentStatus: 'CREATED' },
      recordRevision: revision,
      versions: PersistentMap.of(),
      versionIds: PersistentMap.of(),
      deployedOn: new Map(),
      runningJobs: [],
      products: new Map(),
      imageRevision: -1,
    }
  }
  if (state.status !== 'Live') return state
  const { versions, deployedOn, runningJobs, products } = state
  const changed = (record: Partial<ApiSnapshot>, rest: Partial<LiveApi> = {}): LiveApi => ({
    ...state,
    ...rest,
    record: { ...state.record, ...record },
    recordRevision: revision,
  })
  const without = (job: string) => runningJobs.filter(({ id }) => id !== job)

  switch (event.type) {
    case 'ApiUpdated':
      return changed(event.data)
    case 'ApiDeleted':
      return { status: 'Deleted', last: state.record, versions }
    case 'VersionCreated':
    case 'VersionUpdated': {
      const { id, name } = event.data
      return {
        ...state,
        versions: versions.set(id, { record: event.data, revision }),
        versionIds: withoutName(state, id).set(name, id),
      }
    }
    case 'VersionDeleted': {
      const { id } = event.data
      return { ...state, versions: versions.delete(id), versionIds: withoutName(state, id) }
    }
    case 'DeploymentStarted': {
      const { startedAt } = event.data
      const jobs = [...runningJobs, { ...event.data, status: 'RUNNING' as const }]
      return changed(
        { deploymentStatus: 'DEPLOYMENT_IN_PROGRESS', updatedAt: startedAt },
        { runningJobs: jobs },
      )
    }
    case 'ApiDeployed': {
      const { job, environment, deployedAt } = event.data
      const jobs = without(job)
      const deploymentStatus = jobs.length > 0 ? 'DEPLOYMENT_IN_PROGRESS' : 'DEPLOYED'
      const places = new Map(deployedOn).set(environment, deployedAt)
      return changed({ deploymentStatus, updatedAt: deployedAt }, { runningJobs: jobs, deployedOn: places })
    }
    case 'ApiUndeployed': {
      const { job, environment, undeployedAt } = event.data
      const jobs = without(job)
      const places = new Map(deployedOn)
      places.delete(environment)
      const settled = places.size > 0 ? 'DEPLOYED' : 'UNDEPLOYED'
      const deploymentStatus = jobs.length > 0 ? 'DEPLOYMENT_IN_PROGRESS' : settled
      return changed({ deploymentStatus, updatedAt: undeployedAt }, { runningJobs: jobs, deployedOn: places })
    }
    case 'DeploymentFailed': {
      const { job, failedAt } = event.data
      const jobs = without(job)
      const deploymentStatus = jobs.length > 0 ? 'DEPLOYMENT_IN_PROGRESS' : 'DEPLOYMENT_FAILED'
      return changed({ deploymentStatus, updatedAt: failedAt }, { runningJobs: jobs })
    }
    case 'ImageAttached': {
      const { imageRevision, attachedAt } = event.data
      return changed({ hasImage: true, updatedAt: attachedAt }, { imageRevision })
    }
    case 'ImageDetached': {
      const { imageRevision, detachedAt } = event.data
      return changed({ hasImage: false, updatedAt: detachedAt }, { imageRevision })
    }
    case 'ProductJoined':
    case 'ProductLeft': {
      const { product, at } = event.data
      const member = event.type === 'ProductJoined'
      return { ...state, products: new Map(products).set(product, { member, at }) }
    }
    case 'NameClaimFenced':
      return state
    default:
      event satisfies never
      return state
  }
}

/** `versionIds` without the current name of a version. */
function withoutName({ versions, versionIds }: LiveApi, id: string): PersistentMap<string> {
  const name = versions.get(id)?.record.name
  return name !== undefined && versionIds.get(name) === id ? versionIds.delete(name) : versionIds
}
