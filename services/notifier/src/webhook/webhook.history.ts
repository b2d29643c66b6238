import type { RecordedWebhook } from '@gantry/contracts'
import type { DocumentChange } from '@gantry/event-sourcing'
import {
  type HistoryDocument,
  historyDocument,
  historyFields,
  type Instrumented,
  type Temporal,
  temporal,
} from '@gantry/service-runtime'
import { defineCollection, type Write } from '@gantry/stores'
import type { Cidr } from '../http/address.ts'
import { withoutSecrets } from './url.ts'
import { webhookDecider } from './webhook.decide.ts'
import { projectWebhookPeriods, type RevisedWebhook, webhookPeriods } from './webhook.projection.ts'

/** The changes of webhooks, without secrets. */
export const webhookHistory = defineCollection<HistoryDocument>({
  name: 'notifier.history',
  version: 1,
  fields: historyFields,
  listedBy: 'inResource',
})

function projectWebhookHistory({ id, before, after, event, at }: DocumentChange): Write[] {
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

const recordOf = ({ recordRevision, url, ...fields }: RevisedWebhook): RecordedWebhook => ({
  ...fields,
  url: withoutSecrets(url),
})

/** Webhooks as they were at earlier times, and their changes. */
export const temporalWebhooks = (dependencies: Instrumented, allowed: readonly Cidr[]): Temporal =>
  temporal(dependencies, {
    name: 'notifier.periods',
    category: 'webhook',
    decider: webhookDecider(allowed),
    project: projectWebhookPeriods,
    changed: projectWebhookHistory,
    collections: [webhookPeriods, webhookHistory],
  })
