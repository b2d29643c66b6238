const VIEWS = ['reference', 'operations', 'findings', 'changes'] as const
export type DocumentsView = (typeof VIEWS)[number]

/** The state of the documentation of an API in the URL. */
export interface DocumentsSearch {
  /** Id of the version. Default: the newest one with documents */
  version?: string
  /** Name of the document. Default: the primary one */
  document?: string
  /** Default: reference */
  view?: DocumentsView
  /** Id of the version that the changes are since. Default: the one before */
  from?: string
  /** The operation that the reference opens, e.g. `GET /pets`. */
  operation?: string
  /** Filters and page of the list of operations. */
  q?: string
  method?: string
  tag?: string
  deprecated?: true
  page?: number
}

const TEXTS = ['version', 'document', 'from', 'operation', 'q', 'method', 'tag'] as const

/** Reads the state from the URL. Values that it cannot use are left out. */
export function readDocumentsSearch(search: Record<string, unknown>): DocumentsSearch {
  const found: DocumentsSearch = {}
  for (const key of TEXTS) {
    const value = search[key]
    // The router reads `404` in a URL as a number.
    if (typeof value === 'string' || typeof value === 'number') found[key] = String(value)
  }
  const { view, deprecated, page } = search
  if (view !== 'reference' && VIEWS.some(known => known === view)) found.view = view as DocumentsView
  if (deprecated === true) found.deprecated = true
  if (typeof page === 'number' && Number.isInteger(page) && page > 1) found.page = page
  return found
}
