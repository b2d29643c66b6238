import { keepPreviousData, queryOptions, useQueries } from '@tanstack/react-query'
import { answer, client } from '../../http/client.ts'
import { asProblem } from '../../http/problem.ts'
import { queries } from '../../http/queries.ts'
import type { Query, Schemas, Sort } from '../../http/schemas.ts'
import { deletedWebhookQuery } from '../../parts/all-webhooks.ts'
import { apisNamed } from '../../parts/apis-named.ts'
import type { DeliverySearch } from './search.ts'

export type Delivery = Schemas['Delivery']

const PAGE_SIZE = 25
/** The largest page of the REST interface. */
const LARGEST = 100
const QUICK_MS = 1_000
const SLOW_MS = 10_000
const CATALOGUE_MS = 60 * 60_000
const NAMES_MS = 60_000
const PAUSES_MS = 5_000
/** Deliveries of a resource that wait in front of another one are read one after the other. */
const MAX_AHEAD = 20

export const isPending = ({ status }: Pick<Delivery, 'status'>) =>
  status === 'CREATED' || status === 'RETRYING'

export const mayBeRetried = ({ status }: Pick<Delivery, 'status'>) =>
  status !== 'CREATED' && status !== 'SUCCESS'

/** How long to wait before reading deliveries again, in milliseconds: shortly, if an attempt is running or nearly due. */
function intervalFor(deliveries: readonly Delivery[]): number | false {
  const pending = deliveries.filter(isPending)
  if (pending.length === 0) return false
  const waits = pending.map(({ nextAttemptAt }) =>
    nextAttemptAt ? Date.parse(nextAttemptAt) - Date.now() : 0,
  )
  return Math.min(Math.max(QUICK_MS, Math.min(...waits)), SLOW_MS)
}

/** A page of the deliveries of a webhook, or of all webhooks. It is read again while one of them is pending. */
export const deliveriesQuery = (webhookId: string | undefined, search: DeliverySearch) =>
  queryOptions({
    queryKey: ['deliveries', 'list', webhookId, search],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { api, apiName, webhook, sort, ...others } = search
      const apis = api ? [api] : apiName && (await apisNamed(apiName, signal)).map(({ id }) => id)
      if (apis && apis.length === 0) return NONE
      const order: Sort<'listDeliveries'>[] = sort ? [sort] : []
      const query = { ...others, ...(apis && { api: apis }), sort: order, size: PAGE_SIZE }
      return answer(
        webhookId === undefined
          ? client.listDeliveries({ ...query, ...(webhook && { webhook }) }, { signal })
          : client.listWebhookDeliveries({ webhook_id: webhookId, ...query }, { signal }),
      )
    },
    // New deliveries appear at the latest after the longer time.
    refetchInterval: ({ state }) => intervalFor(state.data?.content ?? []) || SLOW_MS,
  })

const NONE: Schemas['DeliveryPage'] = {
  content: [],
  size: PAGE_SIZE,
  number: 1,
  totalPages: 0,
  totalElements: 0,
  last: true,
}

/** A delivery. It is read again while it is pending. */
export const deliveryQuery = (webhookId: string, deliveryId: string, eventId: string | undefined) =>
  queryOptions({
    queryKey: ['deliveries', 'one', deliveryId],
    queryFn: async ({ signal }) => {
      try {
        if (!(await queries.fetchQuery(deletedWebhookQuery(webhookId))))
          return await one(webhookId, deliveryId, signal)
      } catch (error) {
        if (asProblem(error).code !== 'webhook-not-found') throw error
      }
      const kept = await ofDeletedWebhook({ webhookId, deliveryId, eventId }, signal)
      return kept ?? one(webhookId, deliveryId, signal)
    },
    refetchInterval: ({ state }) => intervalFor(state.data ? [state.data] : []),
  })

const one = (webhookId: string, deliveryId: string, signal: AbortSignal): Promise<Delivery> =>
  answer(client.getDelivery({ webhook_id: webhookId, request_id: deliveryId }, { signal }))

interface KeptDelivery {
  webhookId: string
  deliveryId: string
  /** Finds it among more deliveries than one page has. */
  eventId: string | undefined
}

/** The list of all deliveries is the only place that has those of deleted webhooks. */
async function ofDeletedWebhook({ webhookId, deliveryId, eventId }: KeptDelivery, signal: AbortSignal) {
  const query = { webhook: webhookId, ...(eventId && { eventId }), size: LARGEST }
  const { content } = await answer(client.listDeliveries(query, { signal }))
  return content.find(({ id }) => id === deliveryId)
}

/** The unfinished deliveries that an ordered webhook makes before this one: the previous one first, the running one last. */
export const aheadQuery = ({ id, webhook, waitsFor }: Delivery) =>
  queryOptions({
    queryKey: ['deliveries', 'ahead', id, waitsFor],
    enabled: waitsFor !== null,
    queryFn: async ({ signal }) => {
      const ahead: Delivery[] = []
      for (let next = waitsFor; next !== null && ahead.length < MAX_AHEAD; ) {
        const delivery = await one(webhook, next, signal)
        ahead.push(delivery)
        next = delivery.waitsFor
      }
      return ahead
    },
    refetchInterval: ({ state }) => intervalFor(state.data?.slice(-1) ?? []),
  })

/** A webhook that deliveries name; null if it is deleted. */
export const webhookOfQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'of-deliveries', id],
    staleTime: NAMES_MS,
    queryFn: async ({ signal }) => {
      if (await queries.fetchQuery(deletedWebhookQuery(id))) return null
      try {
        return await answer(client.getWebhook({ webhook_id: id }, { signal }))
      } catch (error) {
        if (asProblem(error).code === 'webhook-not-found') return null
        throw error
      }
    },
  })

/** How many deliveries of a webhook wait for an attempt, the one that waits longest, and when the next one is due. */
export const waitingQuery = (webhook: string) =>
  queryOptions({
    queryKey: ['deliveries', 'waiting', webhook],
    refetchInterval: SLOW_MS,
    queryFn: async ({ signal }) => {
      const first = (query: Omit<Query<'listWebhookDeliveries'>, 'webhook_id'>) =>
        answer(client.listWebhookDeliveries({ webhook_id: webhook, ...query, size: 1 }, { signal }))
      const [created, retrying, planned, due] = await Promise.all([
        first({ status: 'CREATED', sort: ['createdAt,asc'] }),
        first({ status: 'RETRYING', sort: ['createdAt,asc'] }),
        // Deliveries without a planned attempt are first in ascending order, and last in descending order.
        first({ status: 'CREATED', sort: ['nextAttemptAt,desc'] }),
        first({ status: 'RETRYING', sort: ['nextAttemptAt,asc'] }),
      ])
      const pages = [created, retrying]
      const [oldest] = pages
        .flatMap(({ content }) => content)
        .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
      const count = created.totalElements + retrying.totalElements
      // A new delivery is due at once, unless it waits for an earlier one.
      const nextAt = planned.content[0]?.nextAttemptAt ? undefined : due.content[0]?.nextAttemptAt
      return { count, oldest, nextAt }
    },
  })

/** The delivery with the latest attempt of a webhook. */
export const lastAttemptedQuery = (webhook: string) =>
  queryOptions({
    queryKey: ['deliveries', 'last-attempted', webhook],
    refetchInterval: SLOW_MS,
    queryFn: async ({ signal }) => {
      const { content } = await answer(
        client.listWebhookDeliveries(
          { webhook_id: webhook, sort: ['lastAttemptAt,desc'], size: 1 },
          { signal },
        ),
      )
      return content[0] ?? null
    },
  })

/** The attempts to a webhook are paused, because many in a row have failed. */
export interface Pause {
  /** No attempt is made before this time. It may have passed: then one attempt at a time is made. */
  until: string
  failures: number
}

/** Those of the deliveries that the pause of their webhook keeps waiting, by their ids. The pauses are read again. */
export function usePauses(deliveries: readonly Delivery[]): ReadonlyMap<string, Pause> {
  const waiting = deliveries.filter(mayBePaused)
  const ids = [...new Set(waiting.map(({ webhook }) => webhook))]
  const read = useQueries({
    queries: ids.map(id => ({ ...webhookOfQuery(id), refetchInterval: PAUSES_MS })),
  })
  const pauses = new Map<string, Pause>()
  for (const delivery of waiting) {
    const webhook = read[ids.indexOf(delivery.webhook)]?.data
    const until = webhook?.active ? webhook.health?.pausedUntil : undefined
    // A retry that is planned for a later time does not wait for the pause.
    if (webhook && until && (delivery.nextAttemptAt ?? '') <= laterOf(until, new Date().toISOString()))
      pauses.set(delivery.id, { until, failures: webhook.health?.consecutiveFailures ?? 0 })
  }
  return pauses
}

/** A test is made at once, and a running attempt is not paused. */
const mayBePaused = ({ status, eventType, waitsFor, nextAttemptAt }: Delivery) =>
  isPending({ status }) && eventType !== 'TEST' && waitsFor === null && nextAttemptAt !== null

const laterOf = (a: string, b: string) => (a > b ? a : b)

/** The names of the event types. They change with a release only. */
export const eventTypeNamesQuery = queryOptions({
  queryKey: ['webhooks', 'eventTypes'],
  queryFn: ({ signal }) => answer(client.listEventTypes({}, { signal })),
  select: types => types.map(({ name }) => name),
  staleTime: CATALOGUE_MS,
})
