import { type Bus, BusUnavailable, type Message, Overtaken } from '@gantry/messaging'
import { ErrorCode, headers, NatsError, type PubAck } from 'nats'
import type { Connection, Session } from './connection.ts'
import { failureIn, isJetStreamError } from './reason.ts'

/** So many messages are on their way at once. */
const BATCH = 256
const TIMEOUT_MS = 5_000
const WRONG_LAST_MESSAGE = 10070
const WRONG_LAST_SEQUENCE = 10071
/** Subjects whose ends are kept; another one costs a request more. */
const KEPT_ENDS = 1_000

/**
 * Stores messages in their order. Where the stream has one copy, many are on their way at once; each but the first of a
 * batch is stored only right after the one before it, which the server checks: when one is lost, or another publisher's
 * comes between, all that follow are refused, so that no failure turns the order round. Where it has several copies,
 * one follows when the one before is stored: there a message that was refused or lost on its way to the copies is taken
 * for a duplicate when it is published again.
 *
 * With `after`, the first of each batch is stored only where its subject ends with the message that this publisher
 * expects there, which the server checks too. A refusal names the message that is there instead.
 */
export function publishing(connection: Connection): Pick<Bus, 'publish'> {
  /** Sequence of the last message on a subject, as far as it is known. */
  const ends = new Map<string, number>()
  const keepEnd = (subject: string, end: number) => {
    if (ends.size >= KEPT_ENDS) ends.clear()
    ends.set(subject, end)
  }

  /** What to expect at the end of a subject: a message that this publisher knows of, or none, which the server mends. */
  const expectedEnd = (subject: string, place: number) => {
    const end = ends.get(subject) ?? 0
    return end <= place ? end : 0
  }

  return {
    async publish(messages, { after } = {}) {
      let stored = 0
      let last = 0
      while (stored < messages.length) {
        const session = await connection.session()
        const batch = messages.slice(stored, stored + (session.replicated ? 1 : BATCH))
        const subject = batch[0]?.subject ?? ''
        const place = Math.max(after ?? 0, last)
        const outcome = await storeBatch(
          session,
          batch,
          after === undefined ? undefined : expectedEnd(subject, place),
        )
        if ('end' in outcome) {
          if (outcome.end > place) throw new Overtaken(subject, { after: place, end: outcome.end })
          keepEnd(subject, outcome.end)
          continue
        }
        for (const [index, { seq }] of outcome.acknowledged.entries()) {
          last = Math.max(last, seq)
          if (after !== undefined) keepEnd(batch[index]?.subject ?? '', seq)
        }
        stored += outcome.acknowledged.length
      }
      return last
    },
  }
}

/** What was stored, at least one message; or where the subject of the first ends, when that was not as expected. */
type Outcome = { acknowledged: PubAck[] } | { end: number }

/** @throws BusUnavailable when none was stored, or why the next was not */
async function storeBatch(session: Session, messages: readonly Message[], end?: number): Promise<Outcome> {
  const outcomes = await Promise.allSettled(
    messages.map((message, index) => store(session, message, { previous: messages[index - 1], end })),
  )
  const failed = outcomes.findIndex(({ status }) => status === 'rejected')
  const acknowledged = outcomes
    .slice(0, failed < 0 ? outcomes.length : failed)
    .flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  const outcome = outcomes[failed]
  if (outcome?.status !== 'rejected') return { acknowledged }
  if (failed > 0 && isJetStreamError(outcome.reason, WRONG_LAST_MESSAGE)) return { acknowledged }
  const actual = failed === 0 ? actualEnd(outcome.reason) : undefined
  if (actual !== undefined) return { end: actual }
  throw failureOf(outcome.reason, messages[failed], session)
}

/** Where a subject ends, from the refusal of a message that expected another end (nats-server, server/errors.json). */
function actualEnd(error: unknown): number | undefined {
  if (!isJetStreamError(error, WRONG_LAST_SEQUENCE)) return undefined
  const [, sequence] = /wrong last sequence: (\d+)/.exec((error as NatsError).message) ?? []
  return sequence === undefined ? undefined : Number(sequence)
}

interface Expected {
  /** The message right before it in the stream; none for the first of a batch. */
  previous: Message | undefined
  /** Of its subject, for the first of a batch; any if it is not said. */
  end: number | undefined
}

async function store(session: Session, message: Message, { previous, end }: Expected): Promise<PubAck> {
  const carried = headers()
  for (const [name, value] of Object.entries(message.headers ?? {})) carried.set(name, value)
  const acknowledged = await session.js.publish(message.subject, JSON.stringify(message.data), {
    msgID: message.id,
    headers: carried,
    timeout: TIMEOUT_MS,
    expect: {
      streamName: session.stream,
      ...(previous && { lastMsgID: previous.id }),
      ...(!previous && end !== undefined && { lastSubjectSequence: end }),
    },
  })
  const { duplicate, seq } = acknowledged
  if (!duplicate || seq > 0) return acknowledged
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
