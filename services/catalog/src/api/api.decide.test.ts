import { join } from 'node:path'
import type { ApiInput, VersionInput } from '@gantry/contracts'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import { apiInput } from '../testing/api-input.ts'
import { type ApiCommand, apiDecider } from './api.decide.ts'
import { projectApi } from './api.projection.ts'
import { apiSnapshots } from './api.snapshots.ts'
import type { ApiEvent } from './api.ts'
import { undeployJob } from './deployment.decide.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'api',
  decider: apiDecider,
  project: projectApi,
  snapshots: apiSnapshots,
})

const ID = '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10'
const NOW = metadata.now
const input: ApiInput = { ...apiInput, tags: ['finance'] }
const owner = metadata.actor.id
const created: ApiEvent = { type: 'ApiCreated', data: { id: ID, ...input, owner, createdAt: NOW } }
const deleted: ApiEvent = { type: 'ApiDeleted', data: { deletedAt: NOW } }
const versionInput: VersionInput = { name: '1.0', displayName: null, description: null, status: 'ACTIVE' }
const version: ApiEvent = {
  type: 'VersionCreated',
  data: { id: 'v1', api: ID, ...versionInput, displayName: '1.0', createdAt: NOW, updatedAt: NOW },
}
const started = (job: string, type: 'DEPLOY' | 'UNDEPLOY', environment: string): ApiEvent => ({
  type: 'DeploymentStarted',
  data: { id: job, type, environment, startedAt: NOW },
})
const deployed = (job: string, environment: string): ApiEvent => ({
  type: 'ApiDeployed',
  data: { job, environment, deployedAt: NOW },
})
const undeployed = (job: string, environment: string): ApiEvent => ({
  type: 'ApiUndeployed',
  data: { job, environment, undeployedAt: NOW },
})
const { given } = story(apiDecider)

describe('an API', () => {
  test('is owned by its creator when the request names no owner', () => {
    given().when({ type: 'CreateApi', metadata, id: ID, input }).then(created)
  })
  test('keeps its owner when an update names none', () => {
    given(created)
      .when({ type: 'UpdateApi', metadata, input: { ...input, displayName: 'Pay' } })
      .then({ type: 'ApiUpdated', data: { ...input, owner, displayName: 'Pay', updatedAt: NOW } })
  })
  test('is not changed by an update with the same values', () => {
    given(created).when({ type: 'UpdateApi', metadata, input }).then()
  })
  test('gets the fields of an earlier time, and the owner of that time', () => {
    const changed: ApiEvent = {
      type: 'ApiUpdated',
      data: { ...input, name: 'pay', owner: 'another', updatedAt: NOW },
    }
    const restore: ApiCommand = { type: 'RestoreApi', metadata, at: NOW, fields: { ...input, owner } }
    const restored: ApiEvent = { type: 'ApiUpdated', data: { ...input, owner, updatedAt: NOW } }
    given(created, changed).when(restore).then(restored)
    given(created, changed, restored).when(restore).then()
    given(created, changed)
      .when({ ...restore, ifMatch: [0] })
      .thenRefused('precondition-failed')
    given(created, deleted).when(restore).thenRefused('api-not-found')
  })
  test('refuses an update or deletion made from an older revision', () => {
    given(created, version)
      .when({ type: 'UpdateApi', metadata, input: { ...input, name: 'b' }, ifMatch: [7] })
      .thenRefused('precondition-failed')
    given(created)
      .when({ type: 'DeleteApi', metadata, undeploy: false, ifMatch: [] })
      .thenRefused('precondition-failed')
  })
  test('keeps its revision when one of its versions changes', () => {
    given(created, version)
      .when({ type: 'DeleteApi', metadata, undeploy: false, ifMatch: [0] })
      .then(deleted)
  })
  test('is undeployed from every environment and deleted in one append', () => {
    const job = (environment: string) => undeployJob(metadata.commandId, environment)
    given(
      created,
      started('a', 'DEPLOY', 'e1'),
      deployed('a', 'e1'),
      started('b', 'DEPLOY', 'e2'),
      deployed('b', 'e2'),
    )
      .when({ type: 'DeleteApi', metadata, undeploy: true })
      .then(undeployed(job('e1'), 'e1'), undeployed(job('e2'), 'e2'), deleted)
  })
  test('refuses commands once it is deleted', () => {
    given(created, deleted).when({ type: 'UpdateApi', metadata, input }).thenRefused('api-not-found')
    given(created, deleted)
      .when({ type: 'CreateVersion', metadata, api: ID, id: 'v2', input: versionInput, limit: 0 })
      .thenRefused('api-not-found')
    given().when({ type: 'DeleteApi', metadata, undeploy: false }).thenRefused('api-not-found')
  })
  test('is not changed by late events of other services once it is deleted', () => {
    given(created, deleted).when({ type: 'AttachImage', metadata, imageRevision: 0 }).then()
    given(created, deleted).when({ type: 'JoinProduct', metadata, product: 'p', at: NOW }).then()
  })
  test('is not changed by a fence of its name reservation', () => {
    const { state } = given(created)
    expect(apiDecider.evolve(state, { type: 'NameClaimFenced', data: {} }, 1, metadata.actor)).toBe(state)
  })
})

describe('a version', () => {
  test('can be addressed by its name', () => {
    given(created, version)
      .when({ type: 'DeleteVersion', metadata, version: '1.0' })
      .then({ type: 'VersionDeleted', data: { id: 'v1', deletedAt: NOW } })
  })
  test('has its own revision for preconditions', () => {
    given(created, version)
      .when({ type: 'DeleteVersion', metadata, version: 'v1', ifMatch: [0] })
      .thenRefused('precondition-failed')
  })
})

describe('a deployment', () => {
  const status = (...events: ApiEvent[]) => {
    const { state } = given(created, ...events)
    return state.status === 'Live' ? state.record.deploymentStatus : state.status
  }
  test('changes the status from created via in progress to deployed', () => {
    expect(status()).toBe('CREATED')
    expect(status(started('a', 'DEPLOY', 'e'))).toBe('DEPLOYMENT_IN_PROGRESS')
    expect(status(started('a', 'DEPLOY', 'e'), deployed('a', 'e'))).toBe('DEPLOYED')
  })
  test('leaves the status deployed while the API is deployed in one environment', () => {
    const both = [
      started('a', 'DEPLOY', 'e'),
      deployed('a', 'e'),
      started('b', 'DEPLOY', 'f'),
      deployed('b', 'f'),
    ]
    expect(status(...both, started('c', 'UNDEPLOY', 'e'), undeployed('c', 'e'))).toBe('DEPLOYED')
    expect(status(...both.slice(0, 2), started('c', 'UNDEPLOY', 'e'), undeployed('c', 'e'))).toBe(
      'UNDEPLOYED',
    )
  })
  test('fails when the agent reports a failure', () => {
    given(created, started('a', 'DEPLOY', 'e'))
      .when({
        type: 'ReportDeployment',
        metadata,
        report: { job: 'a', api: ID, environment: 'e', outcome: 'FAILED', message: 'no room' },
      })
      .then({
        type: 'DeploymentFailed',
        data: { job: 'a', type: 'DEPLOY', environment: 'e', message: 'no room', failedAt: NOW },
      })
  })
  test('is refused while another runs in the environment', () => {
    given(created, started('a', 'DEPLOY', 'e'))
      .when({ type: 'StartDeployment', metadata, job: 'b', kind: 'DEPLOY', environment: 'e' })
      .thenRefused('deployment-running')
  })
  test('cannot be undone in an environment where the API is not deployed', () => {
    given(created)
      .when({ type: 'StartDeployment', metadata, job: 'b', kind: 'UNDEPLOY', environment: 'e' })
      .thenRefused('api-not-deployed')
  })
  test('is cancelled while it runs; the cancellation of a finished job cancels no other job', () => {
    const cancel = (job: string) => ({ type: 'CancelDeployment', metadata, job }) as const
    given(created, started('a', 'UNDEPLOY', 'e'))
      .when(cancel('a'))
      .then({
        type: 'DeploymentFailed',
        data: { job: 'a', type: 'UNDEPLOY', environment: 'e', message: 'cancelled', failedAt: NOW },
      })
    given(created, started('a', 'DEPLOY', 'e'), deployed('a', 'e'), started('b', 'DEPLOY', 'e'))
      .when(cancel('a'))
      .thenRefused('deployment-not-running')
    given(created, deleted).when(cancel('a')).thenRefused('api-not-found')
  })
  test('fails when no report has come before the timeout', () => {
    const timeOut = (startedBefore: string) =>
      ({ type: 'TimeOutDeployment', metadata, job: 'a', startedBefore, message: 'no report' }) as const
    const later = '2099-11-21T10:00:00.000Z'
    given(created, started('a', 'DEPLOY', 'e'))
      .when(timeOut(later))
      .then({
        type: 'DeploymentFailed',
        data: { job: 'a', type: 'DEPLOY', environment: 'e', message: 'no report', failedAt: NOW },
      })
    given(created, started('a', 'DEPLOY', 'e'))
      .when(timeOut(NOW))
      .then()
    given(created, started('b', 'DEPLOY', 'e'))
      .when(timeOut(later))
      .then()
    given(created, started('a', 'DEPLOY', 'e'), deployed('a', 'e'))
      .when(timeOut(later))
      .then()
    given(created, started('a', 'DEPLOY', 'e'), deleted)
      .when(timeOut(later))
      .then()
  })
  test('a report for a finished job changes nothing', () => {
    given(created, started('a', 'DEPLOY', 'e'), deployed('a', 'e'))
      .when({
        type: 'ReportDeployment',
        metadata,
        report: { job: 'a', api: ID, environment: 'e', outcome: 'FAILED' },
      })
      .then()
  })
})

describe('events of other services', () => {
  test('an image event that is handled again, or late, changes nothing', () => {
    const again = { type: 'AttachImage', metadata, imageRevision: 3 } as const
    given(created, { type: 'ImageAttached', data: { imageRevision: 3, attachedAt: NOW } })
      .when(again)
      .then()
    given(created, { type: 'ImageDetached', data: { imageRevision: 4, detachedAt: NOW } })
      .when(again)
      .then()
  })
  test('a late product event does not undo a later one', () => {
    given(
      created,
      { type: 'ProductJoined', data: { product: 'p', at: NOW } },
      { type: 'ProductLeft', data: { product: 'p', at: '2026-11-21T10:00:05.000Z' } },
    )
      .when({ type: 'JoinProduct', metadata, product: 'p', at: NOW })
      .then()
  })
  test('a product event that repeats the membership is recorded with its newer time, so that a late removal changes nothing', () => {
    const [removedAt, addedAgainAt] = ['2026-11-21T10:00:03.000Z', '2026-11-21T10:00:05.000Z']
    const joined: ApiEvent = { type: 'ProductJoined', data: { product: 'p', at: NOW } }
    const joinedAgain: ApiEvent = { type: 'ProductJoined', data: { product: 'p', at: addedAgainAt } }
    const join = { type: 'JoinProduct', metadata, product: 'p', at: addedAgainAt } as const
    const leave = { type: 'LeaveProduct', metadata, product: 'p', at: removedAt } as const
    given(created, joined).when(join).then(joinedAgain)
    given(created, joined, joinedAgain).when(join).then()
    given(created, joined, joinedAgain).when(leave).then()
  })
  test('a removal that comes before the addition it follows is recorded', () => {
    const left: ApiEvent = { type: 'ProductLeft', data: { product: 'p', at: '2026-11-21T10:00:05.000Z' } }
    given(created).when({ type: 'LeaveProduct', metadata, product: 'p', at: left.data.at }).then(left)
    given(created, left).when({ type: 'JoinProduct', metadata, product: 'p', at: NOW }).then()
  })
})
