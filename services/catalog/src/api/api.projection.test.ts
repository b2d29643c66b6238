import { documentIn, projecting } from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import { apiInput } from '../testing/api-input.ts'
import { apiDecider } from './api.decide.ts'
import { type ApiDocument, apis, projectApi, type VersionDocument, versions } from './api.projection.ts'
import { type ApiEvent, type ApiState, evolveApi, initialApi } from './api.ts'

const API = '11111111-1111-4111-8111-111111111111'
const at = '2026-11-21T10:00:00.000Z'
const fields = { ...apiInput, name: 'weather', displayName: 'Weather' }
const apiCreated: ApiEvent = { type: 'ApiCreated', data: { id: API, ...fields, createdAt: at } }
const versionCreated = (id: string): ApiEvent => ({
  type: 'VersionCreated',
  data: {
    id,
    api: API,
    name: id,
    displayName: id,
    description: null,
    status: 'ACTIVE',
    createdAt: at,
    updatedAt: at,
  },
})
const versionDeleted = (id: string): ApiEvent => ({ type: 'VersionDeleted', data: { id, deletedAt: at } })
const apiDeleted: ApiEvent = { type: 'ApiDeleted', data: { deletedAt: at } }

/** The ids of versions whose documents are removed when the last events are projected together. */
const removedBy = (before: ApiEvent[], together: ApiEvent[]) => {
  const past = [...before, ...together]
  const state = past.reduce<ApiState>(
    (current, event, revision) => evolveApi(current, event, revision),
    initialApi,
  )
  return projectApi(API, { state, revision: past.length - 1 }, together)
    .filter(({ collection, doc }) => collection === versions && doc === null)
    .map(({ id }) => id)
    .toSorted((a, b) => a.localeCompare(b))
}

test('the deletion of an API removes the documents of its versions, also of one deleted just before it', () => {
  const before = [apiCreated, versionCreated('v1'), versionCreated('v2')]
  expect(removedBy(before, [versionDeleted('v2'), apiDeleted])).toEqual(['v1', 'v2'])
  expect(removedBy([...before, versionDeleted('v2')], [apiDeleted])).toEqual(['v1'])
})

describe('the documents of an API', () => {
  const { given } = projecting(apiDecider, projectApi, API)
  const later = '2026-11-21T11:00:00.000Z'
  const environment = '33333333-3333-4333-8333-333333333333'
  const job = {
    id: '44444444-4444-4444-8444-444444444444',
    type: 'DEPLOY',
    environment,
    startedAt: at,
  } as const
  const document = (changes: Partial<ApiDocument> = {}) =>
    documentIn(apis, {
      id: API,
      ...fields,
      createdAt: at,
      updatedAt: at,
      hasImage: false,
      deploymentStatus: 'CREATED',
      recordRevision: 0,
      deployed: false,
      deployedOn: [],
      environments: [],
      runningJobs: [],
      jobsSince: null,
      products: [],
      ...changes,
    })
  const version = (id: string, fields: Partial<VersionDocument> = {}) =>
    documentIn(versions, {
      id,
      api: API,
      name: id,
      displayName: id,
      description: null,
      status: 'ACTIVE',
      createdAt: at,
      updatedAt: at,
      versionRevision: 1,
      ...fields,
    })
  const updated: ApiEvent = { type: 'ApiUpdated', data: { ...fields, name: 'climate', updatedAt: later } }
  const started: ApiEvent = { type: 'DeploymentStarted', data: job }
  const deployed: ApiEvent = { type: 'ApiDeployed', data: { job: job.id, environment, deployedAt: later } }
  const joined = (product: string): ApiEvent => ({ type: 'ProductJoined', data: { product, at } })

  test('show its last change and the revision of that', () => {
    given(apiCreated).then(document())
    given(apiCreated, updated).then(document({ name: 'climate', updatedAt: later, recordRevision: 1 }))
  })

  test('show a running job with the start of the oldest one, and afterwards the environment', () => {
    given(apiCreated, started).then(
      document({
        deploymentStatus: 'DEPLOYMENT_IN_PROGRESS',
        runningJobs: [{ ...job, status: 'RUNNING' }],
        jobsSince: `${at}/${API}`,
        recordRevision: 1,
      }),
    )
    given(apiCreated, started, deployed).then(
      document({
        deploymentStatus: 'DEPLOYED',
        deployed: true,
        deployedOn: [{ environment, deployedAt: later }],
        environments: [environment],
        updatedAt: later,
        recordRevision: 2,
      }),
    )
  })

  test('show the products that it belongs to now', () => {
    const left: ApiEvent = { type: 'ProductLeft', data: { product: 'one', at: later } }
    given(apiCreated, joined('one'), joined('two'), left).then(document({ products: ['two'] }))
  })

  test('include one for each version', () => {
    given(apiCreated, versionCreated('v1'), versionCreated('v2'), versionDeleted('v1')).then(
      document(),
      version('v2', { versionRevision: 2 }),
    )
  })

  test('do not exist after the deletion', () => {
    given(apiCreated, versionCreated('v1'), apiDeleted).then()
  })
})
