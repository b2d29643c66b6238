import { queryOptions } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import { asProblem } from '../http/problem.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'

const PAGE_SIZE = 100
/** The filters are applied here, because the service cannot filter by name or health. */
const MAX_PAGES = 20
const NAMES_MS = 60_000

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

/** A deleted webhook with its last name; null if the webhook exists, or never did. No request of it fails. */
export const deletedWebhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'deleted', id],
    staleTime: NAMES_MS,
    queryFn: async ({ signal }) => {
      const { webhooks } = await queries.fetchQuery({ ...webhooksQuery, staleTime: NAMES_MS })
      if (webhooks.some(webhook => webhook.id === id)) return null
      const query = { webhook_id: id, size: 1 }
      const { content } = await answer(client.getWebhookHistory(query, { signal })).catch(unlessMissing)
      const [latest] = content
      if (latest?.operation !== 'WEBHOOK_DELETED') return null
      const name = latest.changes.find(({ path }) => path === '/displayName')?.before
      return { displayName: typeof name === 'string' ? name : id }
    },
  })

function unlessMissing(error: unknown): Pick<Schemas['HistoryPage'], 'content'> {
  if (asProblem(error).status === 404) return { content: [] }
  throw error
}
