import { storyMetadata } from '@gantry/event-sourcing/testing'
import { applyPatch } from 'rfc6902'
import { describe, expect, test } from 'vitest'
import { historyDocument, patchOf } from './history.ts'

const applied = (record: object, patch: ReturnType<typeof patchOf>) => {
  const copy = structuredClone(record)
  // The library applies members that it has been given, so that each application has its own.
  expect(applyPatch(copy, structuredClone(patch) as never).filter(error => error !== null)).toEqual([])
  return copy
}

describe('the patch between two records', () => {
  const records = [
    {},
    { name: 'a', url: null, tags: ['x', 'y'] },
    { name: 'b', url: '/b', tags: ['y'] },
    { name: 'b', tags: [], 'a/b~c': 1, nested: { deep: ['1'], kept: true } },
    { nested: { deep: ['2'], kept: true } },
  ]

  test('makes the second of the first, whatever they are', () => {
    for (const before of records)
      for (const after of records) expect(applied(before, patchOf(before, after))).toEqual(after)
  })

  test('has the value before each change, and arrays as a whole', () => {
    expect(
      patchOf(
        { name: 'a', url: '/a', tags: ['x', 'y'], kept: [1] },
        { name: 'b', tags: ['y'], kept: [1], is: null },
      ),
    ).toEqual([
      { op: 'remove', path: '/url', before: '/a' },
      { op: 'replace', path: '/name', value: 'b', before: 'a' },
      { op: 'replace', path: '/tags', value: ['y'], before: ['x', 'y'] },
      { op: 'add', path: '/is', value: null },
    ])
  })

  test('does not reach the prototype of objects', () => {
    const hostile = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    )
    expect(patchOf({}, hostile)).toHaveLength(2)
    expect(patchOf(hostile, {})).toHaveLength(2)
    expect({}).not.toHaveProperty('polluted')
  })
})

const ID = '7a1d2c3b-0e4f-4a5b-8c6d-9e0f1a2b3c4d'
const event = (metadata: object = {}) => ({
  id: '33333333-3333-4333-8333-333333333333',
  type: 'ImageAttached',
  stream: `api-${ID}`,
  revision: 7,
  data: {},
  metadata: { actor: storyMetadata.actor, requestId: 'r1', at: storyMetadata.now, ...metadata },
  position: '7',
  recordedAt: storyMetadata.now,
})
const change = {
  resourceType: 'API',
  resourceId: ID,
  history: ID,
  revision: 7,
  timestamp: storyMetadata.now,
} as const
const rotated = { action: 'WEBHOOK_SECRET_ROTATED', resourceType: 'WEBHOOK', resourceId: ID } as never

test('an audited change is in the history although the record stays the same', () => {
  const same = { ...change, before: { name: 'a' }, after: { name: 'a' } }
  expect(historyDocument({ ...same, event: event({ change: rotated }) })).toMatchObject({
    operation: 'WEBHOOK_SECRET_ROTATED',
    changes: [],
  })
  expect(historyDocument({ ...same, event: event() })).toBeUndefined()
  expect(
    historyDocument({ ...same, resourceId: 'another', event: event({ change: rotated }) }),
  ).toBeUndefined()
})
