import { isDeepStrictEqual } from 'node:util'
import type {
  ApiInput,
  ApiSnapshot,
  DeploymentReport,
  Job,
  VersionInput,
  VersionRecord,
} from '@gantry/contracts'
import { Refusal } from '@gantry/contracts'
import {
  type Change,
  type CommandMetadata,
  type Conditional,
  type Decider,
  type JsonObject,
  nameUuids,
  requireRevision,
} from '@gantry/event-sourcing'
import {
  type ApiEvent,
  type ApiState,
  apiEvents,
  evolveApi,
  initialApi,
  type LiveApi,
  type RunningJob,
  type Version,
} from './api.ts'

export type ApiCommand =
  | { type: 'CreateApi'; metadata: CommandMetadata; id: string; input: ApiInput }
  | ({ type: 'UpdateApi'; input: ApiInput } & Conditional)
  | ({ type: 'DeleteApi'; undeploy: boolean } & Conditional)
  | {
      type: 'CreateVersion'
      metadata: CommandMetadata
      api: string
      id: string
      input: VersionInput
      /** Maximum number of versions of the API; 0 for no limit. */
      limit: number
    }
  | ({ type: 'UpdateVersion'; version: string; input: VersionInput } & Conditional)
  | ({ type: 'DeleteVersion'; version: string } & Conditional)
  | DeploymentCommand
  | { type: 'AttachImage' | 'DetachImage'; metadata: CommandMetadata; imageRevision: number }
  | { type: 'JoinProduct' | 'LeaveProduct'; metadata: CommandMetadata; product: string; at: string }

const jobUuid = nameUuids('a3b1f0c2-7d4e-4c1a-9d55-2e6b8f9a1c37')

/** The id of the job that a deletion ends a deployment with. It is the same in every try of the command. */
export const undeployJob = (commandId: string, environment: string) => jobUuid(`${commandId}/${environment}`)

type DeploymentCommand =
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
    if (state.status !== 'Live') return decideOnGone(command)

    switch (command.type) {
      case 'UpdateApi': {
        requireRevision(command, state.recordRevision)
        const fields = { ...command.input, owner: command.input.owner ?? state.record.owner }
        if (isDeepStrictEqual({ ...state.record, ...fields }, state.record)) return []
        return [{ type: 'ApiUpdated', data: { ...fields, updatedAt: now } }]
      }
      case 'DeleteApi': {
        requireRevision(command, state.recordRevision)
        const undeployed = command.undeploy
          ? [...state.deployedOn.keys()].map(
              (environment): ApiEvent => ({
                type: 'ApiUndeployed',
                data: {
                  job: undeployJob(command.metadata.commandId, environment),
                  environment,
                  undeployedAt: now,
                },
              }),
            )
          : []
        return [...undeployed, { type: 'ApiDeleted', data: { deletedAt: now } }]
      }
      case 'CreateVersion': {
        const { input, id, api, limit } = command
        nameIsFree(state, input.name)
        if (limit > 0 && state.versions.size >= limit) {
          const detail = `an API may have ${limit} versions (MAX_VERSIONS_PER_API)`
          throw new Refusal('too-many-versions', { detail, limit })
        }
        return [
          {
            type: 'VersionCreated',
            data: { id, api, ...versionFields(input), createdAt: now, updatedAt: now },
          },
        ]
      }
      case 'UpdateVersion': {
        const { record, revision } = versionOf(state, command.version)
        requireRevision(command, revision)
        if (command.input.name !== record.name) nameIsFree(state, command.input.name)
        const next: VersionRecord = { ...record, ...versionFields(command.input) }
        if (isDeepStrictEqual(next, record)) return []
        return [{ type: 'VersionUpdated', data: { ...next, updatedAt: now } }]
      }
      case 'DeleteVersion': {
        const { record, revision } = versionOf(state, command.version)
        requireRevision(command, revision)
        return [{ type: 'VersionDeleted', data: { id: record.id, deletedAt: now } }]
      }
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
        if ((known?.member ?? false) === member || (known && known.at > at)) return []
        return [{ type: member ? 'ProductJoined' : 'ProductLeft', data: { product, at } }]
      }
      default: {
        const missing: never = command
        return missing
      }
    }
  },
}

/** Decides on an API that does not exist. Callers are refused; late reports, timeouts and events change nothing. */
function decideOnGone(command: ApiCommand): ApiEvent[] {
  switch (command.type) {
    case 'ReportDeployment':
    case 'TimeOutDeployment':
    case 'AttachImage':
    case 'DetachImage':
    case 'JoinProduct':
    case 'LeaveProduct':
      return []
    default:
      throw new Refusal('api-not-found')
  }
}

function decideDeployment(state: LiveApi, command: DeploymentCommand): ApiEvent[] {
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
    default: {
      const missing: never = command
      return missing
    }
  }
}

/** Only a report for a running job has an effect, so a repeated report has none. */
function decideReport(state: LiveApi, { job, outcome, message }: DeploymentReport, now: string): ApiEvent[] {
  const running = state.runningJobs.find(({ id }) => id === job)
  if (!running) return []
  if (outcome === 'FAILED') return [failed(running, message ?? null, now)]
  const { type, environment } = running
  return type === 'DEPLOY'
    ? [{ type: 'ApiDeployed', data: { job, environment, deployedAt: now } }]
    : [{ type: 'ApiUndeployed', data: { job, environment, undeployedAt: now } }]
}

const failed = ({ id, type, environment }: RunningJob, message: string | null, now: string): ApiEvent => ({
  type: 'DeploymentFailed',
  data: { job: id, type, environment, message, failedAt: now },
})

const versionFields = ({ name, displayName, description, status }: VersionInput) => ({
  name,
  displayName: displayName ?? name,
  description,
  status,
})

/** Finds a version by id or name; an id takes precedence. @throws Refusal when there is none */
function versionOf(state: LiveApi, idOrName: string): Version {
  const { versions, versionIds } = state
  const version = versions.get(idOrName.toLowerCase()) ?? versions.get(versionIds.get(idOrName) ?? '')
  if (!version) throw new Refusal('version-not-found')
  return version
}

function nameIsFree(state: LiveApi, name: string): void {
  if (state.versionIds.has(name))
    throw new Refusal('version-name-taken', { detail: `another version is named ${name}`, name })
}

const recordOf = (state: ApiState): ApiSnapshot | undefined =>
  state.status === 'Live' ? state.record : state.status === 'Deleted' ? state.last : undefined

function describe(before: ApiState, event: ApiEvent, after: ApiState): Change | null {
  const was = recordOf(before)
  const is = recordOf(after)
  const api = (action: string): Change => ({
    action,
    resourceType: 'API',
    resourceId: (is ?? was)?.id ?? '',
    before: (was ?? null) as JsonObject | null,
    after: (after.status === 'Live' ? is : null) as JsonObject | null,
  })
  const version = (action: string, id: string): Change => {
    const of = (state: ApiState) =>
      state.status === 'Live' ? (state.versions.get(id)?.record ?? null) : null
    return {
      action,
      resourceType: 'API_VERSION',
      resourceId: id,
      before: of(before) as JsonObject | null,
      after: of(after) as JsonObject | null,
    }
  }
  switch (event.type) {
    case 'ApiCreated':
      return api('API_CREATED')
    case 'ApiUpdated':
      return api('API_UPDATED')
    case 'ApiDeleted':
      return api('API_DELETED')
    case 'DeploymentStarted':
      return api(event.data.type === 'DEPLOY' ? 'API_DEPLOYMENT_STARTED' : 'API_UNDEPLOYMENT_STARTED')
    case 'ApiDeployed':
      return api('API_DEPLOYED')
    case 'ApiUndeployed':
      return api('API_UNDEPLOYED')
    case 'DeploymentFailed':
      return api('API_DEPLOYMENT_FAILED')
    case 'VersionCreated':
      return version('API_VERSION_CREATED', event.data.id)
    case 'VersionUpdated':
      return version('API_VERSION_UPDATED', event.data.id)
    case 'VersionDeleted':
      return version('API_VERSION_DELETED', event.data.id)
    // The services that these changes come from publish and audit them.
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
