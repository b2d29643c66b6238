/**
 * A queue of pending deliveries: those of one webhook and one kind. The kinds are separate so that first attempts do not
 * wait behind retries, retries requested by a user (`manual`) not behind automatic ones, and tests, which are also sent
 * for inactive webhooks, not behind deliveries that wait until the webhook is active. `turn` has the blocked deliveries
 * of ordered webhooks.
 */
export interface Lane {
  webhook: string
  kind: 'first' | 'retry' | 'manual' | 'test' | 'turn'
}

/** Sorts after every ISO 8601 time. */
const END = '~'

export const laneKey = ({ webhook, kind }: Lane) => `${webhook}/${kind}`

/** Sort key among all pending deliveries: by lane, then by due time (ISO 8601). Unique. */
export const queueKey = (lane: Lane, dueAt: string, id: string) => `${laneKey(lane)}/${dueAt}/${id}`

/** Greater than every key of the lane, and less than those of all following lanes. */
export const laneEnd = (lane: Lane) => `${laneKey(lane)}/${END}`

export function parseQueueKey(key: string): { lane: Lane; dueAt: string } {
  const [webhook = '', kind, dueAt = ''] = key.split('/')
  return { lane: { webhook, kind: kind as Lane['kind'] }, dueAt }
}

/** The ordering key of deliveries to an ordered webhook. */
export const orderingKey = (webhook: string, resource: string) => `${webhook}/${resource}`

/** Condition on the field `queue`: all pending deliveries of a webhook. */
export const pendingOf = (webhook: string) => ({ gte: `${webhook}/`, lt: `${webhook}/${END}` })
