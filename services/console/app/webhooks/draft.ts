import type { Schemas } from '../http/schemas.ts'
import type { Webhook } from './webhook-queries.ts'

/** What the forms of a webhook have in their fields. */
export interface Draft {
  displayName: string
  /** Empty for the default, a slug of displayName. */
  name: string
  url: string
  eventTypes: readonly string[]
  ordered: boolean
  format: Schemas['WebhookFormat']
  active: boolean
}

export const draftOf = ({ displayName, name, url, eventTypes, ordered, format, active }: Webhook): Draft => ({
  displayName,
  name,
  url,
  eventTypes,
  ordered,
  format,
  active,
})

/** The body of a creation. */
export const inputOf = ({ name, eventTypes, ...draft }: Draft): Schemas['WebhookInput'] => ({
  ...draft,
  eventTypes: [...eventTypes],
  ...(name.trim() !== '' && { name }),
})

/** The body of a change. */
export const updateOf = ({ eventTypes, ...draft }: Draft): Schemas['WebhookUpdate'] => ({
  ...draft,
  eventTypes: [...eventTypes],
})

export const FORMATS: Readonly<Record<Draft['format'], { label: string; description: string }>> = {
  STANDARD: {
    label: 'Standard Webhooks',
    description: 'A JSON object with id, type, timestamp and data.',
  },
  CLOUDEVENTS_STRUCTURED: {
    label: 'CloudEvents, structured',
    description: 'A CloudEvents 1.0 event in structured mode.',
  },
  CLOUDEVENTS_BATCHED: {
    label: 'CloudEvents, batched',
    description: 'A CloudEvents 1.0 batch of one event.',
  },
}

/** The names of the fields, as the forms show them. */
export const FIELD_LABELS: Readonly<Record<string, string>> = {
  displayName: 'Display name',
  name: 'Name',
  url: 'URL',
  eventTypes: 'Event types',
  ordered: 'Deliver in order',
  format: 'Format of the body',
  active: 'Active',
  owner: 'Owner',
  disabledReason: 'Reason for being inactive',
}

/** Whether a field has the same value in both. The order of event types has no meaning. */
export function isSame(field: keyof Draft, left: Draft, right: Draft): boolean {
  const text = (draft: Draft) =>
    JSON.stringify(field === 'eventTypes' ? draft.eventTypes.toSorted() : draft[field])
  return text(left) === text(right)
}

/** The current state with the changes that this person has made to the state before it. */
export function merged(base: Draft, theirs: Draft, mine: Draft): Draft {
  const changed = (Object.keys(mine) as (keyof Draft)[]).filter(field => !isSame(field, base, mine))
  return { ...theirs, ...Object.fromEntries(changed.map(field => [field, mine[field]])) }
}
