import { auditedAction, readableData, STREAM_CATEGORIES } from '@gantry/contracts'
import { type OrderedProjection, type RecordedEvent, streamCategory } from '@gantry/event-sourcing'
import { defineCollection, type Write } from '@gantry/read-models'
import { canonicalJson } from './canonical-json.ts'
import { CHAIN_START, type ChainPoint, nextChainHash, sha256 } from './chain.ts'
import { DAY_ROOTS, dayRootIn } from './day-root.ts'
import type { StoredRecord } from './lines.ts'

/** One change, from an event of any service. The document is never updated. */
export interface AuditDocument {
  /** Id of the event. */
  id: string
  /** Number in the hash chain, from 1, in the order of the log. */
  number: number
  /** The chain hash after the record. */
  chainHash: string
  recordHash: string
  /**
   * The stored form as canonical JSON, which is hashed. It is text, because platform events contain any object, also with
   * keys that a store may refuse.
   */
  record: string
  /** The encrypted personal fields of a changed user; null when there are none. */
  sealed: string | null
  /**
   * The timestamp and the position in the log, which orders changes of the same millisecond. They are one field, because
   * pages are sorted by the index of a single field.
   */
  when: string
  /** User id, or the name of the part of the service that acted. Names of users are resolved when the record is read. */
  who: string
  action: string
  resourceType: string
  resourceId: string
  /** Resource id and type, so that the filter finds either. */
  what: string[]
}

export const auditLog = defineCollection<AuditDocument>({
  name: 'identity.audit',
  version: 4,
  fields: {
    number: 'number',
    when: 'string',
    who: 'string',
    action: 'string',
    resourceType: 'string',
    what: 'strings',
  },
  text: ['who', 'action', 'resourceType', 'resourceId'],
  listedBy: 'when',
})

/** The end of a UTC day of recording that has records. */
export interface AuditDay extends ChainPoint {
  /** The day, e.g. 2026-11-22. */
  id: string
}

export const auditDays = defineCollection<AuditDay>({
  name: 'identity.auditdays',
  version: 1,
  fields: { number: 'number' },
})

/** The chain after a record, and the time of recording of the record. */
type Chain = ChainPoint & { recordedAt: string } & Record<string, string | number>

/**
 * The hash chain over all events of the services with a change, also of types that this release does not know, so that
 * replicas of different releases make the same chain.
 * @param foreign called for each event in a stream of another application
 */
export const auditProjection = (foreign: (event: RecordedEvent) => void): OrderedProjection<Chain> => ({
  initial: { ...CHAIN_START, recordedAt: '' },
  isOurs: stream => STREAM_CATEGORIES.has(streamCategory(stream)),
  foreign,
  next(state, events) {
    const writes: Write[] = []
    const days = new Map<string, AuditDay>()
    let chain = state
    for (const event of events) {
      const dayRoot = streamCategory(event.stream) === DAY_ROOTS ? dayRootIn(event) : undefined
      if (dayRoot) writes.push(dayRoot)
      const doc = documentOf(chain, event)
      if (!doc) continue
      const { number, chainHash } = doc
      chain = { number, chainHash, position: event.position, recordedAt: recordedAt(chain, event) }
      writes.push({ collection: auditLog, id: doc.id, doc, revision: 0 })
      const id = chain.recordedAt.slice(0, 10)
      days.set(id, { id, number, position: event.position, chainHash })
    }
    for (const doc of days.values())
      writes.push({ collection: auditDays, id: doc.id, doc, revision: doc.number })
    return { state: chain, writes }
  },
})

/** The store's clock can go back; days of recording do not. */
const recordedAt = (before: Chain, event: RecordedEvent) =>
  event.recordedAt > before.recordedAt ? event.recordedAt : before.recordedAt

/** Every installation has hashes of this form: it cannot be changed, nor can `readableData` for records that exist. */
function documentOf(before: Chain, event: RecordedEvent): AuditDocument | undefined {
  const { id, position, metadata } = event
  const { change, actor, at: timestamp, requestId } = metadata
  if (!change) return undefined
  const { resourceType, resourceId, restoredTo, personal } = change
  const action = auditedAction(change)
  const shown = (resource: object | null) =>
    resource ? readableData(action, resource as Record<string, unknown>) : null
  const stored: StoredRecord = {
    id,
    position,
    recordedAt: recordedAt(before, event),
    timestamp,
    actor: { id: actor.id, name: actor.name, ...(actor.tokenId !== undefined && { tokenId: actor.tokenId }) },
    action,
    resourceType,
    resourceId,
    requestId,
    details: { before: shown(change.before), after: shown(change.after) },
    ...(restoredTo !== undefined && { restoredTo }),
    ...(personal && { commitment: personal.commitment }),
  }
  const record = canonicalJson(stored)
  const recordHash = sha256(record)
  return {
    id,
    number: before.number + 1,
    chainHash: nextChainHash(before.chainHash, recordHash),
    recordHash,
    record,
    sealed: personal?.sealed ?? null,
    when: `${timestamp}/${position}`,
    who: actor.id ?? actor.name,
    action,
    resourceType,
    resourceId,
    what: [resourceId, resourceType],
  }
}
