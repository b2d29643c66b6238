/** Times before now at which a feed can begin, in minutes, by their name in the URL. */
export const PERIODS = {
  '5m': { minutes: 5, label: 'The last 5 minutes' },
  '1h': { minutes: 60, label: 'The last hour' },
  '1d': { minutes: 1_440, label: 'The last 24 hours' },
  '7d': { minutes: 10_080, label: 'The last 7 days' },
} as const
export type Period = keyof typeof PERIODS

/** What the page of events shows, in the URL. */
export interface EventsSearch {
  type?: readonly string[]
  api?: string
  webhook?: string
  user?: string
  /** Where the feed begins: after a position, at a time, some time ago, or with the oldest event. */
  after?: string
  from?: string
  since?: Period | 'all'
  to?: string
  /** Oldest first; newest first if it is absent. */
  order?: 'oldest'
  /** Shows only the received events of this trace. */
  trace?: string
  /** Id of the selected event. */
  event?: string
}

const TEXTS = ['api', 'webhook', 'user', 'after', 'trace', 'event'] as const

/** Reads the state from the URL. Values that it cannot use are left out. */
export function readEventsSearch(search: Record<string, unknown>): EventsSearch {
  const found: EventsSearch = {}
  for (const name of TEXTS) {
    const value = search[name]
    if (typeof value === 'string' && value !== '') found[name] = value
  }
  for (const name of ['from', 'to'] as const) {
    const value = search[name]
    // The service takes complete times only, with a zone.
    if (typeof value === 'string' && !Number.isNaN(Date.parse(value)))
      found[name] = new Date(value).toISOString()
  }
  const types = typeof search.type === 'string' ? search.type.split(',') : search.type
  if (Array.isArray(types) && types.length > 0) found.type = types.map(String)
  const { since } = search
  if (since === 'all' || (typeof since === 'string' && Object.hasOwn(PERIODS, since)))
    found.since = since as Period | 'all'
  if (search.order === 'oldest') found.order = 'oldest'
  return found
}

const DEFAULT_PERIOD: Period = '1h'

/** The period with which the feed begins; undefined if it begins after a position or at a time. */
export const periodOf = ({ after, from, since }: EventsSearch): Period | 'all' | undefined =>
  after || from ? undefined : (since ?? DEFAULT_PERIOD)

/** The length of the period before now with which the feed begins, and its name. */
export function lengthOf(search: EventsSearch) {
  const period = periodOf(search)
  return period && period !== 'all' ? PERIODS[period] : undefined
}

/** What is read from the service: the state without what concerns the page alone. */
export const readOf = ({ event: _, trace: __, order: ___, ...read }: EventsSearch): EventsSearch => read

/** Whether the oldest event is at the top. What begins with the oldest event reads forward from it. */
export const isOldestFirst = (search: EventsSearch): boolean =>
  search.order === 'oldest' || periodOf(search) === 'all'
