import {
  CLOUDEVENTS_BATCH,
  CLOUDEVENTS_JSON,
  type CloudEventContent,
  toCloudEvent,
  type WebhookFormat,
} from '@gantry/contracts'

/** The members of an event that a webhook receives, in any format. */
type DeliveredEvent = Pick<
  CloudEventContent,
  'id' | 'type' | 'source' | 'subject' | 'time' | 'data' | 'version' | 'revision'
>

/** The media types of request bodies. */
export const MEDIA_TYPES: Readonly<Record<WebhookFormat, string>> = {
  STANDARD: 'application/json',
  CLOUDEVENTS_STRUCTURED: CLOUDEVENTS_JSON,
  CLOUDEVENTS_BATCHED: CLOUDEVENTS_BATCH,
}

/**
 * The request body of an event in a format.
 * @param publicUrl the address of the service for its clients, if it is known
 */
export type BodyOf = (format: WebhookFormat, publicUrl: string | undefined) => string

/**
 * The request bodies of an event. A body is serialized once: all webhooks and attempts get the same bytes. Readers of
 * webhooks do not see who caused the event.
 */
export function bodiesOf({
  id,
  type,
  source,
  subject,
  time,
  data,
  version,
  revision,
}: DeliveredEvent): BodyOf {
  const cloudEvent = (publicUrl: string | undefined) =>
    toCloudEvent({ id, type, source, subject, time, data, version, revision }, publicUrl)
  const payloads = {
    /** Standard Webhooks, "Payload structure". */
    STANDARD: () => ({ id, type, timestamp: time, data }),
    CLOUDEVENTS_STRUCTURED: cloudEvent,
    CLOUDEVENTS_BATCHED: (publicUrl: string | undefined) => [cloudEvent(publicUrl)],
  }
  const made = new Map<string, string>()
  return (format, publicUrl) => {
    const key = `${format} ${publicUrl}`
    const body = made.get(key) ?? JSON.stringify(payloads[format](publicUrl))
    made.set(key, body)
    return body
  }
}

/** Event types whose data are an API. */
const OF_API: ReadonlySet<string> = new Set(['API_CREATED', 'API_UPDATED', 'API_DELETED'])

/** Id of the API that the event in a request body is about or names as `api`, an id or a record; null if there is none. */
export function apiNamedIn(body: string, type: string): string | null {
  const data = dataIn(body)
  const named = OF_API.has(type) ? data : data?.api
  const id = typeof named === 'object' && named !== null && 'id' in named ? named.id : named
  return typeof id === 'string' ? id.toLowerCase() : null
}

/** The data of the event in a request body of any format. */
function dataIn(body: string): Record<string, unknown> | undefined {
  try {
    const [event] = [JSON.parse(body)].flat()
    return event?.data ?? undefined
  } catch {
    return undefined
  }
}
