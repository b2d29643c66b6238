/** The state of the catalogue in the URL. */
export interface ApiSearch {
  search?: string
}

/** Reads the state from the URL. Values that it cannot use are left out. */
export function readApiSearch(search: Record<string, unknown>): ApiSearch {
  return typeof search.search === 'string' && search.search !== '' ? { search: search.search } : {}
}
