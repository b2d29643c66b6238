import type { RecordedWebhook } from '@gantry/contracts'
import { type Period, type Project, periodFields, validity } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/stores'
import type { SealedSecret, WebhookEvent, WebhookState } from './webhook.ts'

/** A webhook with the revision of its record. */
export interface RevisedWebhook extends RecordedWebhook {
  recordRevision: number
}

/** The document of a webhook, for the REST API and for deliveries. */
export interface WebhookDocument extends RevisedWebhook {
  secrets: SealedSecret[]
  /** When the first delivery failed since the last success; null if none has. */
  failingSince: string | null
}

export const webhooks = defineCollection<WebhookDocument>({
  name: 'notifier.webhooks',
  version: 6,
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
  return [{ collection: webhooks, id, doc: documentOf(state), revision }]
}

export const documentOf = (state: Extract<WebhookState, { status: 'Live' }>): WebhookDocument => ({
  ...state.record,
  recordRevision: state.recordRevision,
  secrets: [...state.secrets],
  failingSince: state.failing?.since ?? null,
})

const { id: _, ...filtered } = webhooks.fields

/** Webhooks as they were at earlier times, without secrets. */
export const webhookPeriods = defineCollection<RevisedWebhook & Period>({
  name: 'notifier.webhook-periods',
  version: 1,
  fields: { ...periodFields, ...filtered },
  validity,
})

export const projectWebhookPeriods: Project<WebhookState, WebhookEvent> = (id, { state, revision }) => {
  if (state.status === 'Absent') return []
  const doc = state.status === 'Live' ? { ...state.record, id, recordRevision: state.recordRevision } : null
  return [{ collection: webhookPeriods, id, doc, revision }]
}
