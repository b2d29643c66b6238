import { Box, Group, Progress, Stack, Text } from '@mantine/core'
import {
  columnFacetingFeature,
  columnFilteringFeature,
  createColumnHelper,
  createFacetedRowModel,
  createFacetedUniqueValues,
  createFilteredRowModel,
  createPaginatedRowModel,
  createSortedRowModel,
  filterFn_equals,
  type Row,
  rowPaginationFeature,
  rowSortingFeature,
  sortFn_basic,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { useMemo } from 'react'
import { AnchorLink } from '../parts/links.tsx'
import { toneOf } from '../parts/state-badge.tsx'
import { Time } from '../parts/time.tsx'
import { rateText, STATES, stateOf, WebhookStateBadge } from '../parts/webhook-state.tsx'
import { latencyText } from './health.tsx'
import type { WebhookSort, WebhooksSearch } from './search.ts'
import type { Webhook } from './webhook-queries.ts'

/** Rows of a page of the list. */
const ROWS = 50
const ORDER = Object.keys(STATES)

const features = tableFeatures({
  columnFilteringFeature,
  filteredRowModel: createFilteredRowModel(),
  columnFacetingFeature,
  facetedRowModel: createFacetedRowModel(),
  facetedUniqueValues: createFacetedUniqueValues(),
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  rowPaginationFeature,
  paginatedRowModel: createPaginatedRowModel(),
})
type Features = typeof features

const { accessor, columns } = createColumnHelper<Features, Webhook>()

/** A column of values that some webhooks lack. These come last in both directions. */
const OPTIONAL = { sortFn: sortFn_basic, sortUndefined: 'last' } as const

/** The columns, of which the ids are the sorts in the URL. */
const COLUMNS = columns([
  accessor(({ displayName }) => displayName.toLowerCase(), {
    id: 'name' satisfies WebhookSort,
    header: 'Webhook',
    sortFn: sortFn_basic,
    filterFn: hasWords,
    cell: ({ row: { original } }) => <Name webhook={original} />,
  }),
  accessor(stateOf, {
    id: 'state' satisfies WebhookSort,
    header: 'State',
    sortFn: (left, right) => ORDER.indexOf(stateOf(left.original)) - ORDER.indexOf(stateOf(right.original)),
    filterFn: filterFn_equals,
    cell: ({ row: { original } }) => <WebhookStateBadge webhook={original} />,
  }),
  accessor(({ health }) => health?.successRate ?? undefined, {
    id: 'successRate' satisfies WebhookSort,
    header: 'Success rate',
    ...OPTIONAL,
    cell: ({ getValue }) => <Rate rate={getValue()} />,
  }),
  accessor(({ health }) => health?.p95LatencyMs ?? undefined, {
    id: 'p95' satisfies WebhookSort,
    header: 'Time (p95)',
    ...OPTIONAL,
    cell: ({ getValue }) => latencyText(getValue()),
  }),
  accessor(({ health }) => health?.failingSince ?? undefined, {
    id: 'failingSince' satisfies WebhookSort,
    header: 'Failing since',
    ...OPTIONAL,
    cell: ({ getValue }) => <Since time={getValue()} />,
  }),
  accessor('updatedAt', {
    id: 'updatedAt' satisfies WebhookSort,
    header: 'Changed',
    sortFn: sortFn_basic,
    cell: ({ getValue }) => <Time at={getValue()} />,
  }),
])

export type WebhookTable = ReturnType<typeof useWebhookTable>

/**
 * The table of webhooks in the state of the URL.
 * @param onSort called with the order that a header asks for
 */
export function useWebhookTable(
  webhooks: readonly Webhook[],
  { search: text, state, sort = 'name', descending, page = 1 }: WebhooksSearch,
  onSort: (sort: WebhookSort, descending: boolean) => void,
) {
  // Table reads the rows again when one of these is another object.
  const sorting = useMemo(() => [{ id: sort, desc: descending === true }], [sort, descending])
  const columnFilters = useMemo(
    () => Object.entries({ name: text, state }).flatMap(([id, value]) => (value ? [{ id, value }] : [])),
    [text, state],
  )
  const pagination = useMemo(() => ({ pageIndex: page - 1, pageSize: ROWS }), [page])
  return useTable({
    features,
    columns: COLUMNS,
    data: webhooks,
    getRowId: ({ id }) => id,
    enableSortingRemoval: false,
    sortDescFirst: false,
    enableMultiSort: false,
    autoResetPageIndex: false,
    state: { sorting, columnFilters, pagination },
    onSortingChange: change => {
      const [first] = typeof change === 'function' ? change(sorting) : change
      if (first) onSort(first.id as WebhookSort, first.desc)
    },
  })
}

/** Whether a webhook has all words in its names, its URL and its event types together. */
function hasWords({ original }: Row<Features, Webhook>, _column: string, text: string): boolean {
  const { displayName, name, url, eventTypes } = original
  const found = [displayName, name, url, ...eventTypes].join(' ').toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every(word => found.includes(word))
}

function Name({ webhook }: { webhook: Webhook }) {
  return (
    <Box maw={{ base: '84vw', sm: 360 }} style={{ whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
      <AnchorLink to="/webhooks/$webhookId" params={{ webhookId: webhook.id }} fw={500}>
        {webhook.displayName}
      </AnchorLink>
      <Text size="xs" c="dimmed" truncate title={webhook.url}>
        {webhook.url}
      </Text>
      <Group gap="xs" hiddenFrom="sm">
        <WebhookStateBadge webhook={webhook} />
        {webhook.active && webhook.health?.failingSince && (
          <Text size="xs">
            Since <Time at={webhook.health.failingSince} />
          </Text>
        )}
      </Group>
    </Box>
  )
}

function Rate({ rate }: { rate: number | undefined }) {
  return (
    <Stack gap={4} maw={110}>
      <Text size="sm">{rateText(rate)}</Text>
      {rate !== undefined && (
        <Progress value={rate * 100} size={4} color={toneOf(rate >= 0.95 ? 'teal' : 'red')} aria-hidden />
      )}
    </Stack>
  )
}

const Since = ({ time }: { time: string | undefined }) => (time === undefined ? '–' : <Time at={time} />)
