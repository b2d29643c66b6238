import type { RecordedWebhook } from '@gantry/contracts'
import type { DocumentChange } from '@gantry/event-sourcing'
import { defineCollection, type Write } from '@gantry/read-models'
import { type HistoryDocument, historyDocument, historyFields } from '@gantry/service-kit'
import type { RevisedWebhook } from './webhook.projection.ts'

/** The changes of webhooks. They have no secrets, since periods have none. */
export const webhookHistory = defineCollection<HistoryDocument>({
  name: 'notifier.history',
  version: 1,
  fields: historyFields,
  listedBy: 'inResource',
})

export function projectWebhookHistory({ id, before, after, event, at }: DocumentChange): Write[] {
  const doc = historyDocument({
    resourceType: 'WEBHOOK',
    resourceId: id,
    history: id,
    before: before && recordOf(before as RevisedWebhook),
    after: after && recordOf(after as RevisedWebhook),
    revision: (after as RevisedWebhook | null)?.recordRevision ?? null,
    event,
    timestamp: at,
  })
  return doc ? [{ collection: webhookHistory, id: doc.id, doc, revision: event.revision }] : []
}

const recordOf = ({ recordRevision, ...fields }: RevisedWebhook): RecordedWebhook => fields
