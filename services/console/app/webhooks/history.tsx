import { Badge, Button, Code, Group, Paper, Stack, Table, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Empty, Loading } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { FIELD_LABELS } from './draft.ts'

const PAGE_SIZE = 20

const OPERATIONS: Readonly<Record<string, string>> = {
  WEBHOOK_CREATED: 'Created',
  WEBHOOK_UPDATED: 'Changed',
  WEBHOOK_DELETED: 'Deleted',
  WEBHOOK_SECRET_ROTATED: 'Secret rotated',
  WEBHOOK_DISABLED: 'Made inactive by the service',
  WEBHOOK_TRANSFERRED: 'Transferred to another owner',
}

/** The changes of a webhook with their differences, newest first. Also those of a deleted one. */
export function WebhookHistory({ webhookId }: { webhookId: string }) {
  const history = useInfiniteQuery({
    queryKey: ['webhooks', 'history', webhookId],
    initialPageParam: 1,
    getNextPageParam: (last: Schemas['HistoryPage']) => (last.last ? undefined : last.number + 1),
    queryFn: ({ pageParam: page, signal }) => {
      const params = { path: { webhook_id: webhookId }, query: { page, size: PAGE_SIZE } }
      return answer(client.GET('/webhooks/{webhook_id}/history', { params, signal }))
    },
  })
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

type Change = Schemas['PatchOperation']

function Entry({ entry }: { entry: Schemas['HistoryEntry'] }) {
  const changes = entry.changes.filter(({ path }) => fieldOf(path) in FIELD_LABELS)
  const what = OPERATIONS[entry.operation] ?? entry.operation
  return (
    <Paper withBorder p="md" component="article" aria-label={what}>
      <Group justify="space-between" gap="xs">
        <Text fw={600}>{what}</Text>
        <Text size="sm" c="dimmed">
          {entry.who && `${entry.who.displayName ?? entry.who.username ?? 'An unknown user'}, `}
          <Time at={entry.timestamp} />
        </Text>
      </Group>
      {changes.length > 0 && entry.operation !== 'WEBHOOK_DELETED' && (
        <Table.ScrollContainer minWidth={480} mt="xs">
          <Table aria-label={`Differences: ${what}`} layout="fixed">
            <Table.Thead>
              <Table.Tr>
                <Table.Th w="24%">Field</Table.Th>
                <Table.Th>Before</Table.Th>
                <Table.Th>After</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {changes.map(change => (
                <Table.Tr key={change.path}>
                  <Table.Th scope="row">{FIELD_LABELS[fieldOf(change.path)]}</Table.Th>
                  <Value value={change.before} other={change.value} kind="before" />
                  <Value value={change.value} other={change.before} kind="after" />
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <Text size="xs" c="dimmed" mt="xs">
        Request id <Code>{entry.requestId}</Code>
      </Text>
    </Paper>
  )
}

const fieldOf = (path: Change['path']): string => path.split('/')[1] ?? ''

interface ValueProps {
  value: unknown
  /** The value on the other side of the change. */
  other: unknown
  kind: 'before' | 'after'
}

/** A value of a field. Items of a list that only this side has are marked. */
function Value({ value, other, kind }: ValueProps) {
  if (!Array.isArray(value)) return <Table.Td style={{ overflowWrap: 'anywhere' }}>{textOf(value)}</Table.Td>
  const others: readonly unknown[] = Array.isArray(other) ? other : []
  return (
    <Table.Td>
      <Group gap={4}>
        {value.map(String).map(item => (
          <Badge
            key={item}
            tt="none"
            fw={500}
            ff="monospace"
            variant={others.includes(item) ? 'default' : 'outline'}
            {...(!others.includes(item) && { color: kind === 'before' ? 'red' : 'teal' })}
          >
            {!others.includes(item) && (kind === 'before' ? '− ' : '+ ')}
            {item}
          </Badge>
        ))}
      </Group>
    </Table.Td>
  )
}

function textOf(value: unknown): string {
  if (value === undefined || value === null || value === '') return '–'
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
