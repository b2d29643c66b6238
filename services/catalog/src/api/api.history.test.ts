import { join } from 'node:path'
import { PeriodProjection } from '@gantry/event-sourcing'
import { frozenStreams, inMemoryLog } from '@gantry/event-sourcing/testing'
import type { Write } from '@gantry/stores'
import { applyPatch, type Operation } from 'rfc6902'
import { expect, test } from 'vitest'
import { apiDecider } from './api.decide.ts'
import { type ApiHistoryDocument, apiHistory, projectApiHistory } from './api.history.ts'
import {
  type ApiDocument,
  apiPeriods,
  projectApiPeriods,
  snapshotOf,
  type VersionDocument,
  versionRecordOf,
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
    : versionRecordOf({ ...shown, id } as unknown as VersionDocument)
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
