import { type AuditRecord, readableData } from '@gantry/contracts'
import { type Projection, projectionOfEach } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/read-models'

/** One change, as it stands in the log of whatever service; it never changes. */
export interface AuditDocument {
  /** Of the event. */
  id: string
  timestamp: string
  /**
   * The timestamp, then the place in the log, which orders what happened in the same millisecond: one field, since an
   * index gives pages in the order of one.
   */
  when: string
  userId: string | null
  username: string
  /** User id and username, to filter by either. */
  who: string[]
  action: string
  resourceType: string
  resourceId: string
  /** Resource id and type, to filter by either. */
  what: string[]
  /** Before and after as JSON: platform events hold any object, with keys that a store may not take. */
  details: string
  requestId: string
}

export const auditLog = defineCollection<AuditDocument>({
  name: 'identity.audit',
  version: 3,
  fields: {
    when: 'string',
    who: 'strings',
    action: 'string',
    resourceType: 'string',
    what: 'strings',
  },
  text: ['username', 'action', 'resourceType', 'resourceId'],
  listedBy: 'when',
})

/** Categories of all services whose events carry changes. */
const AUDITED = [
  'api',
  'image',
  'user',
  'logins',
  'token',
  'signingkey',
  'webhook',
  'recovery',
  'delivery',
  'platformevent',
]

export const auditProjections: Projection[] = AUDITED.map(category =>
  projectionOfEach(category, ({ id, position, metadata }) => {
    const { change, actor, at, requestId } = metadata
    if (!change) return []
    const { action, resourceType, resourceId, before, after } = change
    const doc: AuditDocument = {
      id,
      timestamp: at,
      when: `${at}/${position}`,
      userId: actor.id,
      username: actor.name,
      who: actor.id === null ? [actor.name] : [actor.id, actor.name],
      action,
      resourceType,
      resourceId,
      what: [resourceId, resourceType],
      details: JSON.stringify({ before, after }),
      requestId,
    }
    return [{ collection: auditLog, id, doc, revision: 0 }]
  }),
)

export const auditRecord = (doc: AuditDocument): AuditRecord => ({
  id: doc.id,
  timestamp: doc.timestamp,
  user: { id: doc.userId, username: doc.username },
  action: doc.action,
  resourceType: doc.resourceType,
  resourceId: doc.resourceId,
  details: detailsOf(doc),
  requestId: doc.requestId,
})

function detailsOf({ action, details }: AuditDocument): AuditRecord['details'] {
  const { before, after } = JSON.parse(details) as AuditRecord['details']
  return { before: before && readableData(action, before), after: after && readableData(action, after) }
}
