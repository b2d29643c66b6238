import { isDeepStrictEqual } from 'node:util'
import {
  type ApiInput,
  type ApiSnapshot,
  type BulkChange,
  type Change,
  type ChangeAction,
  invalidField,
  MAX_TAGS,
  Refusal,
} from '@gantry/contracts'
import {
  type Aggregate,
  type CommandMetadata,
  type Conditional,
  type Decider,
  requireRevision,
} from '@gantry/event-sourcing'
import {
  type ApiEvent,
  type ApiFields,
  type ApiState,
  apiEvents,
  evolveApi,
  initialApi,
  type LiveApi,
} from './api.ts'
import { type DeploymentCommand, decideDeployment, undeployAll } from './deployment.decide.ts'
import {
  type AttachmentCommand,
  decideAttachment,
  decideVersion,
  type VersionCommand,
} from './version.decide.ts'

/** Fields to set, and tags to add and to remove. */
type ApiChange = Pick<BulkChange, 'tags' | 'status' | 'owner'> &
  Partial<Pick<ApiFields, 'displayName' | 'description'>>

export type ApiCommand =
  | { type: 'CreateApi'; metadata: CommandMetadata; id: string; input: ApiInput }
  | ({ type: 'UpdateApi'; input: ApiInput } & Conditional)
  /** `fields` are those at the time `at`. */
  | ({ type: 'RestoreApi'; at: string; fields: ApiFields } & Conditional)
  /** Changes some fields, whatever the others are. */
  | ({ type: 'ChangeApi'; change: ApiChange } & Conditional)
  /** An API that was changed later than `unchangedSince` (ISO 8601 UTC) is not deleted. */
  | ({ type: 'DeleteApi'; undeploy: boolean; unchangedSince?: string } & Conditional)
  | VersionCommand
  | AttachmentCommand
  | DeploymentCommand
  | { type: 'AttachImage' | 'DetachImage'; metadata: CommandMetadata; imageRevision: number }
  | { type: 'JoinProduct' | 'LeaveProduct'; metadata: CommandMetadata; product: string; at: string }

export type ApiAggregate = Aggregate<ApiState, ApiCommand, ApiEvent>

export const apiDecider: Decider<ApiState, ApiCommand, ApiEvent> = {
  initial: initialApi,
  events: apiEvents,
  evolve: evolveApi,
  describe,
  size: state => (state.status === 'Absent' ? 1 : 1 + state.versions.size),
  decide(state, command) {
    const { now } = command.metadata
    if (command.type === 'CreateApi') {
      if (state.status !== 'Absent') throw new Refusal('write-conflict')
      const { owner, ...fields } = command.input
      return [
        {
          type: 'ApiCreated',
          data: { id: command.id, ...fields, owner: owner ?? command.metadata.actor.id, createdAt: now },
        },
      ]
    }
    if (state.status !== 'Live') return decideWithoutApi(command)

    switch (command.type) {
      case 'UpdateApi':
        return updated(state, command, { ...command.input, owner: command.input.owner ?? state.record.owner })
      case 'RestoreApi':
        return updated(state, command, command.fields)
      case 'ChangeApi':
        return updated(state, command, changedFields(command.change, state.record))
      case 'DeleteApi': {
        requireRevision(command, state.recordRevision)
        if (command.unchangedSince !== undefined && state.record.updatedAt > command.unchangedSince)
          throw new Refusal('precondition-failed', { detail: 'the API was changed since: it is not deleted' })
        const undeployed = command.undeploy ? undeployAll(state, command.metadata) : []
        return [...undeployed, { type: 'ApiDeleted', data: { deletedAt: now } }]
      }
      case 'CreateVersion':
      case 'UpdateVersion':
      case 'DeleteVersion':
        return decideVersion(state, command)
      case 'AttachDocument':
      case 'DetachDocument':
        return decideAttachment(state, command)
      case 'StartDeployment':
      case 'ReportDeployment':
      case 'CancelDeployment':
      case 'TimeOutDeployment':
        return decideDeployment(state, command)
      case 'AttachImage':
        if (command.imageRevision <= state.imageRevision) return []
        return [{ type: 'ImageAttached', data: { imageRevision: command.imageRevision, attachedAt: now } }]
      case 'DetachImage':
        if (command.imageRevision <= state.imageRevision) return []
        return [{ type: 'ImageDetached', data: { imageRevision: command.imageRevision, detachedAt: now } }]
      case 'JoinProduct':
      case 'LeaveProduct': {
        const { product, at } = command
        const known = state.products.get(product)
        const member = command.type === 'JoinProduct'
        // A repeated membership records the newer time, and a removal comes before a late addition.
        if (known && (known.at > at || (known.at === at && known.member === member))) return []
        return [{ type: member ? 'ProductJoined' : 'ProductLeft', data: { product, at } }]
      }
      default:
        return command satisfies never
    }
  },
}

function updated({ record, recordRevision }: LiveApi, command: Conditional, fields: ApiFields): ApiEvent[] {
  requireRevision(command, recordRevision)
  if (isDeepStrictEqual({ ...record, ...fields }, record)) return []
  return [{ type: 'ApiUpdated', data: { ...fields, updatedAt: command.metadata.now } }]
}

/** The fields after a change. @throws Refusal invalid-request when the API would have too many tags */
function changedFields({ tags, ...others }: ApiChange, record: ApiSnapshot): ApiFields {
  const { id, createdAt, updatedAt, hasImage, deploymentStatus, ...fields } = record
  const set = Object.entries(others).filter(([, value]) => value !== undefined)
  const kept = fields.tags.filter(tag => !tags?.remove.includes(tag))
  const next = [...new Set([...kept, ...(tags?.add ?? [])])]
  if (tags && next.length > MAX_TAGS) throw invalidField('tags', `must be at most ${MAX_TAGS}`)
  return { ...fields, ...Object.fromEntries(set), ...(tags && { tags: next }) }
}

/** Decides on an API that does not exist. Callers are refused; late reports, timeouts and events change nothing. */
function decideWithoutApi(command: ApiCommand): ApiEvent[] {
  switch (command.type) {
    case 'ReportDeployment':
    case 'TimeOutDeployment':
    case 'AttachDocument':
    case 'DetachDocument':
    case 'AttachImage':
    case 'DetachImage':
    case 'JoinProduct':
    case 'LeaveProduct':
      return []
    default:
      throw new Refusal('api-not-found')
  }
}

const recordOf = (state: ApiState): ApiSnapshot | undefined =>
  state.status === 'Live' ? state.record : state.status === 'Deleted' ? state.last : undefined

function describe(before: ApiState, event: ApiEvent, after: ApiState, command?: ApiCommand): Change | null {
  const was = recordOf(before)
  const is = recordOf(after)
  const api = (action: ChangeAction<'API'>): Change => ({
    action,
    resourceType: 'API',
    resourceId: (is ?? was)?.id ?? '',
    before: was ?? null,
    after: after.status === 'Live' && is ? is : null,
  })
  const deployment = (action: ChangeAction<'API'>, { environment }: { environment: string }): Change => ({
    ...api(action),
    environment,
  })
  const version = (action: ChangeAction<'API_VERSION'>, id: string): Change => {
    const of = (state: ApiState) =>
      state.status === 'Live' ? (state.versions.get(id)?.record ?? null) : null
    return {
      action,
      resourceType: 'API_VERSION',
      resourceId: id,
      before: of(before),
      after: of(after),
    }
  }
  switch (event.type) {
    case 'ApiCreated':
      return api('API_CREATED')
    case 'ApiUpdated':
      return { ...api('API_UPDATED'), ...(command?.type === 'RestoreApi' && { restoredTo: command.at }) }
    case 'ApiDeleted':
      return api('API_DELETED')
    case 'DeploymentStarted':
      return deployment(
        event.data.type === 'DEPLOY' ? 'API_DEPLOYMENT_STARTED' : 'API_UNDEPLOYMENT_STARTED',
        event.data,
      )
    case 'ApiDeployed':
      return deployment('API_DEPLOYED', event.data)
    case 'ApiUndeployed':
      return deployment('API_UNDEPLOYED', event.data)
    case 'DeploymentFailed':
      return deployment('API_DEPLOYMENT_FAILED', event.data)
    case 'VersionCreated':
      return version('API_VERSION_CREATED', event.data.id)
    case 'VersionUpdated':
      return version('API_VERSION_UPDATED', event.data.id)
    case 'VersionDeleted':
      return version('API_VERSION_DELETED', event.data.id)
    // The services that these changes come from publish and audit them.
    case 'DocumentAttached':
    case 'DocumentDetached':
    case 'ImageAttached':
    case 'ImageDetached':
    case 'ProductJoined':
    case 'ProductLeft':
    case 'NameClaimFenced':
      return null
    default:
      event satisfies never
      return null
  }
}
