import { type AuditRecord, auditedAction, CHANGED_STREAMS, readableData } from '@gantry/contracts'
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
  username: string
  /** User id and username, so that the filter finds either. */
  who: string[]
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
      username: actor.name,
      who: actor.id === null ? [actor.name] : [actor.id, actor.name],
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
