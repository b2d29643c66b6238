import { AnchorLink } from '../../parts/links.tsx'
import '../../more-styles.ts'
import { Checkbox, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useAllowed } from '../../http/session.ts'
import { ApiName } from '../../parts/api-name.tsx'
import { EmptyPage, isBeyondEnd } from '../../parts/empty-page.tsx'
import { secondOf } from '../../parts/local-time.ts'
import { Pages } from '../../parts/pagination.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { OPENS_ITS_LINK } from '../../parts/row-click.ts'
import { Empty, Loading } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { Countdown } from './countdown.tsx'
import { type Delivery, deliveriesQuery, mayBeRetried, type Pause, usePauses } from './delivery-queries.ts'
import { lastFault } from './faults.ts'
import { Filters } from './filters.tsx'
import { Outcomes } from './outcomes.tsx'
import { namedApi } from './payload.ts'
import { RetryBar } from './retry-bar.tsx'
import { type DeliverySearch, FILTERS, readDeliverySearch } from './search.ts'
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
  const [retried, setRetried] = useState<readonly Delivery[]>([])
  return (
    <Stack>
      <Filters search={search} byWebhook={webhookId === undefined} onChange={change}>
        {list.data && (
          <Text size="sm" role="status">
            {list.data.totalElements.toLocaleString('en')}{' '}
            {list.data.totalElements === 1 ? 'delivery' : 'deliveries'}
          </Text>
        )}
      </Filters>
      {list.isPending && <Loading what="the deliveries" />}
      {list.isError && (
        <ProblemPanel
          what="The deliveries cannot be listed"
          error={list.error}
          onRetry={() => list.refetch()}
        />
      )}
      {retried.length > 0 && <Outcomes started={retried} onClose={() => setRetried([])} />}
      {list.data?.totalElements === 0 && <NoDeliveries isFiltered={isFiltered} />}
      {list.data && isBeyondEnd(list.data) && <EmptyPage onFirst={() => change({})} />}
      {list.data && list.data.content.length > 0 && (
        <>
          <DeliveryTable
            deliveries={list.data.content}
            list={webhookId === undefined ? search : undefined}
            onRetried={setRetried}
          />
          <Pages
            what="deliveries"
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

interface DeliveryTableProps {
  deliveries: Delivery[]
  /** The list of all deliveries; absent for that of a webhook. */
  list: DeliverySearch | undefined
  onRetried: (started: readonly Delivery[]) => void
}

function DeliveryTable({ deliveries, list, onRetried }: DeliveryTableProps) {
  const { selected, toggle, choose } = useSelected(deliveries)
  const pauses = usePauses(deliveries)
  const selects = useAllowed('WEBHOOKS_WRITE')
  const retriable = deliveries.filter(mayBeRetried)
  return (
    <>
      {selects && (
        <RetryBar retriable={retriable} selected={selected} onChoose={choose} onStarted={onRetried} />
      )}
      <Table.ScrollContainer minWidth={0}>
        <Table highlightOnHover verticalSpacing="xs" fz="sm">
          <Table.Thead>
            <Table.Tr>
              {selects && (
                <Table.Th w={30}>
                  <VisuallyHidden>Selected</VisuallyHidden>
                </Table.Th>
              )}
              <Table.Th miw={{ md: 160 }}>Event type</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th visibleFrom="md" miw={{ md: 140 }}>
                API
              </Table.Th>
              {list && <Table.Th visibleFrom="sm">Webhook</Table.Th>}
              <Table.Th visibleFrom="lg">Last result</Table.Th>
              <Table.Th visibleFrom="sm" style={{ whiteSpace: 'nowrap' }}>
                Next attempt
              </Table.Th>
              <Table.Th visibleFrom="sm">Created</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {deliveries.map(delivery => (
              <Table.Tr key={delivery.id} {...OPENS_ITS_LINK}>
                {selects && (
                  <Table.Td>
                    {mayBeRetried(delivery) && (
                      <Checkbox
                        aria-label={`Select ${delivery.eventType} ${delivery.id}`}
                        checked={selected.some(({ id }) => id === delivery.id)}
                        onChange={() => toggle(delivery.id)}
                      />
                    )}
                  </Table.Td>
                )}
                <DeliveryCells delivery={delivery} pause={pauses.get(delivery.id)} list={list} />
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  )
}

/** The selected deliveries of a page, as far as they can still be retried. */
function useSelected(deliveries: readonly Delivery[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  return {
    selected: deliveries.filter(delivery => ids.has(delivery.id) && mayBeRetried(delivery)),
    toggle: (id: string) =>
      setIds(new Set(ids.has(id) ? [...ids].filter(other => other !== id) : [...ids, id])),
    choose: (chosen: readonly Delivery[]) => setIds(new Set(chosen.map(({ id }) => id))),
  }
}

interface DeliveryCellsProps extends Pick<DeliveryTableProps, 'list'> {
  delivery: Delivery
  pause: Pause | undefined
}

function DeliveryCells({ delivery, pause, list }: DeliveryCellsProps) {
  const { id, webhook, eventId, eventType, nextAttemptAt, waitsFor, createdAt } = delivery
  const api = namedApi(delivery)
  const result = lastResult(delivery)
  const name = api && (api.name ?? <ApiName id={api.id} />)
  return (
    <>
      <Table.Td>
        <AnchorLink
          to="/webhooks/$webhookId/deliveries/$deliveryId"
          params={{ webhookId: webhook, deliveryId: id }}
          search={{ eventId }}
          state={list ? { deliveries: list } : {}}
          inherit
        >
          <TypeName name={eventType} />
        </AnchorLink>
        <Text size="xs" hiddenFrom="md" style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        {list && (
          <Text size="xs" component="div" hiddenFrom="sm">
            <WebhookLink id={webhook} />
          </Text>
        )}
        {result && (
          <Text size="xs" hiddenFrom="lg">
            {result}
          </Text>
        )}
        <Text size="xs" hiddenFrom="sm">
          <Time at={createdAt} />
        </Text>
      </Table.Td>
      <Table.Td>
        <StatusBadge delivery={delivery} />
        {pause && (
          <Text size="xs" hiddenFrom="sm">
            Paused
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="md" style={{ overflowWrap: 'break-word' }}>
        {api ? (
          <AnchorLink to="/apis/$apiId" params={{ apiId: api.id }} inherit>
            {name}
          </AnchorLink>
        ) : (
          '–'
        )}
      </Table.Td>
      {list && (
        <Table.Td visibleFrom="sm">
          <WebhookLink id={webhook} />
        </Table.Td>
      )}
      <Table.Td visibleFrom="lg">{result ?? '–'}</Table.Td>
      <Table.Td visibleFrom="sm">
        {pause ? (
          <>
            Paused: after the next probe, <Countdown to={pause.until} past="soon" />
          </>
        ) : nextAttemptAt ? (
          <Countdown to={nextAttemptAt} />
        ) : waitsFor ? (
          'After an earlier delivery'
        ) : (
          '–'
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm" style={{ whiteSpace: 'nowrap' }}>
        <Time at={createdAt} />
        <Text size="xs" c="dimmed">
          {secondOf(createdAt)}
        </Text>
      </Table.Td>
    </>
  )
}

/** The result of the last finished attempt as text; undefined without one. */
function lastResult(delivery: Delivery): string | undefined {
  const { attempts, responseStatus } = delivery
  if (attempts === 0) return undefined
  return (
    lastFault(delivery)?.said ?? (responseStatus === null ? undefined : `Answered with ${responseStatus}`)
  )
}
