import { expect, test } from 'vitest'
import { apiInput } from '../testing/api-input.ts'
import { projectApi, versions } from './api.projection.ts'
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
