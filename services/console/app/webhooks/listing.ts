import type { WebhookState, WebhooksSearch } from './search.ts'
import { STATES, stateOf } from './state.ts'
import type { Webhook } from './webhook-queries.ts'

/** Rows of a page of the list. */
export const ROWS = 50

type Key = string | number
const ORDER = Object.keys(STATES)

/** The value of a webhook in a column. Those without a value (undefined) come last in both directions. */
const KEYS: Readonly<Record<NonNullable<WebhooksSearch['sort']>, (webhook: Webhook) => Key | undefined>> = {
  name: ({ displayName }) => displayName.toLowerCase(),
  state: webhook => ORDER.indexOf(stateOf(webhook)),
  successRate: ({ health }) => health?.successRate ?? undefined,
  p95: ({ health }) => health?.p95LatencyMs ?? undefined,
  failingSince: ({ health }) => health?.failingSince ?? undefined,
  updatedAt: ({ updatedAt }) => updatedAt,
}

/** The webhooks that the filters match, in the order that was asked for. */
export function listed(webhooks: readonly Webhook[], search: WebhooksSearch): Webhook[] {
  const key = KEYS[search.sort ?? 'name']
  const direction = search.descending ? -1 : 1
  return matching(webhooks, search.search)
    .filter(webhook => !search.state || stateOf(webhook) === search.state)
    .sort((left, right) => compare(key(left), key(right), direction) || compare(left.id, right.id, 1))
}

/** How many webhooks that match the text are in each state. */
export function countsOf(webhooks: readonly Webhook[], text: string | undefined): Map<WebhookState, number> {
  const counts = new Map<WebhookState, number>()
  for (const webhook of matching(webhooks, text)) {
    const state = stateOf(webhook)
    counts.set(state, (counts.get(state) ?? 0) + 1)
  }
  return counts
}

function matching(webhooks: readonly Webhook[], text = ''): Webhook[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return webhooks.filter(({ displayName, name, url, eventTypes }) => {
    const found = [displayName, name, url, ...eventTypes].join(' ').toLowerCase()
    return words.every(word => found.includes(word))
  })
}

function compare(left: Key | undefined, right: Key | undefined, direction: 1 | -1): number {
  if (left === right) return 0
  if (left === undefined) return 1
  if (right === undefined) return -1
  return left < right ? -direction : direction
}
