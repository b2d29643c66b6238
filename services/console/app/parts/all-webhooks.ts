import { queryOptions } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'

const PAGE_SIZE = 100
/** The filters are applied here, because the service cannot filter by name or health. */
const MAX_PAGES = 20

/** The first 2,000 webhooks by name, and how many there are. */
export const webhooksQuery = queryOptions({
  queryKey: ['webhooks', 'list'],
  queryFn: async ({ signal }) => {
    const webhooks: Schemas['Webhook'][] = []
    for (let page = 1; ; page++) {
      const query = { page, size: PAGE_SIZE }
      const { content, last, totalElements } = await answer(client.listWebhooks(query, { signal }))
      webhooks.push(...content)
      if (last || page === MAX_PAGES) return { webhooks, total: totalElements }
    }
  },
})
