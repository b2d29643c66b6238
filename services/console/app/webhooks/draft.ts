import type { Schemas } from '../http/schemas.ts'
import { requireFields } from '../parts/field-errors.ts'
import type { Webhook } from './webhook-queries.ts'

/** What the forms of a webhook have in their fields. */
export interface Draft {
  displayName: string
  /** Empty for the default, a slug of displayName. */
  name: string
  url: string
  eventTypes: readonly Schemas['WebhookEventType'][]
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

/** The body of a creation. @throws RequestFailed when a required field is empty */
export const inputOf = ({ name, eventTypes, ...draft }: Draft): Schemas['WebhookInput'] => ({
  ...complete(draft),
  eventTypes: [...eventTypes],
  ...(name.trim() !== '' && { name }),
})

/** The body of a change. @throws RequestFailed when a required field is empty */
export const updateOf = ({ eventTypes, ...draft }: Draft): Schemas['WebhookUpdate'] => ({
  ...complete(draft),
  eventTypes: [...eventTypes],
})

function complete<Fields extends Pick<Draft, 'displayName' | 'url'>>(fields: Fields): Fields {
  requireFields(fields, 'displayName', 'url')
  return fields
}

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
export const LABELS: Readonly<Record<keyof Draft, string>> = {
  displayName: 'Display name',
  name: 'Name',
  url: 'URL',
  eventTypes: 'Event types',
  ordered: 'Deliver in order',
  format: 'Format of the body',
  active: 'Active',
}

/** The fields of the forms, for the errors of the service. */
export const FIELDS = { labels: LABELS }

/** A value of a field as text. */
export function valueText(value: Draft[keyof Draft]): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value !== 'string') return value.join(', ')
  return value in FORMATS ? FORMATS[value as Draft['format']].label : value
}
