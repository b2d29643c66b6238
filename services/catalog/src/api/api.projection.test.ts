import { expect, test } from 'vitest'
import { apiInput } from '../testing/api-input.ts'
import { projectApi, type VersionDocument, versions } from './api.projection.ts'
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

/** The state after the creation of version v1 and these events of media: a name, with * if it is made primary, or with - if it is deleted. */
const afterDocuments = (...events: string[]) =>
  [
    apiCreated,
    versionCreated('v1'),
    ...events.map((said, documentRevision): ApiEvent => {
      const about = { id: 'v1', name: said.replace(/[*-]/, ''), documentRevision }
      const document = {
        kind: 'other',
        primary: said.endsWith('*'),
        counts: { operations: 0, schemas: 0 },
      } as const
      return said.endsWith('-')
        ? { type: 'DocumentDetached', data: { ...about, detachedAt: at } }
        : { type: 'DocumentAttached', data: { ...about, ...document, attachedAt: at } }
    }),
  ].reduce<ApiState>((state, event, revision) => evolveApi(state, event, revision), initialApi)

test.for([
  [['a*', 'b*', 'c*', 'c-'], 'a* b'],
  [['a*', 'b*', 'a-'], 'b*'],
  [['a*', 'b', 'a-', 'a'], 'b* a'],
] as const)('after %s the documents are %s, as media has them', ([events, expected]) => {
  const state = afterDocuments(...events)
  const [write] = projectApi(API, { state, revision: 9 }, [versionCreated('v1')]).filter(
    ({ collection }) => collection === versions,
  )
  const documents = (write?.doc as VersionDocument | undefined)?.documents ?? []
  expect(documents.map(({ name, primary }) => `${name}${primary ? '*' : ''}`).join(' ')).toBe(expected)
})

test('of many deleted documents the state keeps the latest deletions', () => {
  const names = Array.from({ length: 30 }, (_, index) => `d${index}`)
  const state = afterDocuments(...names.flatMap(name => [name, `${name}-`]))
  const { attachments = [] } = (state.status === 'Live' && state.versions.get('v1')) || {}
  expect(attachments.map(({ name }) => name)).toEqual(names.slice(-20))
})
