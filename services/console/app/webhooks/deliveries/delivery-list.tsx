import { AnchorLink } from '../../parts/links.tsx'
import '../../more-styles.ts'
import { Stack, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { EmptyPage, isBeyondEnd } from '../../parts/empty-page.tsx'
import { Pages } from '../../parts/pagination.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Empty, Loading } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { Countdown } from './countdown.tsx'
import { type Delivery, deliveriesQuery } from './delivery-queries.ts'
import { faultOf } from './faults.ts'
import { Filters } from './filters.tsx'
import { FILTERS, readDeliverySearch } from './search.ts'
import { StatusBadge } from './status-badge.tsx'
import { TypeName } from './type-name.tsx'
import { WebhookLink } from './webhook-link.tsx'

/** The deliveries of a webhook, or of all webhooks. The filters are in the URL of the page that shows the list. */
export function DeliveryList({ webhookId }: { webhookId?: string }) {
  const search = readDeliverySearch(useSearch({ strict: false }))
  const navigate = useNavigate()
  const list = useQuery(deliveriesQuery(webhookId, search))
  const change = (changes: object) =>
    navigate({
      to: '.',
      search: (before: object) => ({ ...before, page: undefined, ...changes }),
      replace: true,
    })
  const isFiltered = FILTERS.some(name => search[name] !== undefined)
  return (
    <Stack>
      <Filters search={search} onChange={change} />
      {list.isPending && <Loading what="the deliveries" />}
      {list.isError && (
        <ProblemPanel
          what="The deliveries cannot be listed"
          error={list.error}
          onRetry={() => list.refetch()}
        />
      )}
      {list.data?.totalElements === 0 && <NoDeliveries isFiltered={isFiltered} />}
      {list.data && isBeyondEnd(list.data) && <EmptyPage onFirst={() => change({})} />}
      {list.data && list.data.content.length > 0 && (
        <>
          <DeliveryTable deliveries={list.data.content} showsWebhook={webhookId === undefined} />
          <Pages
            what="deliveries"
            one="delivery"
            page={list.data}
            onPage={page => change({ page: page > 1 ? page : undefined })}
          />
        </>
      )}
    </Stack>
  )
}

function NoDeliveries({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="No delivery matches">Change or remove the filters.</Empty>
  ) : (
    <Empty title="There are no deliveries yet">
      A delivery is made when an event happens that an active webhook subscribes to.
    </Empty>
  )
}

function DeliveryTable({ deliveries, showsWebhook }: { deliveries: Delivery[]; showsWebhook: boolean }) {
  return (
    <Table.ScrollContainer minWidth={0}>
      <Table highlightOnHover verticalSpacing="xs" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Event type</Table.Th>
            <Table.Th>Status</Table.Th>
            {showsWebhook && <Table.Th visibleFrom="sm">Webhook</Table.Th>}
            <Table.Th visibleFrom="md">Attempts</Table.Th>
            <Table.Th visibleFrom="lg">Last result</Table.Th>
            <Table.Th visibleFrom="sm" style={{ whiteSpace: 'nowrap' }}>
              Next attempt
            </Table.Th>
            <Table.Th>Created</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {deliveries.map(delivery => (
            <DeliveryRow key={delivery.id} delivery={delivery} showsWebhook={showsWebhook} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function DeliveryRow({ delivery, showsWebhook }: { delivery: Delivery; showsWebhook: boolean }) {
  const { id, webhook, eventId, eventType, attempts, nextAttemptAt, waitsFor, createdAt } = delivery
  return (
    <Table.Tr>
      <Table.Td>
        <AnchorLink
          to="/webhooks/$webhookId/deliveries/$deliveryId"
          params={{ webhookId: webhook, deliveryId: id }}
          search={{ eventId }}
          inherit
        >
          <TypeName name={eventType} />
        </AnchorLink>
      </Table.Td>
      <Table.Td>
        <StatusBadge delivery={delivery} />
      </Table.Td>
      {showsWebhook && (
        <Table.Td visibleFrom="sm">
          <WebhookLink id={webhook} />
        </Table.Td>
      )}
      <Table.Td visibleFrom="md">{attempts}</Table.Td>
      <Table.Td visibleFrom="lg">{lastResult(delivery)}</Table.Td>
      <Table.Td visibleFrom="sm">
        {nextAttemptAt ? <Countdown to={nextAttemptAt} /> : waitsFor ? 'After an earlier delivery' : '–'}
      </Table.Td>
      <Table.Td>
        <Time at={createdAt} />
      </Table.Td>
    </Table.Tr>
  )
}

/** The result of the last finished attempt as text. */
function lastResult({ attemptLog }: Delivery): string {
  const last = attemptLog.findLast(({ durationMs, error }) => durationMs !== null || error !== null)
  if (!last) return '–'
  return faultOf(last)?.said ?? `Answered with ${last.responseStatus}`
}
