import type { EventMetadata, RecordedEvent } from '@gantry/event-sourcing'
import { storyMetadata } from '@gantry/event-sourcing/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from './canonical-json.ts'
import { CHAIN_START, LOG_START, nextHash, sha256 } from './chain.ts'
import { type EventBlock, eventBlocks, eventHash, hashIn } from './covered-events.ts'
import type { StoredRecord } from './lines.ts'
import {
  type AuditDay,
  type AuditDocument,
  auditDays,
  auditedApis,
  auditLog,
  auditProjection,
} from './log.projection.ts'

const { actor, requestId, now: at } = storyMetadata
const change = {
  action: 'API_UPDATED',
  resourceType: 'API',
  resourceId: '11111111-1111-4111-8111-111111111111',
  before: { name: 'weather' },
  after: { name: 'climate' },
} as never
const event = (number: number, metadata: Partial<EventMetadata> = {}, recordedAt = at): RecordedEvent => ({
  id: `event-${number}`,
  type: 'ApiUpdated',
  stream: `api-${number % 3}`,
  revision: number,
  position: String(number).padStart(8, '0'),
  recordedAt,
  data: {},
  metadata: { actor, requestId, at, change, ...metadata },
})

const projection = auditProjection(() => {})

/** The documents after events that are projected in batches, the last write of each. */
function project(...batches: RecordedEvent[][]) {
  let state = projection.initial
  const records = new Map<string, AuditDocument>()
  const days = new Map<string, AuditDay>()
  const blocks = new Map<string, EventBlock>()
  for (const batch of batches) {
    const { state: next, writes } = projection.next(state, batch)
    state = next
    for (const { collection, id, doc } of writes) {
      if (collection === auditLog) records.set(id, doc as AuditDocument)
      if (collection === auditDays) days.set(id, doc as AuditDay)
      if (collection === eventBlocks) blocks.set(id, doc as EventBlock)
    }
  }
  return {
    records: [...records.values()],
    days: [...days.values()],
    blocks: [...blocks.values()],
    log: state.log,
  }
}
const projected = (...events: RecordedEvent[]) => project(events).records
const storedIn = ({ record }: AuditDocument) => JSON.parse(record) as StoredRecord

test('each change has a document under the id of its event, and leads to the next one in the chain', () => {
  const [one, two] = projected(event(1), event(2)) as [AuditDocument, AuditDocument]
  const stored: StoredRecord = {
    id: 'event-1',
    position: '00000001',
    recordedAt: at,
    timestamp: at,
    actor: { id: actor.id, name: actor.name },
    action: 'API_UPDATED',
    resourceType: 'API',
    resourceId: '11111111-1111-4111-8111-111111111111',
    requestId,
    details: { before: { name: 'weather' }, after: { name: 'climate' } },
    eventHash: eventHash(event(1)),
    logHash: nextHash(LOG_START.hash, eventHash(event(1))),
  }
  const record = canonicalJson(stored)
  expect(one).toEqual({
    id: 'event-1',
    number: 1,
    record,
    recordHash: sha256(record),
    chainHash: nextHash(CHAIN_START.chainHash, sha256(record)),
    sealed: null,
    when: `${at}/00000001`,
    who: '22222222-2222-4222-8222-222222222222',
    action: 'API_UPDATED',
    resourceType: 'API',
    resourceId: '11111111-1111-4111-8111-111111111111',
    what: ['11111111-1111-4111-8111-111111111111', 'API'],
    named: 'climate',
  })
  expect(two).toMatchObject({ number: 2, chainHash: nextHash(one.chainHash, two.recordHash) })
})

test('the hash of a record never changes: verifiers and installations have it', () => {
  const actor = { id: 'u', name: 'u', tokenId: 't' }
  const secrets = {
    action: 'CONFIGURATION_CHANGED',
    before: null,
    after: { apiKey: 'x', 'a.b': [1.5, '\ud800'] },
  }
  const personal = { sealed: 'AAAA', commitment: 'c'.repeat(64) }
  const changed = { ...secrets, resourceType: 'PLATFORM_EVENT', resourceId: 'r', personal }
  const [doc] = projected(
    event(7, { actor, change: changed as never, requestId: 'q' }, '2026-11-22T00:00:00.000Z'),
  )
  expect(doc?.record).toBe(
    `{"action":"CONFIGURATION_CHANGED","actor":{"id":"u","name":"u","tokenId":"t"},"commitment":"${'c'.repeat(64)}","details":{"after":{"a.b":[1.5,"\ufffd"],"apiKey":"***"},"before":null},"eventHash":"73fc846f183340354912ce32d4858895ea378c11c7e9b10eebdc43841460adea","id":"event-7","logHash":"64b457cc76c1b4b3998de32825f5264800ba675090abeffdf0b8e2018c7e9c15","position":"00000007","recordedAt":"2026-11-22T00:00:00.000Z","requestId":"q","resourceId":"r","resourceType":"PLATFORM_EVENT","timestamp":"${at}"}`,
  )
  expect(doc?.chainHash).toBe('7198dcbc8d06115f1e75af517576dfc575de20ba7dcf055dab9938c5d8117396')
  expect(doc?.sealed).toBe('AAAA')
})

test('a change by the service itself is found by the name of the part that acted', () => {
  const [doc] = projected(event(1, { actor: { id: null, name: 'catalog' } }))
  expect(doc?.who).toBe('catalog')
})

test('what belongs to an API is found by its id, by that of its version and by its own name, users by no name', () => {
  const of = (number: number, resourceType: string, before: object) =>
    event(number, { change: { action: 'A', resourceType, resourceId: 'r', before, after: null } as never })
  const [document, user] = projected(
    of(1, 'API_VERSION_DOCUMENT', { name: 'openapi.yaml', api: 'a', apiVersion: 'v' }),
    of(2, 'USER', { name: 'ada', displayName: 'Ada', api: 'a' }),
  )
  expect(document).toMatchObject({ what: ['r', 'API_VERSION_DOCUMENT', 'a', 'v'], named: 'openapi.yaml' })
  expect(user).toMatchObject({ what: ['r', 'USER'], named: '' })
})

test('an API keeps its last name when it is deleted', () => {
  const deleted = {
    action: 'API_DELETED',
    resourceType: 'API',
    resourceId: 'a',
    before: { name: 'b' },
    after: null,
  }
  const { writes } = projection.next(projection.initial, [event(1), event(2, { change: deleted as never })])
  expect(writes.filter(({ collection }) => collection === auditedApis)).toMatchObject([
    { id: '11111111-1111-4111-8111-111111111111', doc: { named: 'climate' }, revision: 1 },
    { id: 'a', doc: { named: 'b' }, revision: 2 },
  ])
})

test('an event without a change has no document and no number, but its content is in the hash of the next record', () => {
  const silent = event(2, { change: undefined as never })
  const [one, two] = projected(event(1), silent, event(3)) as [AuditDocument, AuditDocument]
  expect([one.number, two.number, two.id]).toEqual([1, 2, 'event-3'])
  for (const other of [
    { ...silent, data: { role: 'ADMIN' } },
    { ...silent, revision: 7 },
    { ...silent, type: 'T' },
  ]) {
    const [same, changed] = projected(event(1), other, event(3)) as [AuditDocument, AuditDocument]
    expect(same).toEqual(one)
    expect(storedIn(changed)).toMatchObject({ eventHash: storedIn(two).eventHash })
    expect(changed.recordHash).not.toBe(two.recordHash)
  }
})

test('the chain leaves out what retention removes: deliveries without a change, bodies and held messages', () => {
  const removed = ['delivery-1', 'heldmessages-c', 'payload-e'].map(stream => ({
    ...event(2, { change: undefined as never }),
    stream,
  }))
  const kept = { ...event(3), stream: 'delivery-2' }
  expect(project([event(1), ...removed, kept]).log).toEqual(project([event(1), kept]).log)
  expect(projected(kept)).toHaveLength(1)
})

test('blocks have the hash of the log after each event', () => {
  const events = Array.from({ length: 150 }, (_, index) => event(index + 1))
  const { blocks, log } = project(events)
  expect(blocks.map(({ id }) => id)).toEqual(['0', '1', '2'])
  expect(hashIn(blocks[2] as EventBlock, 150)).toBe(log.hash)
  expect(hashIn(blocks[2] as EventBlock, 151)).toBeUndefined()
  expect(hashIn(blocks[1] as EventBlock, 128)).toBe(blocks[2]?.before)
})

test('changes of types that this release does not know are audited', () => {
  const unknown = { ...event(1), type: 'ApiFounded' }
  expect(projected(unknown)).toMatchObject([{ id: 'event-1', number: 1 }])
})

test('records and days do not depend on how the log is divided into batches', () => {
  const times = fc.array(
    fc.integer({ min: 0, max: 100 }).map(hours => new Date(Date.UTC(2026, 10, 22, hours)).toISOString()),
  )
  fc.assert(
    fc.property(times, fc.array(fc.nat(30)), (recorded, cuts) => {
      const events = recorded.map((time, index) =>
        event(index + 1, index % 4 ? {} : { change: undefined as never }, time),
      )
      const bounds = [0, ...cuts.filter(cut => cut <= events.length).sort((a, b) => a - b), events.length]
      const batches = bounds.slice(1).map((end, index) => events.slice(bounds[index], end))
      expect(project(...batches)).toEqual(project(events))
    }),
    { numRuns: 50 },
  )
})

test('a day ends with its last record, and does not come back when the clock of the store does', () => {
  const [first, second] = ['2026-11-22', '2026-11-23'].map(day => `${day}T12:00:00.000Z`) as [string, string]
  const { records, days } = project([event(1, {}, first), event(2, {}, second), event(3, {}, first)])
  expect(records.map(doc => storedIn(doc).recordedAt)).toEqual([first, second, second])
  expect(days.map(({ id, record: { number, position } }) => ({ id, number, position }))).toEqual([
    { id: '2026-11-22', number: 1, position: '00000001' },
    { id: '2026-11-23', number: 3, position: '00000003' },
  ])
})
