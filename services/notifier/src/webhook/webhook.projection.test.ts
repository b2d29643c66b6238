import { documentIn, projecting, storyMetadata } from '@gantry/event-sourcing/testing'
import { test } from 'vitest'
import { webhookDecider } from './webhook.decide.ts'
import { projectWebhook, type WebhookDocument, webhooks } from './webhook.projection.ts'
import type { WebhookEvent } from './webhook.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const at = '2026-11-21T10:00:00.000Z'
const later = '2026-11-21T11:00:00.000Z'
const { given } = projecting(webhookDecider([]), projectWebhook, ID)
const fields = {
  name: 'deploys',
  displayName: 'Deployments',
  url: 'https://receiver.example/hook',
  active: true,
  eventTypes: ['API_DEPLOYED'],
  ordered: true,
  format: 'CLOUDEVENTS_BATCHED' as const,
}
const created: WebhookEvent = {
  type: 'WebhookCreated',
  data: { id: ID, ...fields, secret: 's1', createdAt: at },
}
const deliveryFailed: WebhookEvent = { type: 'WebhookDeliveryFailed', data: { delivery: 'd1', at: later } }
const document = (changed: Partial<WebhookDocument> = {}) =>
  documentIn(webhooks, {
    id: ID,
    ...fields,
    createdAt: at,
    updatedAt: at,
    disabledReason: null,
    owner: storyMetadata.actor.id,
    recordRevision: 0,
    secrets: [{ sealed: 's1', until: null }],
    failingSince: null,
    ...changed,
  })

test('the creator of a webhook is its owner until it is transferred', () => {
  const transferred: WebhookEvent = {
    type: 'WebhookTransferred',
    data: { owner: 'ada', transferredAt: later },
  }
  given(created).then(document())
  given(created, transferred).then(document({ owner: 'ada', updatedAt: later, recordRevision: 1 }))
})

test('a rotated secret stays in the document with its end, and the record keeps its revision', () => {
  const rotated: WebhookEvent = {
    type: 'WebhookSecretRotated',
    data: { secret: 's2', oldSecretUntil: later },
  }
  given(created, rotated).then(
    document({
      secrets: [
        { sealed: 's2', until: null },
        { sealed: 's1', until: later },
      ],
    }),
  )
})

test('a webhook is failing from a failed delivery until the next success or until it is disabled', () => {
  const succeeded: WebhookEvent = { type: 'WebhookSucceeded', data: { at: later } }
  const disabled: WebhookEvent = { type: 'WebhookDisabled', data: { reason: 'it failed', disabledAt: later } }
  given(created, deliveryFailed).then(document({ failingSince: later }))
  given(created, deliveryFailed, succeeded).then(document())
  given(created, deliveryFailed, disabled).then(
    document({ active: false, disabledReason: 'it failed', updatedAt: later, recordRevision: 2 }),
  )
})

test('a deleted webhook has no document', () => {
  given(created, { type: 'WebhookDeleted', data: { deletedAt: later } }).then()
})
