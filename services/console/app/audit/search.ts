/** The orders of the audit log. The first one is the order without a choice. */
export const SORTS = {
  'timestamp,desc': 'Newest first',
  'timestamp,asc': 'Oldest first',
  'action,asc': 'Action, A to Z',
  'action,desc': 'Action, Z to A',
  'resourceType,asc': 'Resource type, A to Z',
  'resourceType,desc': 'Resource type, Z to A',
} as const
export type AuditSort = keyof typeof SORTS

/** What the page of the audit log shows, in the URL. */
export interface AuditSearch {
  text?: string
  from?: string
  to?: string
  user?: string
  action?: string
  resource?: string
  sort?: AuditSort
  /** Id of the selected entry, with its time, by which it is found. */
  entry?: string
  at?: string
}

/** The page of day roots, in the URL. */
export interface ProofsSearch {
  page?: number
}

const TEXTS = ['text', 'user', 'action', 'resource', 'entry'] as const

/** Reads the state from the URL. Values that it cannot use are left out. */
export function readAuditSearch(search: Record<string, unknown>): AuditSearch {
  const found: AuditSearch = {}
  for (const name of TEXTS) {
    const value = search[name]
    // A text that is a number is read as one.
    const text = typeof value === 'number' ? String(value) : value
    if (typeof text === 'string' && text !== '') found[name] = text
  }
  for (const name of ['from', 'to', 'at'] as const) {
    const value = search[name]
    // The service takes complete times only, with a zone.
    if (typeof value === 'string' && !Number.isNaN(Date.parse(value)))
      found[name] = new Date(value).toISOString()
  }
  if (typeof search.sort === 'string' && Object.hasOwn(SORTS, search.sort))
    found.sort = search.sort as AuditSort
  return found
}

export const readProofsSearch = ({ page }: Record<string, unknown>): ProofsSearch =>
  typeof page === 'number' && page > 1 ? { page: Math.trunc(page) } : {}

/** Whether no time is between both ends of the period. */
export const isReversed = ({ from, to }: AuditSearch): boolean =>
  from !== undefined && to !== undefined && Date.parse(to) <= Date.parse(from)

/** The filters of the audit log in the URL, as the service takes them. */
export const filtersOf = ({ text, from, to, user, action, resource }: AuditSearch) => ({
  text,
  from,
  to,
  user,
  action,
  resource,
})
