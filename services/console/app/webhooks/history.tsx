import { Stack, Title } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'
import { HistoryList } from '../parts/history-list.tsx'
import { LABELS } from './draft.ts'

const PAGE_SIZE = 20

const TITLES: Readonly<Record<string, string>> = {
  WEBHOOK_CREATED: 'Created',
  WEBHOOK_UPDATED: 'Changed',
  WEBHOOK_DELETED: 'Deleted',
  WEBHOOK_SECRET_ROTATED: 'Secret rotated',
  WEBHOOK_DISABLED: 'Made inactive by the service',
  WEBHOOK_TRANSFERRED: 'Transferred to another owner',
}

const useHistory = (webhookId: string) =>
  useInfiniteQuery({
    queryKey: ['webhooks', 'history', webhookId],
    initialPageParam: 1,
    getNextPageParam: (last: Schemas['HistoryPage']) => (last.last ? undefined : last.number + 1),
    queryFn: ({ pageParam: page, signal }) => {
      return answer(client.getWebhookHistory({ webhook_id: webhookId, page, size: PAGE_SIZE }, { signal }))
    },
  })

/** The history of a deleted webhook; nothing if there never was one. */
export function DeletedHistory({ webhookId }: { webhookId: string }) {
  if (!useHistory(webhookId).isSuccess) return null
  return (
    <Stack>
      <Title order={2} size="h4">
        Its history
      </Title>
      <WebhookHistory webhookId={webhookId} />
    </Stack>
  )
}

/** The changes of a webhook with their differences, newest first. */
export const WebhookHistory = ({ webhookId }: { webhookId: string }) => (
  <HistoryList
    history={useHistory(webhookId)}
    titleOf={({ operation }) => TITLES[operation] ?? operation}
    labels={LABELS}
  />
)
