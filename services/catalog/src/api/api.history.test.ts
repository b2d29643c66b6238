import { join } from 'node:path'
import { PeriodProjection } from '@gantry/event-sourcing'
import { frozenStreams, inMemoryLog } from '@gantry/event-sourcing/testing'
import { hostService } from '@gantry/service-runtime/testing'
import type { Write } from '@gantry/stores'
import { applyPatch, type Operation } from 'rfc6902'
import { expect, onTestFinished, test, vi } from 'vitest'
import { catalogService } from '../app.ts'
import { catalogSettings } from '../settings.ts'
import { apiDecider } from './api.decide.ts'
import { type ApiHistoryDocument, apiHistory, projectApiHistory } from './api.history.ts'
import {
  type ApiDocument,
  apiPeriods,
  projectApiPeriods,
  snapshotOf,
  type VersionDocument,
  versionWithDocuments,
} from './api.projection.ts'

const { streams } = frozenStreams(join(import.meta.dirname, '../frozen'), 'api')
const projection = () =>
  new PeriodProjection({
    eventStore: inMemoryLog().connect(),
    category: 'api',
    decider: apiDecider,
    project: projectApiPeriods,
    changed: projectApiHistory,
  })
const applied = (record: object, { changes }: ApiHistoryDocument) => {
  const copy = structuredClone(record)
  expect(applyPatch(copy, structuredClone(changes) as Operation[]).filter(Boolean)).toEqual([])
  return copy
}
const recordIn = ({ collection, doc }: Write): object => {
  const { resource: id, validFrom, validTo, ...shown } = doc as ApiDocument & Record<string, never>
  return collection === apiPeriods
    ? snapshotOf({ ...shown, id } as never)
    : versionWithDocuments({ ...shown, id } as unknown as VersionDocument)
}

test.for(streams)('the patches of frozen stream %# lead to each of its records', async stream => {
  const { writes } = await projection().writes(stream, false)
  const changes = writes
    .filter(({ collection }) => collection === apiHistory)
    .map(({ doc }) => doc as ApiHistoryDocument)
    .toSorted((one, other) => (one.inResource < other.inResource ? -1 : 1))
  const periods = writes.filter(({ collection }) => collection !== apiHistory)
  expect(changes.length).toBeGreaterThan(0)
  for (const [, history] of Map.groupBy(changes, ({ resourceId }) => resourceId)) {
    let record = {}
    for (const change of history) {
      record = applied(record, change)
      const began = periods.find(({ id }) => id === change.id)
      if (began) expect(record).toEqual(recordIn(began))
      else if (change.revision === null) expect(record).toEqual({})
      else expect(change.changes).toEqual([])
    }
  }
})

test('a version that ends with its API has the deletion of the API as its last change', async () => {
  const all = await Promise.all(streams.map(stream => projection().writes(stream, false)))
  const last = all
    .flatMap(({ writes }) => writes.map(({ doc }) => doc as ApiHistoryDocument))
    .filter(doc => doc?.resourceType === 'API_VERSION' && doc.operation === 'API_DELETED')
  expect(last.length).toBeGreaterThan(0)
  for (const { inApi, inResource, resourceId, changes } of last) {
    expect(inResource.split('/')[0]).toBe(`${inApi.split('/')[0]}:${resourceId}`)
    expect(new Set(changes.map(({ op }) => op))).toEqual(new Set(['remove']))
  }
})

test('a request with a time answers 503 with Retry-After until the changes are projected; all others succeed', async () => {
  const behind = await hostService(dependencies => catalogService(dependencies, catalogSettings.parse({})), {
    start: false,
  })
  onTestFinished(() => behind.close())
  const get = async (url: string) => {
    const { statusCode: status, headers, body } = await behind.app.inject({ method: 'GET', url })
    return { status, headers, body: JSON.parse(body) }
  }
  const payload = { name: 'payments', displayName: 'Payments', status: 'ACTIVE', tags: [] }
  const created = (await behind.app.inject({ method: 'POST', url: '/apis', payload })).json()
  const url = `/apis?at=${created.createdAt}`
  const refused = { status: 503, headers: { 'retry-after': '2' }, body: { code: 'unavailable' } }
  expect(await get(url)).toMatchObject(refused)
  expect((await get('/apis')).body.totalElements).toBe(1)

  await behind.service.start()
  await vi.waitFor(async () => expect((await get(url)).status).toBe(200))
  expect((await get(url)).body.content).toEqual([created])
})
