import { generateKeyPairSync } from 'node:crypto'
import type { RecordedEvent } from '@gantry/event-sourcing'
import { storyMetadata } from '@gantry/event-sourcing/testing'
import { expect, test } from 'vitest'
import { CHAIN_START, type LogPoint } from './chain.ts'
import { type EventBlock, eventBlocks } from './covered-events.ts'
import { DAY_CLOSED, DAY_ROOT_STREAM } from './day-root.ts'
import type { StoredRecord } from './lines.ts'
import { type AuditDocument, auditLog, auditProjection } from './log.projection.ts'
import { type ProvenPlace, verifyLog } from './log-verifier.ts'
import { type AuditKey, type DayRoot, signStatement } from './statements.ts'

const { actor, requestId, now: at } = storyMetadata
const resource = { resourceType: 'USER', resourceId: 'u', before: null, after: {} }
/** Each third event has a record. */
const events = Array.from({ length: 150 }, (_, index): RecordedEvent => {
  const change = { action: 'USER_UPDATED', ...resource } as never
  return {
    id: `event-${index + 1}`,
    type: 'UserUpdated',
    stream: 'user-u',
    revision: index,
    position: String(index + 1).padStart(4, '0'),
    recordedAt: at,
    data: { role: 'USER' },
    metadata: { actor, requestId, at, ...(index % 3 === 2 && { change }) },
  }
})
const project = (given: readonly RecordedEvent[]) => {
  const projection = auditProjection(() => {})
  const { state, writes } = projection.next(projection.initial, given)
  const docs = <D>(collection: unknown) =>
    writes.flatMap(write => (write.collection === collection ? [write.doc as D] : []))
  return { log: state.log, records: docs<AuditDocument>(auditLog), blocks: docs<EventBlock>(eventBlocks) }
}
const original = project(events)

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const times = { validFrom: '2026-01-01T00:00:00.000Z', validUntil: null, revokedAt: null }
const { x = '' } = publicKey.export({ format: 'jwk' })
const key: AuditKey = { kid: 'k', kty: 'OKP', crv: 'Ed25519', x, alg: 'EdDSA', use: 'sig', ...times }

/** The event with a root of the first `count` events. */
function closed(count: number): RecordedEvent {
  const { log } = project(events.slice(0, count))
  const signed = { kid: 'k', signedAt: at }
  const point = { before: CHAIN_START, after: CHAIN_START, log, ...signed }
  const root: DayRoot = { day: '2026-11-21', count: 0, first: null, last: null, ...point }
  const data = { root, signature: signStatement({ root }, { kid: 'k', privateKey }) } as never
  return {
    ...(events[0] as RecordedEvent),
    type: DAY_CLOSED,
    stream: DAY_ROOT_STREAM,
    position: '0151',
    data,
  }
}

interface Given {
  log?: readonly RecordedEvent[]
  blocks?: readonly EventBlock[]
  roots?: readonly RecordedEvent[]
  proven?: readonly ProvenPlace[]
}

function verified({ log = events, blocks = original.blocks, roots = [closed(140)], proven = [] }: Given) {
  const get = async (id: string) => {
    const doc = blocks.find(block => block.id === id)
    return doc && { doc }
  }
  return verifyLog({
    eventStore: {
      readStream: async () => [...roots],
      readAll: () => iterate(log),
    },
    readModels: { collection: () => ({ get }) } as never,
    keys: [key],
    proven: [iterate(proven)],
  })
}
async function* iterate<T>(items: readonly T[]): AsyncGenerator<T, undefined> {
  yield* items
  return undefined
}

const changed = (position: number) =>
  events.with(position - 1, { ...(events[position - 1] as RecordedEvent), data: { role: 'GLOBAL_ADMIN' } })
const head = ({ position, hash }: LogPoint): ProvenPlace => ({ position, hash, by: 'the head' })
const exported = original.records.map(({ record }): ProvenPlace => {
  const { position, eventHash, logHash: hash } = JSON.parse(record) as StoredRecord
  return { position, eventHash, hash, by: 'an export' }
})

test('a log that leads to its roots and its head is verified', async () => {
  const result = await verified({ proven: [head(original.log)] })
  expect(result).toEqual({ end: original.log, proven: { by: 'the head', at: original.log } })
})

test.each<[string, Given, RegExp]>([
  [
    'changed, by the read model',
    { log: changed(70) },
    /^the event at position 0070 \(UserUpdated, revision 69 of user-u\)/,
  ],
  [
    'changed, by an export with its record',
    { log: changed(72), blocks: [], proven: exported },
    /^the event at position 0072 .* differs from an export/,
  ],
  [
    'changed, between two records of an export',
    { log: changed(70), blocks: [], proven: exported },
    /^an event after 0069 and up to position 0072 differs/,
  ],
  [
    'changed, by a root',
    { log: changed(70), blocks: project(changed(70)).blocks },
    /^an event after the beginning and up to position 0140 differs from the root of 2026-11-21/,
  ],
  ['removed', { log: events.toSpliced(69, 1) }, /^the event at position 0071/],
  [
    'cut off',
    { log: events.slice(0, 145), proven: [head(original.log)] },
    /the head, which proves an event at position 0150/,
  ],
  [
    'signed by another',
    { roots: [{ ...closed(140), data: { ...closed(140).data, signature: 'x' } }] },
    /^the root of 2026-11-21 is not proven/,
  ],
])('an event that was %s is named', async (_, given, problem) => {
  expect((await verified(given)).problem).toMatch(problem)
})

test('a read model that differs from a proven log is a warning', async () => {
  const { problem, warning } = await verified({ blocks: project(changed(70)).blocks })
  expect(problem).toBeUndefined()
  expect(warning).toMatch(/another hash of the event at position 0070/)
})
