import { type DocumentsSearch, readDocumentsSearch } from '../documents/search.ts'

const TABS = ['details', 'documentation', 'versions', 'deployments', 'webhooks', 'history'] as const
export type Tab = (typeof TABS)[number]

/** The state of the page of an API in the URL. */
export interface ApiPageSearch extends DocumentsSearch {
  /** Default: details */
  tab?: Tab
  /** The time whose state the history shows; absent for the present. */
  at?: string
}

/** Reads the state from the URL. Values that it cannot use are left out. */
export function readApiPageSearch(search: Record<string, unknown>): ApiPageSearch {
  const { tab, at } = search
  return {
    ...(tab === 'documentation' && readDocumentsSearch(search)),
    ...(TABS.some(known => known === tab) && { tab: tab as Tab }),
    ...(typeof at === 'string' && !Number.isNaN(Date.parse(at)) && { at: new Date(at).toISOString() }),
  }
}
