import { getWebhookHistory, Refusal } from '@gantry/contracts'
import {
  type AddRoute,
  type HistoryDocument,
  hasHistory,
  historyPage,
  type NamesOf,
} from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'

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
