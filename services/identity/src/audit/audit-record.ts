import type { StoredRecord } from '@gantry/audit-proofs'
import type { AuditRecord, UserName } from '@gantry/contracts'
import type { AuditDocument } from './audit.projection.ts'

/** The stored form of a record. */
export const storedRecord = ({ record }: AuditDocument) => JSON.parse(record) as StoredRecord

/** The users that a record names: the actor, and the changed user. */
export const usersOf = ({ actor, resourceType, resourceId }: StoredRecord): (string | null)[] => [
  actor.id,
  resourceType === 'USER' ? resourceId : null,
]

/** @param names of the users of the record */
export function auditRecord(
  { number }: AuditDocument,
  stored: StoredRecord,
  names: ReadonlyMap<string, UserName>,
): AuditRecord {
  const { id, position, recordedAt, timestamp, actor, action, resourceType, resourceId, requestId } = stored
  const username = actor.id === null ? actor.name : (names.get(actor.id)?.username ?? null)
  return {
    id,
    timestamp,
    user: { id: actor.id, username },
    action,
    resourceType,
    resourceId,
    details: detailsOf(stored, names),
    requestId,
    number,
    position,
    recordedAt,
  }
}

/** Records of users have the present names of the user unless they have their own. */
function detailsOf(
  { resourceType, resourceId, details }: StoredRecord,
  names: ReadonlyMap<string, UserName>,
): AuditRecord['details'] {
  const { username = null, displayName = null } = names.get(resourceId) ?? {}
  const named = resourceType === 'USER' ? { username, displayName } : {}
  const shown = (resource: object | null) => resource && { ...named, ...resource }
  return { before: shown(details.before), after: shown(details.after) }
}
