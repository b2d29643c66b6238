import { getWebhookHistory, type RecordedWebhook, Refusal } from '@gantry/contracts'
import type { DocumentChange } from '@gantry/event-sourcing'
import {
  type AddRoute,
  type HistoryDocument,
  hasHistory,
  historyDocument,
  historyFields,
  historyPage,
  type Instrumented,
  type NamesOf,
  type Temporal,
  temporal,
} from '@gantry/service-runtime'
import { type Collection, defineCollection, type Write } from '@gantry/stores'
import type { Cidr } from '../http/address.ts'
import { webhookDecider } from './webhook.decide.ts'
import { projectWebhookPeriods, type RevisedWebhook, webhookPeriods } from './webhook.projection.ts'
import { withoutSecrets } from './webhook.ts'

/** The changes of webhooks, without secrets. */
export const webhookHistory = defineCollection<HistoryDocument>({
  name: 'notifier.history',
  version: 2,
  fields: historyFields,
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

export interface HistoryRoutes {
  history: Collection<HistoryDocument>
  /** Waits until the history has all changes of a webhook that are in the log now. @throws Refusal unavailable */
  upToDate(id: string): Promise<void>
  namesOf: NamesOf
}

export function historyRoutes(route: AddRoute, { history, upToDate, namesOf }: HistoryRoutes): void {
  route(getWebhookHistory, async ({ params, query, principal }) => {
    await upToDate(params.webhook_id)
    const webhook = ['inResource', params.webhook_id] as const
    if (!(await hasHistory(history, webhook))) throw new Refusal('webhook-not-found')
    return historyPage(history, webhook, query, { principal, namesOf })
  })
}
