import type { Schemas } from '../../http/schemas.ts'
import { isUuid } from '../../parts/uuid.ts'

export const STATUSES = [
  'CREATED',
  'RETRYING',
  'SUCCESS',
  'GIVE_UP',
  'CANCELLED',
] as const satisfies readonly Schemas['DeliveryStatus'][]

/** The orders of a list of deliveries besides the one without a choice, in which the newest is first. */
const SORTS = ['createdAt,asc', 'lastAttemptAt,desc'] as const
export type DeliverySort = (typeof SORTS)[number]

/** The filters, the order and the page of a list of deliveries in the URL. The names are those of the REST interface. */
export interface DeliverySearch {
  status?: Schemas['DeliveryStatus']
  eventType?: Schemas['WebhookEventType']
  eventId?: string
  api?: string
  /** A part of the name of the API. */
  apiName?: string
  webhook?: string
  /** ISO 8601, UTC. */
  from?: string
  /** ISO 8601, UTC. */
  to?: string
  sort?: DeliverySort
  page?: number
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Of the page of a delivery: the list of all deliveries that it was opened from. */
    deliveries?: DeliverySearch
  }
}

/** The state of the page of a delivery in the URL. */
export interface OneDeliverySearch {
  /** Id of its event. With it a delivery of a deleted webhook is found in the list of all deliveries. */
  eventId?: string
}

export const FILTERS = ['status', 'eventType', 'eventId', 'api', 'apiName', 'webhook', 'from', 'to'] as const

type Raw = Record<string, unknown>

/** Reads the state from the URL. Values that it cannot use are left out. */
export function readDeliverySearch(search: Raw): DeliverySearch {
  const { status, eventType, eventId, api, apiName, webhook, from, to, sort, page } = search
  const known = STATUSES.find(each => each === status)
  const order = SORTS.find(each => each === sort)
  return {
    ...(known && { status: known }),
    ...(typeof eventType === 'string' &&
      eventType !== '' && { eventType: eventType as Schemas['WebhookEventType'] }),
    ...(isUuid(eventId) && { eventId }),
    ...(isUuid(api) && { api }),
    ...(typeof apiName === 'string' && apiName !== '' && { apiName }),
    ...(isUuid(webhook) && { webhook }),
    // The service takes complete times only, with a zone.
    ...(isTime(from) && { from: new Date(from).toISOString() }),
    ...(isTime(to) && { to: new Date(to).toISOString() }),
    ...(order && { sort: order }),
    ...(typeof page === 'number' && page > 1 && { page: Math.trunc(page) }),
  }
}

export const readOneDeliverySearch = ({ eventId }: Raw): OneDeliverySearch =>
  isUuid(eventId) ? { eventId } : {}

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value))
