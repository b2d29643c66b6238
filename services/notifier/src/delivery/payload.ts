import { readableData } from '@gantry/contracts'
import { nameUuids } from '@gantry/event-sourcing'

/** The payload of a delivery: the event as webhooks receive it. */
export interface Payload {
  /** Id of the event. */
  id: string
  type: string
  /** When the event happened, ISO 8601 UTC. */
  timestamp: string
  data: Readonly<Record<string, unknown>>
}

const deliveryUuid = nameUuids('9f0c6b0e-2f53-4a55-8a5e-6d1c0d0b7b1e')

/**
 * Id of the delivery of an event to a webhook. It is deterministic, so that an event that is handled twice creates one
 * delivery.
 */
export const deliveryId = (eventId: string, webhookId: string) => deliveryUuid(`${eventId}/${webhookId}`)

/** The request body (Standard Webhooks, "Payload structure"). It is serialized once: all attempts send the same bytes. */
export const bodyOf = ({ id, type, timestamp, data }: Payload) =>
  JSON.stringify({ id, type, timestamp, data: readableData(type, { ...data }) })
