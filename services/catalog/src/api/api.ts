import type { ApiInput, ApiSnapshot } from '@gantry/contracts'
import { type EventSchemas, PersistentMap } from '@gantry/event-sourcing'
import { type DeploymentEvent, type Deployments, deploymentStatus, evolveDeployments } from './deployment.ts'
import {
  type DocumentEvent,
  evolveAttachments,
  evolveVersions,
  type Version,
  type VersionEvent,
  type Versions,
} from './version.ts'

export type ApiFields = Omit<ApiInput, 'owner'> & { owner: string | null }

export type ApiEvent =
  | { type: 'ApiCreated'; data: ApiFields & { id: string; createdAt: string } }
  | { type: 'ApiUpdated'; data: ApiFields & { updatedAt: string } }
  | { type: 'ApiDeleted'; data: { deletedAt: string } }
  | VersionEvent
  | DocumentEvent
  | DeploymentEvent
  | { type: 'ImageAttached'; data: { imageRevision: number; attachedAt: string } }
  | { type: 'ImageDetached'; data: { imageRevision: number; detachedAt: string } }
  | { type: 'ProductJoined'; data: { product: string; at: string } }
  | { type: 'ProductLeft'; data: { product: string; at: string } }
  /** Makes the append that would take a reserved name fail: another API takes over the reservation. See `reservations`. */
  | { type: 'NameClaimFenced'; data: object }

export interface LiveApi extends Versions, Deployments {
  status: 'Live'
  record: ApiSnapshot
  /** Revision of the event that changed the record last. Its ETag. */
  recordRevision: number
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
  DocumentAttached: [],
  DocumentDetached: [],
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
  const changed = (record: Partial<ApiSnapshot>, rest: Partial<LiveApi> = {}): LiveApi => ({
    ...state,
    ...rest,
    record: { ...state.record, ...record },
    recordRevision: revision,
  })
  const deployment = (event: DeploymentEvent, updatedAt: string) => {
    const deployments = evolveDeployments(state, event)
    return changed({ deploymentStatus: deploymentStatus(deployments, event), updatedAt }, deployments)
  }

  switch (event.type) {
    case 'ApiUpdated':
      return changed(event.data)
    case 'ApiDeleted':
      return { status: 'Deleted', last: state.record, versions: state.versions }
    case 'VersionCreated':
    case 'VersionUpdated':
    case 'VersionDeleted':
      return { ...state, ...evolveVersions(state, event, revision) }
    case 'DocumentAttached':
    case 'DocumentDetached':
      return { ...state, versions: evolveAttachments(state.versions, event) }
    case 'DeploymentStarted':
      return deployment(event, event.data.startedAt)
    case 'ApiDeployed':
      return deployment(event, event.data.deployedAt)
    case 'ApiUndeployed':
      return deployment(event, event.data.undeployedAt)
    case 'DeploymentFailed':
      return deployment(event, event.data.failedAt)
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
      return { ...state, products: new Map(state.products).set(product, { member, at }) }
    }
    case 'NameClaimFenced':
      return state
    default:
      event satisfies never
      return state
  }
}
