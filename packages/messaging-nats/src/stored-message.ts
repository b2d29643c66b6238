import type { Json, StoredMessage } from '@gantry/messaging'
import type { Msg } from 'nats'

/** The id by which JetStream knows a message again. */
const ID = 'Nats-Msg-Id'
/** Headers of the server's own begin with this. */
const OWN = /^nats-/i

/** Where a message stands, which JetStream tells in the subject to acknowledge it on (ADR-15). */
export interface Place {
  sequence: number
  /** How many messages the consumer was given, this one included. */
  given: number
  /** How many more there are for the consumer. */
  pending: number
  /** When the message was stored, in milliseconds since 1970. */
  storedAt: number
}

export function placeOf({ reply = '' }: Msg): Place {
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

/** A message of the stream. One that others published without an id is known by its place, without JSON as text. */
export function toStored(msg: Msg, stream: string): StoredMessage {
  const { sequence, storedAt } = placeOf(msg)
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
