import '../more-styles.ts'
import { Anchor, Button, Group, Stack, Table, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useAllowed } from '../http/session.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Loading } from '../parts/states.tsx'
import { latencyText, rateText, StateBadge } from './health.tsx'
import { webhooksQuery } from './webhook-queries.ts'

/** The webhooks with their health. */
export function WebhooksPage() {
  const list = useQuery(webhooksQuery)
  const mayChange = useAllowed('WEBHOOKS_WRITE')
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Webhooks
        </Title>
        {mayChange && (
          <Button renderRoot={props => <Link to="/webhooks/new" {...props} />}>New webhook</Button>
        )}
      </Group>
      {list.isPending && <Loading what="the webhooks" />}
      {list.isError && (
        <ProblemPanel
          what="The webhooks cannot be listed"
          error={list.error}
          onRetry={() => list.refetch()}
        />
      )}
      <Table>
        <Table.Tbody>
          {list.data?.webhooks.map(webhook => (
            <Table.Tr key={webhook.id}>
              <Table.Td>
                <Anchor component={Link} to="/webhooks/$webhookId" params={{ webhookId: webhook.id }}>
                  {webhook.displayName}
                </Anchor>
              </Table.Td>
              <Table.Td>
                <StateBadge webhook={webhook} />
              </Table.Td>
              <Table.Td>{rateText(webhook.health?.successRate)}</Table.Td>
              <Table.Td>{latencyText(webhook.health?.p95LatencyMs)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  )
}
