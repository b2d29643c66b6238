import { type Bus, BusUnavailable, type Message, Overtaken } from '@gantry/messaging'
import { LRUCache } from 'lru-cache'
import { ErrorCode, headers, NatsError, type PubAck } from 'nats'
import type { Connection, Session } from './connection.ts'
import { isJetStreamError, toBusError } from './errors.ts'
import { removedThrough } from './read.ts'

/** Maximum number of messages in flight. */
const BATCH = 256
const TIMEOUT_MS = 5_000
const WRONG_LAST_MESSAGE = 10070
const WRONG_LAST_SEQUENCE = 10071
/** Maximum number of subjects whose last sequence is cached. Other subjects cost an additional request. */
const KEPT_ENDS = 1_000

/**
 * Stores messages in order. On a stream with one replica, many are in flight at once. The server stores each message of a
 * batch, except the first, only directly after its predecessor: when one is lost, or another publisher stores a message in
 * between, the server refuses all later ones, so that no failure changes the order. On a stream with several replicas, each
 * message is sent when its predecessor is stored. There, a message that was refused, or lost on the way to the replicas,
 * counts as a duplicate when it is published again.
 *
 * With `after`, the server stores the first message of a batch only if the last message of its subject is the expected one.
 * Its refusal has the sequence of the actual last message. If that is below the sequence of an acknowledged message, the
 * server has lost messages: an error, unless they were removed because of their age.
 */
export function publishing(connection: Connection): Pick<Bus, 'publish'> {
  /** Sequence of the last message by subject, as far as it is known. */
  const ends = new LRUCache<string, number>({ max: KEPT_ENDS })

  /** The sequence to expect as the last one of a subject; 0 if this publisher knows none: the server's refusal has it. */
  const expectedEnd = (subject: string, known: number) => {
    const end = ends.get(subject) ?? 0
    return end <= known ? end : 0
  }

  return {
    async publish(messages, { after } = {}) {
      let stored = 0
      let last = 0
      while (stored < messages.length) {
        const session = await connection.session()
        const batch = messages.slice(stored, stored + (session.replicated ? 1 : BATCH))
        const subject = batch[0]?.subject ?? ''
        const known = Math.max(after ?? 0, last)
        const outcome = await storeBatch(
          session,
          batch,
          after === undefined ? undefined : expectedEnd(subject, known),
        )
        if ('end' in outcome) {
          if (outcome.end > known) throw new Overtaken(subject, { after: known, end: outcome.end })
          const acknowledged = ends.get(subject) ?? 0
          ends.set(subject, outcome.end)
          if (outcome.end < acknowledged && acknowledged > removedThrough(await stateOf(session)))
            throw new BusUnavailable(
              `the last message on ${subject} is ${outcome.end}, before message ${acknowledged}, which was stored`,
            )
          continue
        }
        for (const [index, { seq }] of outcome.acknowledged.entries()) {
          last = Math.max(last, seq)
          if (after !== undefined) ends.set(batch[index]?.subject ?? '', seq)
        }
        stored += outcome.acknowledged.length
      }
      return last
    },
  }
}

const stateOf = async ({ jsm, stream }: Session) => (await jsm.streams.info(stream)).state

/** The stored messages, at least one; or the last sequence of the first subject, if it was not as expected. */
type Outcome = { acknowledged: PubAck[] } | { end: number }

/** @throws BusUnavailable when no message was stored, or the error of the first message that was not */
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
  throw publishError(outcome.reason, messages[failed], session)
}

/** The last sequence of a subject, from the refusal of a message that expected another (nats-server, server/errors.json). */
function actualEnd(error: unknown): number | undefined {
  if (!isJetStreamError(error, WRONG_LAST_SEQUENCE)) return undefined
  const [, sequence] = /wrong last sequence: (\d+)/.exec((error as NatsError).message) ?? []
  return sequence === undefined ? undefined : Number(sequence)
}

interface Expected {
  /** The message that must come right before it in the stream; undefined for the first of a batch. */
  previous: Message | undefined
  /** The expected last sequence of its subject, for the first of a batch; undefined for any. */
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
  // A duplicate without a sequence is not stored, or not yet (nats-server 2.10, processClusteredInboundMsg).
  session.replicated = true
  throw new BusUnavailable(
    `message ${message.id} was published before, and it is not known whether it will be stored`,
  )
}

function publishError(error: unknown, message: Message | undefined, session: Session): unknown {
  const { code = '' } = error instanceof NatsError ? error : {}
  if (code === ErrorCode.MaxPayloadExceeded)
    return new Error(
      `message ${message?.id} on ${message?.subject} is larger than the ${session.nc.info?.max_payload} bytes that the server accepts`,
      { cause: error },
    )
  if (code === ErrorCode.NoResponders)
    return new BusUnavailable(`no stream stores ${message?.subject}, or JetStream is not ready`)
  return toBusError(session, error)
}
