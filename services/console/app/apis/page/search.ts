const TABS = ['details', 'versions', 'deployments', 'webhooks', 'history'] as const
export type Tab = (typeof TABS)[number]

/** The state of the page of an API in the URL. */
export interface ApiPageSearch {
  /** Default: details */
  tab?: Tab
  /** The time whose state the history shows; absent for the present. */
  at?: string
}

/** Reads the state from the URL. Values that it cannot use are left out. */
export function readApiPageSearch({ tab, at }: Record<string, unknown>): ApiPageSearch {
  return {
    ...(TABS.some(known => known === tab) && { tab: tab as Tab }),
    ...(typeof at === 'string' && !Number.isNaN(Date.parse(at)) && { at: new Date(at).toISOString() }),
  }
}
