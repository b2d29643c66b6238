import type { Schemas } from '../http/schemas.ts'
import { emptyFields, refuseFields } from '../parts/field-errors.ts'
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

/** The body of a creation. @throws RequestFailed when fields are wrong */
export const inputOf = ({ name, eventTypes, ...draft }: Draft): Schemas['WebhookInput'] => ({
  ...complete(draft),
  eventTypes: [...eventTypes],
  ...(name.trim() !== '' && { name }),
})

/** The body of a change. @throws RequestFailed when fields are wrong */
export const updateOf = (draft: Draft): Schemas['WebhookUpdate'] => ({
  ...complete(draft, 'eventTypes'),
  eventTypes: [...draft.eventTypes],
})

/** Refuses all wrong fields at once, as the service would. */
function complete<Fields extends Pick<Draft, 'displayName' | 'url'>>(
  fields: Fields,
  ...required: (keyof Fields & string)[]
): Fields {
  const url = fields.url.trim()
  const message = url === '' ? undefined : urlFault(url)
  refuseFields(
    ...emptyFields(fields, 'displayName', 'url', ...required),
    ...(message ? [{ field: 'url', message }] : []),
  )
  return { ...fields, url }
}

/** What the service refuses in a URL, as far as the text tells. */
function urlFault(url: string): string | undefined {
  if (!/^https?:\/\//i.test(url)) return 'must begin with http:// or https://'
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed) return 'must be a complete address, such as https://example.com/hook'
  return parsed.username || parsed.password ? 'must have no user name and no password' : undefined
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
