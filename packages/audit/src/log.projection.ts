import { isDeepStrictEqual } from 'node:util'
import { auditedAction, readableData, STREAM_CATEGORIES } from '@gantry/contracts'
import { type OrderedProjection, type RecordedEvent, streamCategory } from '@gantry/event-sourcing'
import { defineCollection, type Write } from '@gantry/stores'
import { canonicalJson } from './canonical-json.ts'
import {
  CHAIN_START,
  type ChainEnd,
  type ChainPoint,
  LOG_START,
  type LogPoint,
  nextHash,
  sha256,
} from './chain.ts'
import { afterEvent, type EventBlock, eventBlocks, eventHash, grown, isCovered } from './covered-events.ts'
import { DAY_ROOTS, dayRootIn, dayRoots } from './day-root.ts'
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
  /** Id and type of the resource, and the ids of the API and of the version that it belongs to: the filter finds each. */
  what: string[]
  /** The name and the display name of the resource at that time, except of a user. */
  named: string
}

export const auditLog = defineCollection<AuditDocument>({
  name: 'identity.audit',
  version: 5,
  fields: {
    number: 'number',
    when: 'string',
    who: 'string',
    action: 'string',
    resourceType: 'string',
    what: 'strings',
  },
  text: ['who', 'action', 'resourceType', 'resourceId', 'named'],
})

/** The last name and display name of an API, also of a deleted one. */
export interface AuditedApi {
  id: string
  named: string
}

export const auditedApis = defineCollection<AuditedApi>({
  name: 'identity.auditapis',
  version: 1,
  fields: {},
  text: ['named'],
})

/** The ends of the chains at the end of a UTC day of recording that has events. */
export interface AuditDay extends ChainEnd {
  /** The day, e.g. 2026-11-22. */
  id: string
  /** Number of covered events up to the end of the day. */
  events: number
}

export const auditDays = defineCollection<AuditDay>({
  name: 'identity.auditdays',
  version: 1,
  fields: { events: 'number' },
})

export const auditCollections = [auditLog, auditedApis, auditDays, dayRoots, eventBlocks]

/** The chains after an event, and its time of recording. */
export interface AuditState extends ChainEnd {
  recordedAt: string
  /** The block with the last covered event. */
  block: EventBlock
}

/**
 * The hash chain over all events of the services. It includes types that this release does not know, so that replicas
 * of different releases make the same chain.
 * @param foreign called for each event in a stream of another application
 */
export const auditProjection = (foreign: (event: RecordedEvent) => void): OrderedProjection<AuditState> => ({
  initial: {
    record: CHAIN_START,
    log: LOG_START,
    recordedAt: '',
    block: { id: '0', before: LOG_START.hash, hashes: '' },
  },
  isOurs: stream => STREAM_CATEGORIES.has(streamCategory(stream)),
  foreign,
  next(state, events) {
    const writes: Write[] = []
    const days = new Map<string, AuditDay>()
    const blocks = new Map<string, EventBlock>()
    let { record, log, recordedAt, block } = state
    for (const event of events) {
      if (!isCovered(event)) continue
      const own = eventHash(event)
      block = grown(block, log, own)
      log = afterEvent(log, event.position, own)
      // The store's clock can go back; days of recording do not.
      if (event.recordedAt > recordedAt) recordedAt = event.recordedAt
      const doc = event.metadata.change && documentOf(event, { before: record, recordedAt, own, log })
      if (doc) {
        writes.push({ collection: auditLog, id: doc.id, doc, revision: 0 })
        const { resourceType, resourceId: id, named, number } = doc
        if (resourceType === 'API' && named)
          writes.push({ collection: auditedApis, id, doc: { id, named } as AuditedApi, revision: number })
        record = { number: doc.number, position: event.position, chainHash: doc.chainHash }
      }
      const dayRoot = streamCategory(event.stream) === DAY_ROOTS ? dayRootIn(event) : undefined
      if (dayRoot) writes.push(dayRoot)
      blocks.set(block.id, block)
      const id = recordedAt.slice(0, 10)
      days.set(id, { id, events: log.events, record, log })
    }
    for (const doc of blocks.values())
      writes.push({ collection: eventBlocks, id: doc.id, doc, revision: doc.hashes.length })
    for (const doc of days.values())
      writes.push({ collection: auditDays, id: doc.id, doc, revision: doc.events })
    return { state: { record, log, recordedAt, block }, writes }
  },
})

interface RecordPlace {
  /** The chain before the record. */
  before: ChainPoint
  recordedAt: string
  /** The hash of the event. */
  own: string
  /** The log after the event. */
  log: LogPoint
}

/** Every installation has hashes of this form: it cannot be changed, nor can `readableData` for records that exist. */
function documentOf(
  { id, position, metadata }: RecordedEvent,
  place: RecordPlace,
): AuditDocument | undefined {
  const { change, actor, at: timestamp, requestId } = metadata
  if (!change) return undefined
  const { resourceType, resourceId, restoredTo, environment, personal } = change
  const action = auditedAction(change)
  const shown = (resource: object | null) =>
    resource ? readableData(action, resource as Record<string, unknown>) : null
  const { before, recordedAt, own, log } = place
  const stored: StoredRecord = {
    id,
    position,
    recordedAt,
    timestamp,
    actor,
    action,
    resourceType,
    resourceId,
    requestId,
    details: { before: shown(change.before), after: shown(change.after) },
    ...(restoredTo !== undefined && { restoredTo }),
    ...(environment !== undefined && { environment }),
    ...(personal && { commitment: personal.commitment }),
    eventHash: own,
    logHash: log.hash,
  }
  return documentFrom(stored, canonicalJson(stored), before, personal?.sealed ?? null)
}

/** The document of a record. @param record the canonical JSON of `stored` @param before the chain before it */
function documentFrom(
  stored: StoredRecord,
  record: string,
  before: ChainPoint,
  sealed: string | null,
): AuditDocument {
  const { id, position, timestamp, actor, action, resourceType, resourceId, details } = stored
  const { name, displayName, api, apiVersion }: Record<string, unknown> =
    details.after ?? details.before ?? {}
  const owners = resourceType.startsWith('API_') ? [api, apiVersion] : []
  const recordHash = sha256(record)
  return {
    id,
    number: before.number + 1,
    chainHash: nextHash(before.chainHash, recordHash),
    recordHash,
    record,
    sealed,
    when: `${timestamp}/${position}`,
    who: actor.id ?? actor.name,
    action,
    resourceType,
    resourceId,
    what: [...new Set([resourceId, resourceType, ...owners.filter(isText)])],
    named: resourceType === 'USER' ? '' : [name, displayName].filter(isText).join('\n'),
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** Whether a document is the one that the projection made of the record after a place in the chain. */
export function isIntact(doc: AuditDocument, before: ChainPoint): boolean {
  try {
    return isDeepStrictEqual(doc, documentFrom(JSON.parse(doc.record), doc.record, before, doc.sealed))
  } catch {
    return false
  }
}
