import '../more-styles.ts'
import { Box, Button, Group, NativeSelect, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useAllowed } from '../http/session.ts'
import { webhooksQuery } from '../parts/all-webhooks.ts'
import { EmptyPage } from '../parts/empty-page.tsx'
import { ButtonLink } from '../parts/links.tsx'
import { Pages } from '../parts/pagination.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Empty, Loading } from '../parts/states.tsx'
import { TextSearch } from '../parts/text-search.tsx'
import { STATES, type WebhookState } from '../parts/webhook-state.tsx'
import { WebhookRows } from './list-rows.tsx'
import { useWebhookTable } from './list-table.tsx'
import { readWebhooksSearch } from './search.ts'
import { HEALTH_MS, type Webhook } from './webhook-queries.ts'

const route = getRouteApi('/inside/webhooks')

/** The webhooks with their health. */
export function WebhooksPage() {
  const list = useQuery({ ...webhooksQuery, refetchInterval: HEALTH_MS })
  const mayChange = useAllowed('WEBHOOKS_WRITE')
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Webhooks
        </Title>
        {mayChange && <CreationLink />}
      </Group>
      {list.isPending && <Loading what="the webhooks" />}
      {list.isError && (
        <ProblemPanel
          what="The webhooks cannot be listed"
          error={list.error}
          onRetry={() => list.refetch()}
        />
      )}
      {list.data?.webhooks.length === 0 && <Guidance />}
      {list.data && list.data.webhooks.length > 0 && <FilteredList webhooks={list.data.webhooks} />}
      {list.data && list.data.total > list.data.webhooks.length && (
        <Text size="sm">
          These are the first {list.data.webhooks.length} of {list.data.total} webhooks by name. The filters
          apply to these.
        </Text>
      )}
    </Stack>
  )
}

const CreationLink = () => <ButtonLink to="/webhooks/new">Create webhook</ButtonLink>

function Guidance() {
  const mayChange = useAllowed('WEBHOOKS_WRITE')
  return (
    <Empty title="No webhooks yet">
      <Stack align="center" maw={520}>
        <Text inherit>
          A webhook sends a signed HTTP request to a URL of yours whenever something happens: an API is
          created, changed or deployed, a subscription begins, a configuration changes. Failed deliveries are
          repeated, and everything that was sent can be looked up here.
        </Text>
        {mayChange ? <CreationLink /> : <Text inherit>Your role does not allow creating one.</Text>}
      </Stack>
    </Empty>
  )
}

function FilteredList({ webhooks }: { webhooks: readonly Webhook[] }) {
  // The router also passes on what the route has left out.
  const search = readWebhooksSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const table = useWebhookTable(webhooks, search, (sort, descending) =>
    navigate({
      search: ({ page: _, sort: __, descending: ___, ...rest }) => ({
        ...rest,
        ...(sort !== 'name' && { sort }),
        ...(descending && { descending }),
      }),
      replace: true,
    }),
  )
  const counts = table.getColumn('state')?.getFacetedUniqueValues()
  const found = table.getFilteredRowModel().rows.length
  const states = Object.entries(STATES).map(([value, { label }]) => ({
    value,
    label: `${label} (${counts?.get(value) ?? 0})`,
  }))
  const filter = (changes: { search?: string | undefined; state?: WebhookState | undefined }) =>
    navigate({ search: ({ page: _, ...previous }) => ({ ...previous, ...changes }), replace: true })
  const byState = (value: string) => filter({ state: value === 'all' ? undefined : (value as WebhookState) })
  const choices = [{ value: 'all', label: 'All' }, ...states]
  return (
    <>
      <Group align="flex-end">
        <Box w={{ base: '100%', sm: 280 }}>
          <TextSearch
            label="Search webhooks"
            placeholder="Name, URL or event type"
            value={search.search}
            onChange={text => filter({ search: text })}
          />
        </Box>
        <SegmentedControl
          aria-label="State"
          value={search.state ?? 'all'}
          onChange={byState}
          data={choices}
          visibleFrom="md"
        />
        <NativeSelect
          aria-label="State"
          value={search.state ?? 'all'}
          onChange={event => byState(event.currentTarget.value)}
          data={choices}
          hiddenFrom="md"
        />
      </Group>
      <Text size="sm" role="status">
        {found === 1 ? '1 webhook' : `${found} webhooks`}
      </Text>
      {found === 0 ? (
        <Empty title="No webhook matches">
          <Button variant="default" onClick={() => navigate({ search: {} })}>
            Show all webhooks
          </Button>
        </Empty>
      ) : table.getRowModel().rows.length === 0 ? (
        <EmptyPage
          onFirst={() => navigate({ search: ({ page: _, ...previous }) => previous, replace: true })}
        />
      ) : (
        <WebhookRows table={table} />
      )}
      <Pages
        what="webhooks"
        page={{
          number: table.state.pagination.pageIndex + 1,
          totalPages: table.getPageCount(),
          totalElements: found,
        }}
        onPage={page => navigate({ search: previous => ({ ...previous, page }) })}
      />
    </>
  )
}
