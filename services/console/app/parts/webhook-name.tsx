import { useQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import { useAllowed } from '../http/session.ts'

const NAMES_MS = 60_000

/** The display name of a webhook; its id if it was deleted, or for a session that may not read webhooks. */
export function WebhookName({ id }: { id: string }) {
  const { data } = useQuery({
    queryKey: ['webhooks', 'name-of', id],
    enabled: useAllowed('WEBHOOKS_READ'),
    retry: false,
    staleTime: NAMES_MS,
    queryFn: ({ signal }) => answer(client.getWebhook({ webhook_id: id }, { signal })),
  })
  return data?.displayName ?? id
}
