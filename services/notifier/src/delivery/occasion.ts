import { readableData } from '@gantry/contracts'
import { nameUuids } from '@gantry/event-sourcing'

/** What happened, as webhooks are told of it. */
export interface Occasion {
  /** Id of the event. */
  id: string
  type: string
  /** When it happened, ISO 8601 UTC. */
  timestamp: string
  data: Readonly<Record<string, unknown>>
}

const deliveryUuid = nameUuids('9f0c6b0e-2f53-4a55-8a5e-6d1c0d0b7b1e')

/** The delivery of an event to a webhook: for the same two always the same, so that an event seen twice makes one. */
export const deliveryId = (eventId: string, webhookId: string) => deliveryUuid(`${eventId}/${webhookId}`)

/** The body that is sent (Standard Webhooks, "Payload structure"), serialized this once. */
export const bodyOf = ({ id, type, timestamp, data }: Occasion) =>
  JSON.stringify({ id, type, timestamp, data: readableData(type, { ...data }) })
