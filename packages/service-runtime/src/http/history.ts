import { isDeepStrictEqual } from 'node:util'
import {
  auditedAction,
  type HistoryEntry,
  type PatchOperation,
  type Principal,
  type SortBy,
  type Who,
} from '@gantry/contracts'
import type { RecordedEvent } from '@gantry/event-sourcing'
import type { Collection, Document, FieldKind } from '@gantry/stores'
import type { NamesOf } from '../service/user-names.ts'
import { listing, page } from './listing.ts'

/** A change of a resource, as its history shows it. Never updated. */
export interface HistoryDocument extends Document, Omit<HistoryEntry, 'id' | 'who'> {
  /** `{id of the resource}/{revision of the event}`. */
  id: string
  /** The place in the history of the resource, see `placeIn`. */
  inResource: string
  event: string
  /** The user by id, or the part of the service by name. */
  actor: { id: string; name: null } | { id: null; name: string }
}

export const historyFields = { inResource: 'string' } as const satisfies Record<string, FieldKind>

/** A resource before and after an event of its stream; null while it does not exist. */
export interface ResourceChange {
  resourceType: HistoryEntry['resourceType']
  resourceId: string
  /** Name of the history of the resource: its id; for a version, the ids of the API and of the version. */
  history: string
  before: object | null
  after: object | null
  /** Revision of the record after the event; null if it does not exist. */
  revision: number | null
  event: RecordedEvent
  /** Time of the event, not before that of an earlier event of the stream. */
  timestamp: string
}

/**
 * The document of a change; undefined for an event that neither changes the record nor is in the audit log as a change of
 * the resource.
 * @param operations names of the operations of event types that the audit log has under another service
 */
export function historyDocument(
  { resourceType, resourceId, history, before, after, revision, event, timestamp }: ResourceChange,
  operations: Readonly<Record<string, string>> = {},
): HistoryDocument | undefined {
  const { actor, change, requestId } = event.metadata
  const changes = patchOf(before ?? {}, after ?? {})
  if (changes.length === 0 && change?.resourceId !== resourceId) return undefined
  return {
    id: `${resourceId}/${event.revision}`,
    inResource: placeIn(history, timestamp, event.revision),
    event: event.id,
    timestamp,
    actor: actor.id === null ? { id: null, name: actor.name } : { id: actor.id, name: null },
    operation: change ? auditedAction(change) : (operations[event.type] ?? event.type),
    resourceType,
    resourceId,
    revision,
    restoredTo: change?.restoredTo ?? null,
    environment: change?.environment ?? null,
    requestId,
    changes,
  }
}

/**
 * The place of a change in a history: the name of the history, the time, and the revision, which orders changes of the
 * same millisecond. With the name first, a page is one range of one index.
 */
export const placeIn = (history: string, timestamp: string, revision: number) =>
  `${history}/${timestamp}/${String(revision).padStart(10, '0')}`

/**
 * The JSON Patch from one record to another. A field is replaced as a whole, also one with an array, so that the patch shows
 * fields and its cost is linear.
 */
export function patchOf(before: object, after: object): PatchOperation[] {
  const [old, next] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  const removed = [...old].filter(([field]) => !next.has(field))
  const changed = [...next].filter(([field, value]) => !isDeepStrictEqual(old.get(field), value))
  return [
    ...removed.map(([field, value]) => ({ op: 'remove' as const, path: pathOf(field), before: value })),
    ...changed.map(([field, value]) =>
      old.has(field)
        ? { op: 'replace' as const, path: pathOf(field), value, before: old.get(field) }
        : { op: 'add' as const, path: pathOf(field), value },
    ),
  ]
}

/** The JSON Pointer of a field (RFC 6901 §3). */
const pathOf = (field: string) => `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`

interface HistoryQuery {
  page: number
  size: number
  sort: SortBy[]
  from?: string | undefined
  to?: string | undefined
}

export interface HistoryReader {
  principal: Pick<Principal, 'scopes'>
  namesOf: NamesOf
}

/** The histories of a collection, by the field that has the places in them. */
type In<D> = readonly [field: keyof D & string, history: string]

/** The response with a page of a history. */
export async function historyPage<D extends HistoryDocument>(
  documents: Collection<D>,
  history: In<D>,
  { from, to, ...query }: HistoryQuery,
  reader: HistoryReader,
) {
  const [field] = history
  const sort = query.sort.map(({ direction }) => ({ field, direction }))
  const { items, total } = await documents.find(listing({ ...query, sort }, between(history, from, to)))
  const content = await entriesFor(
    reader,
    items.map(({ doc }) => doc),
  )
  return { status: 200 as const, body: page(content, total, query) }
}

/** Whether there is a history of that name: every resource that exists or was deleted has one. */
export const hasHistory = async <D extends HistoryDocument>(
  documents: Collection<D>,
  history: In<D>,
): Promise<boolean> => (await documents.list({ where: between(history), limit: 1 })).length > 0

/** Sorts after every timestamp. */
const AFTER_TIMES = '~'

const between = <D>([field, history]: In<D>, from = '', to = AFTER_TIMES) => ({
  [field]: { gte: `${history}/${from}`, lt: `${history}/${to}` },
})

async function entriesFor(
  { principal, namesOf }: HistoryReader,
  documents: readonly HistoryDocument[],
): Promise<HistoryEntry[]> {
  const mayKnow = principal.scopes.includes('AUDIT_LOG_READ')
  const users = documents.flatMap(({ actor }) => actor.id ?? [])
  const names = mayKnow ? await namesOf(users) : undefined
  const whoOf = ({ id, name }: HistoryDocument['actor']): Who => {
    const known = id === null ? undefined : names?.get(id)
    return { id, username: known?.username ?? name, displayName: known?.displayName ?? null }
  }
  return documents.map(({ event, timestamp, actor, ...shown }) => ({
    id: event,
    timestamp,
    who: mayKnow ? whoOf(actor) : null,
    operation: shown.operation,
    resourceType: shown.resourceType,
    resourceId: shown.resourceId,
    revision: shown.revision,
    restoredTo: shown.restoredTo,
    environment: shown.environment,
    requestId: shown.requestId,
    changes: shown.changes,
  }))
}
