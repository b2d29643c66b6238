import type { WebhookRecord } from '@gantry/contracts'
import type { Project } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/read-models'
import type { SealedSecret, WebhookEvent, WebhookState } from './webhook.ts'

/** The document of a webhook, for the REST API and for deliveries. */
export interface WebhookDocument extends WebhookRecord {
  recordRevision: number
  secrets: SealedSecret[]
  /** Whether a delivery has failed since the last success. */
  failing: boolean
}

export const webhooks = defineCollection<WebhookDocument>({
  name: 'notifier.webhooks',
  version: 5,
  fields: {
    id: 'string',
    name: 'string',
    displayName: 'string',
    active: 'boolean',
    eventTypes: 'strings',
    owner: 'string',
    createdAt: 'string',
    updatedAt: 'string',
  },
})

export const projectWebhook: Project<WebhookState, WebhookEvent> = (id, { state, revision }) => {
  if (state.status === 'Absent') return []
  if (state.status === 'Deleted') return [{ collection: webhooks, id, doc: null, revision }]
  const doc: WebhookDocument = {
    ...state.record,
    recordRevision: state.recordRevision,
    secrets: [...state.secrets],
    failing: state.failing !== null,
  }
  return [{ collection: webhooks, id, doc, revision }]
}
