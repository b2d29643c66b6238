import type { WebhookRecord } from '@gantry/contracts'
import type { Project } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/read-models'
import type { SealedSecret, WebhookEvent, WebhookState } from './webhook.ts'

/** A webhook as lists show it and deliveries need it. */
export interface WebhookDocument extends WebhookRecord {
  recordRevision: number
  secrets: SealedSecret[]
  /** Whether something has failed since something arrived. */
  failing: boolean
}

export const webhooks = defineCollection<WebhookDocument>({
  name: 'notifier.webhooks',
  version: 4,
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
