import { queryOptions } from '@tanstack/react-query'
import { answer, client, tagged } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'

export type Webhook = Schemas['Webhook']

export interface TaggedWebhook {
  body: Webhook
  etag: string
}

/** Health changes with every attempt. */
export const HEALTH_MS = 10_000
const CATALOGUE_MS = 60 * 60_000

/** A webhook with its entity tag. */
export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', id],
    queryFn: ({ signal }) => tagged(client.getWebhook({ webhook_id: id }, { signal })),
    refetchInterval: HEALTH_MS,
  })

/** The event types that webhooks can subscribe to. They change with a release only. */
export const eventTypesQuery = queryOptions({
  queryKey: ['webhooks', 'eventTypes'],
  queryFn: ({ signal }) => answer(client.listEventTypes({}, { signal })),
  staleTime: CATALOGUE_MS,
})
