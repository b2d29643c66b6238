import type { Delivery } from './delivery-queries.ts'

const DAY_MS = 86_400_000

/** Event types whose data are an API. */
const OF_API: readonly string[] = ['API_CREATED', 'API_UPDATED', 'API_DELETED']

/** The API that the event of a delivery is about or names; undefined if there is none or the payload is withheld. */
export function namedApi({ payload, eventType }: Delivery): { id: string; name?: string } | undefined {
  const data = asObject(eventIn(payload)?.data)
  const named = OF_API.includes(eventType) ? data : data?.api
  if (typeof named === 'string') return { id: named }
  const { id, displayName } = asObject(named) ?? {}
  if (typeof id !== 'string') return undefined
  return { id, ...(typeof displayName === 'string' && { name: displayName }) }
}

/** Time before which the event of a delivery has not happened, ISO 8601. */
export function eventTime({ payload, createdAt }: Delivery): string {
  const { timestamp, time = timestamp } = eventIn(payload) ?? {}
  return typeof time === 'string' ? time : new Date(Date.parse(createdAt) - DAY_MS).toISOString()
}

/** The event in a payload of any format. */
const eventIn = (payload: Delivery['payload']): Record<string, unknown> | undefined =>
  asObject([payload].flat()[0])

const asObject = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
