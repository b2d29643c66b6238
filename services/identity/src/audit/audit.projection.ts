import {
  type AuditRecord,
  auditedAction,
  CHANGED_STREAMS,
  readableData,
  type UserName,
} from '@gantry/contracts'
import { type Projection, projectionOfEach } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/read-models'

/** One change, from an event of any service. The document is never updated. */
export interface AuditDocument {
  /** Id of the event. */
  id: string
  timestamp: string
  /**
   * The timestamp and the position in the log, which orders changes of the same millisecond. They are one field, because
   * pages are sorted by the index of a single field.
   */
  when: string
  userId: string | null
  /** User id, or the name of the part of the service that acted. Names of users are resolved when the record is read. */
  who: string
  action: string
  resourceType: string
  resourceId: string
  /** Resource id and type, so that the filter finds either. */
  what: string[]
  /** Before and after as JSON text, because platform events contain any object, also with keys that a store may refuse. */
  details: string
  requestId: string
}

export const auditLog = defineCollection<AuditDocument>({
  name: 'identity.audit',
  version: 4,
  fields: {
    when: 'string',
    who: 'string',
    action: 'string',
    resourceType: 'string',
    what: 'strings',
  },
  text: ['who', 'action', 'resourceType', 'resourceId'],
  listedBy: 'when',
})

export const auditProjections: Projection[] = CHANGED_STREAMS.map(category =>
  projectionOfEach(category, ({ id, position, metadata }) => {
    const { change, actor, at, requestId } = metadata
    if (!change) return []
    const { resourceType, resourceId, before, after } = change
    const doc: AuditDocument = {
      id,
      timestamp: at,
      when: `${at}/${position}`,
      userId: actor.id,
      who: actor.id ?? actor.name,
      action: auditedAction(change),
      resourceType,
      resourceId,
      what: [resourceId, resourceType],
      details: JSON.stringify({ before, after }),
      requestId,
    }
    return [{ collection: auditLog, id, doc, revision: 0 }]
  }),
)

/** The users that a record names: the actor, and the changed user. */
export const usersOf = ({ userId, resourceType, resourceId }: AuditDocument): (string | null)[] => [
  userId,
  resourceType === 'USER' ? resourceId : null,
]

/** @param names of the users of the record */
export function auditRecord(doc: AuditDocument, names: ReadonlyMap<string, UserName>): AuditRecord {
  const { id, timestamp, userId, who, action, resourceType, resourceId, requestId } = doc
  const username = userId === null ? who : (names.get(userId)?.username ?? null)
  return {
    id,
    timestamp,
    user: { id: userId, username },
    action,
    resourceType,
    resourceId,
    details: detailsOf(doc, names),
    requestId,
  }
}

/** Records of users have the present names of the user unless they have their own. */
function detailsOf(
  { action, resourceType, resourceId, details }: AuditDocument,
  names: ReadonlyMap<string, UserName>,
): AuditRecord['details'] {
  const { username = null, displayName = null } = names.get(resourceId) ?? {}
  const named = resourceType === 'USER' ? { username, displayName } : {}
  const { before, after } = JSON.parse(details) as AuditRecord['details']
  const shown = (resource: Record<string, unknown> | null) =>
    resource && { ...named, ...readableData(action, resource) }
  return { before: shown(before), after: shown(after) }
}
