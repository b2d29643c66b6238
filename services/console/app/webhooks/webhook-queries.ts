import { queryOptions } from '@tanstack/react-query'
import { answer, client, tagged } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'

export type Webhook = Schemas['Webhook']

export interface TaggedWebhook {
  body: Webhook
  etag: string
}

/** Health changes with every attempt. */
const HEALTH_MS = 10_000
const PAGE_SIZE = 100
/** The filters are applied here, because the service cannot filter by health. */
const MAX_PAGES = 20
const CATALOGUE_MS = 60 * 60_000

/** A webhook with its entity tag. */
export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', id],
    queryFn: ({ signal }) =>
      tagged(client.GET('/webhooks/{webhook_id}', { params: { path: { webhook_id: id } }, signal })),
    refetchInterval: HEALTH_MS,
  })

/** The first 2,000 webhooks by name, and how many there are. */
export const webhooksQuery = queryOptions({
  queryKey: ['webhooks', 'list'],
  refetchInterval: HEALTH_MS,
  queryFn: async ({ signal }) => {
    const webhooks: Webhook[] = []
    for (let page = 1; page <= MAX_PAGES; page++) {
      const query = { page, size: PAGE_SIZE }
      const { content, last, totalElements } = await answer(
        client.GET('/webhooks', { params: { query }, signal }),
      )
      webhooks.push(...content)
      if (last || page === MAX_PAGES) return { webhooks, total: totalElements }
    }
    return { webhooks, total: webhooks.length }
  },
})

/** The event types that webhooks can subscribe to. They change with a release only. */
export const eventTypesQuery = queryOptions({
  queryKey: ['webhooks', 'eventTypes'],
  queryFn: ({ signal }) => answer(client.GET('/webhooks/eventTypes', { signal })),
  staleTime: CATALOGUE_MS,
})
