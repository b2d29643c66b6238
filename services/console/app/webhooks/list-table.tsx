import { Progress, Stack, Table, Text, UnstyledButton } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { AnchorLink } from '../parts/links.tsx'
import { Time } from '../parts/time.tsx'
import { latencyText, rateText, StateBadge } from './health.tsx'
import { readWebhooksSearch, type WebhooksSearch } from './search.ts'
import type { Webhook } from './webhook-queries.ts'

const route = getRouteApi('/inside/webhooks')

/** A page of the list, with buttons in the header that sort it. */
export function WebhookTable({ webhooks }: { webhooks: readonly Webhook[] }) {
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table highlightOnHover verticalSpacing="xs" aria-label="Webhooks">
        <Table.Thead>
          <Table.Tr>
            <SortHeader column="name">Webhook</SortHeader>
            <SortHeader column="state">State</SortHeader>
            <SortHeader column="successRate">Success rate</SortHeader>
            <SortHeader column="p95">p95</SortHeader>
            <SortHeader column="failingSince">Failing since</SortHeader>
            <SortHeader column="updatedAt">Changed</SortHeader>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {webhooks.map(webhook => (
            <Row key={webhook.id} webhook={webhook} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

interface SortHeaderProps {
  column: NonNullable<WebhooksSearch['sort']>
  children: ReactNode
}

function SortHeader({ column, children }: SortHeaderProps) {
  // The router also passes on what the route has left out.
  const search = readWebhooksSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const sorted = (search.sort ?? 'name') === column
  const direction = search.descending ? 'descending' : 'ascending'
  const sort = () =>
    navigate({
      search: ({ page: _, sort: __, descending, ...rest }) => ({
        ...rest,
        ...(column !== 'name' && { sort: column }),
        ...(sorted && !descending && { descending: true as const }),
      }),
      replace: true,
    })
  return (
    <Table.Th aria-sort={sorted ? direction : 'none'}>
      <UnstyledButton onClick={sort} fz="sm" fw={600}>
        {children}{' '}
        <Text span inherit aria-hidden>
          {sorted ? (search.descending ? '↓' : '↑') : ''}
        </Text>
      </UnstyledButton>
    </Table.Th>
  )
}

function Row({ webhook }: { webhook: Webhook }) {
  const { health } = webhook
  const rate = health?.successRate
  return (
    <Table.Tr>
      <Table.Td maw={360}>
        <AnchorLink to="/webhooks/$webhookId" params={{ webhookId: webhook.id }} fw={500}>
          {webhook.displayName}
        </AnchorLink>
        <Text size="xs" c="dimmed" truncate title={webhook.url}>
          {webhook.url}
        </Text>
      </Table.Td>
      <Table.Td>
        <StateBadge webhook={webhook} />
      </Table.Td>
      <Table.Td>
        <Stack gap={4} maw={110}>
          <Text size="sm">{rateText(rate)}</Text>
          {rate != null && (
            <Progress value={rate * 100} size={4} color={rate >= 0.95 ? 'teal' : 'red'} aria-hidden />
          )}
        </Stack>
      </Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>{latencyText(health?.p95LatencyMs)}</Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        {health?.failingSince ? <Time at={health.failingSince} /> : '–'}
      </Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <Time at={webhook.updatedAt} />
      </Table.Td>
    </Table.Tr>
  )
}
