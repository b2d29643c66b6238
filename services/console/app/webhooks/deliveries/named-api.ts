import type { Delivery } from './delivery-queries.ts'

/** Event types whose data are an API. */
const OF_API: readonly string[] = ['API_CREATED', 'API_UPDATED', 'API_DELETED']

/** The API that the event of a delivery is about or names; undefined if there is none or the payload is withheld. */
export function namedApi({ payload, eventType }: Delivery): { id: string; name?: string } | undefined {
  const [event] = payload === null ? [] : [payload].flat()
  const data = asObject(event?.data)
  const named = OF_API.includes(eventType) ? data : data?.api
  if (typeof named === 'string') return { id: named }
  const { id, displayName } = asObject(named) ?? {}
  if (typeof id !== 'string') return undefined
  return { id, ...(typeof displayName === 'string' && { name: displayName }) }
}

const asObject = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
