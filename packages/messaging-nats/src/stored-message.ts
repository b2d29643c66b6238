import type { Json, StoredMessage } from '@gantry/messaging'
import type { Msg } from 'nats'

/** Header of the id that JetStream detects duplicates by. */
const ID = 'Nats-Msg-Id'
/** Headers of the server start with this prefix. */
const OWN = /^nats-/i

/** The position of a message, which JetStream encodes in the subject for its acknowledgement (ADR-15). */
export interface DeliveryInfo {
  sequence: number
  /** Number of messages that the consumer has delivered, including this one. */
  given: number
  /** Number of messages that remain for the consumer. */
  pending: number
  /** Time at which the message was stored, in milliseconds since 1970. */
  storedAt: number
}

export function deliveryInfoOf({ reply = '' }: Msg): DeliveryInfo {
  const tokens = reply.split('.')
  // $JS.ACK.<stream>.<consumer>… or $JS.ACK.<domain>.<account>.<stream>.<consumer>….
  const [, sequence, given, nanoseconds, pending] = tokens.slice(tokens.length === 9 ? 4 : 6).map(Number)
  return {
    sequence: sequence ?? 0,
    given: given ?? 0,
    storedAt: (nanoseconds ?? 0) / 1e6,
    pending: pending ?? 0,
  }
}

/**
 * Converts a message of the stream. A message of another publisher gets an id from its sequence if it has none, and its data
 * as text if they are not JSON.
 */
export function toStored(msg: Msg, stream: string): StoredMessage {
  const { sequence, storedAt } = deliveryInfoOf(msg)
  const names = msg.headers?.keys().filter(name => !OWN.test(name)) ?? []
  return {
    id: msg.headers?.get(ID) || `${stream}-${sequence}`,
    subject: msg.subject,
    data: parse(msg.string()),
    ...(names.length > 0 && {
      headers: Object.fromEntries(names.map(name => [name, msg.headers?.get(name) ?? ''])),
    }),
    sequence,
    storedAt: new Date(storedAt).toISOString(),
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
