/**
 * Deliveries that stand in one line: those of a webhook that are of one kind. First attempts do not stand behind
 * retries, what a person sends again not behind what the service does by itself, tests not behind what waits for the
 * webhook to be active, and what waits for its turn stands apart.
 */
export interface Lane {
  webhook: string
  kind: 'first' | 'retry' | 'manual' | 'test' | 'turn'
}

/** Sorts after every time. */
const END = '~'

export const laneKey = ({ webhook, kind }: Lane) => `${webhook}/${kind}`

/** Where a delivery stands among all that are pending: by lane, then by when it is due (ISO 8601); no two are equal. */
export const queueKey = (lane: Lane, dueAt: string, id: string) => `${laneKey(lane)}/${dueAt}/${id}`

/** Greater than every key of the lane, and less than those of the lanes that follow. */
export const laneEnd = (lane: Lane) => `${laneKey(lane)}/${END}`

export function parseQueueKey(key: string): { lane: Lane; dueAt: string } {
  const [webhook = '', kind, dueAt = ''] = key.split('/')
  return { lane: { webhook, kind: kind as Lane['kind'] }, dueAt }
}

/** Where the deliveries to an ordered webhook stand that are about one resource. */
export const lineKey = (webhook: string, resource: string) => `${webhook}/${resource}`

/** Condition on the field `queue`: everything that a webhook has pending. */
export const pendingOf = (webhook: string) => ({ gte: `${webhook}/`, lt: `${webhook}/${END}` })
