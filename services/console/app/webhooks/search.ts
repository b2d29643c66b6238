import type { WebhookState } from '../parts/webhook-state.tsx'
import type { DeliverySort } from './deliveries/search.ts'

const STATES = ['healthy', 'failing', 'untried', 'inactive'] as const satisfies readonly WebhookState[]
const SORTS = ['name', 'state', 'successRate', 'p95', 'failingSince', 'updatedAt'] as const
const TABS = ['overview', 'deliveries', 'recoveries', 'history'] as const
const STEPS = ['events', 'endpoint'] as const

/** The column that the list is sorted by. */
export type WebhookSort = (typeof SORTS)[number]
type WebhookTab = (typeof TABS)[number]
/** The steps of the creation that are in the URL. The step after them has the secret, which is in no URL. */
type CreationStep = (typeof STEPS)[number]

/** The state of the list of webhooks in the URL. */
export interface WebhooksSearch {
  search?: string
  state?: WebhookState
  sort?: WebhookSort
  descending?: true
  page?: number
}

/** The state of the page of a webhook in the URL. */
export interface WebhookSearch {
  tab?: WebhookTab
  /** The order of its deliveries, which their list reads. */
  sort?: DeliverySort
}

/** The state of the creation in the URL. */
export interface NewWebhookSearch {
  /** Id of the API whose event types are selected at the beginning. */
  api?: string
  step?: CreationStep
}

type Raw = Record<string, unknown>

/** Reads the state from the URL. Values that it cannot use are left out, as in the functions below. */
export const readWebhooksSearch = ({ search, state, sort, descending, page }: Raw): WebhooksSearch => ({
  ...(typeof search === 'string' && search !== '' && { search }),
  ...one('state', STATES, state),
  ...one('sort', SORTS, sort),
  ...(descending === true && { descending }),
  ...(typeof page === 'number' && page > 1 && { page: Math.trunc(page) }),
})

export const readWebhookSearch = ({ tab }: Raw): WebhookSearch => one('tab', TABS, tab)

export const readNewWebhookSearch = ({ api, step }: Raw): NewWebhookSearch => ({
  ...(typeof api === 'string' && api !== '' && { api }),
  ...one('step', STEPS, step),
})

function one<Name extends string, Value extends string>(
  name: Name,
  values: readonly Value[],
  value: unknown,
): { [Each in Name]?: Value } {
  const found = values.find(each => each === value)
  return (found === undefined ? {} : { [name]: found }) as { [Each in Name]?: Value }
}
