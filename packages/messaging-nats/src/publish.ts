import { type Bus, BusUnavailable, type Message } from '@gantry/messaging'
import { ErrorCode, headers, NatsError } from 'nats'
import type { Connection, Session } from './connection.ts'
import { failureIn, isJetStreamError } from './reason.ts'

/** So many messages are on their way at once. */
const BATCH = 256
const TIMEOUT_MS = 5_000
const WRONG_LAST_MESSAGE = 10070

/**
 * Stores messages in their order. Where the stream has one copy, many are on their way at once; each but the first of a
 * batch is stored only right after the one before it, which the server checks: when one is lost, or another publisher's
 * comes between, all that follow are refused, so that no failure turns the order round. Where it has several copies,
 * one follows when the one before is stored: there a message that was refused or lost on its way to the copies is taken
 * for a duplicate when it is published again.
 */
export function publishing(connection: Connection): Pick<Bus, 'publish'> {
  return {
    async publish(messages) {
      let stored = 0
      while (stored < messages.length) {
        const session = await connection.session()
        const atOnce = session.replicated ? 1 : BATCH
        stored += await storeBatch(session, messages.slice(stored, stored + atOnce))
      }
    },
  }
}

/** @returns how many were stored, one at least. @throws BusUnavailable when it was none, or why the next was not */
async function storeBatch(session: Session, messages: readonly Message[]): Promise<number> {
  const outcomes = await Promise.allSettled(
    messages.map((message, index) => store(session, message, messages[index - 1])),
  )
  const failed = outcomes.findIndex(({ status }) => status === 'rejected')
  const outcome = outcomes[failed]
  if (outcome?.status !== 'rejected') return messages.length
  if (failed > 0 && isJetStreamError(outcome.reason, WRONG_LAST_MESSAGE)) return failed
  throw failureOf(outcome.reason, messages[failed], session)
}

async function store(session: Session, message: Message, previous?: Message): Promise<void> {
  const carried = headers()
  for (const [name, value] of Object.entries(message.headers ?? {})) carried.set(name, value)
  const { duplicate, seq } = await session.js.publish(message.subject, JSON.stringify(message.data), {
    msgID: message.id,
    headers: carried,
    timeout: TIMEOUT_MS,
    expect: { streamName: session.stream, ...(previous && { lastMsgID: previous.id }) },
  })
  if (!duplicate || seq > 0) return
  // A duplicate without a place is not stored, or not yet (nats-server 2.10, processClusteredInboundMsg).
  session.replicated = true
  throw new BusUnavailable(
    `message ${message.id} was published before, and it is not known whether it will be stored`,
  )
}

function failureOf(error: unknown, message: Message | undefined, session: Session): unknown {
  const { code = '' } = error instanceof NatsError ? error : {}
  if (code === ErrorCode.MaxPayloadExceeded)
    return new Error(
      `message ${message?.id} on ${message?.subject} is larger than the ${session.nc.info?.max_payload} bytes that the server takes`,
      { cause: error },
    )
  if (code === ErrorCode.NoResponders)
    return new BusUnavailable(`no stream stores ${message?.subject}, or JetStream is not ready`)
  return failureIn(session, error)
}
