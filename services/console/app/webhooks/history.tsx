import { Button, Code, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'
import { Changes, remarkable } from '../parts/changes.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Empty, Loading } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'

const PAGE_SIZE = 20

const OPERATIONS: Readonly<Record<string, string>> = {
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
      const params = { path: { webhook_id: webhookId }, query: { page, size: PAGE_SIZE } }
      return answer(client.GET('/webhooks/{webhook_id}/history', { params, signal }))
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
export function WebhookHistory({ webhookId }: { webhookId: string }) {
  const history = useHistory(webhookId)
  if (history.isPending) return <Loading what="the history" />
  const entries = history.data?.pages.flatMap(({ content }) => content) ?? []
  return (
    <Stack>
      {history.isError && (
        <ProblemPanel
          what="The history cannot be shown"
          error={history.error}
          onRetry={() => history.refetch()}
        />
      )}
      {history.isSuccess && entries.length === 0 && (
        <Empty title="No changes yet">A change appears here within seconds.</Empty>
      )}
      {entries.map(entry => (
        <Entry key={entry.id} entry={entry} />
      ))}
      {history.hasNextPage && (
        <Group>
          <Button
            variant="default"
            loading={history.isFetchingNextPage}
            onClick={() => history.fetchNextPage()}
          >
            Show earlier changes
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function Entry({ entry }: { entry: Schemas['HistoryEntry'] }) {
  const changes = entry.operation === 'WEBHOOK_DELETED' ? [] : remarkable(entry.changes)
  const what = OPERATIONS[entry.operation] ?? entry.operation
  return (
    <Paper withBorder p="md" component="article" aria-label={what}>
      <Stack gap="xs">
        <Group justify="space-between" gap="xs">
          <Text fw={600}>{what}</Text>
          <Text size="sm" c="dimmed">
            {entry.who && `${entry.who.displayName ?? entry.who.username ?? 'An unknown user'}, `}
            <Time at={entry.timestamp} />
          </Text>
        </Group>
        {changes.length > 0 && <Changes changes={changes} />}
        <Text size="xs" c="dimmed">
          Request id <Code>{entry.requestId}</Code>
        </Text>
      </Stack>
    </Paper>
  )
}
