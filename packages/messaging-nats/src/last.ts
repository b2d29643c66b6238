import { setTimeout } from 'node:timers/promises'
import { BusUnavailable, type StoredMessage } from '@gantry/messaging'
import { AckPolicy, createInbox, DeliverPolicy, type Msg, nanos } from 'nats'
import type { Session } from './connection.ts'
import { isJetStreamError } from './errors.ts'
import { toStored } from './stored-message.ts'

/** How long the lookup is repeated while other processes look up the same subject. */
const RETRY_FOR_MS = 5_000
const PAUSE_MS = 50
/** A lookup takes milliseconds: a consumer that exists for this long was left behind by a process that died. */
const ABANDONED_MS = 1_000
/** How long the server may take to deliver the message. After that, another process has deleted the consumer. */
const DELIVERY_MS = 1_000
/** The server deletes the consumer of a process that died after this time. */
const FORGOTTEN_MS = 2_000

const NAME_IN_USE = 10013
const CONSUMER_EXISTS = 10148

/** Another process has a consumer of the same name now. Sharing it, each would take the answer of the other. */
class Busy extends BusUnavailable {}

/**
 * Reads the last message on a subject, with a consumer that starts at it. The request that creates the consumer names
 * the consumer and the subject, and the consumer delivers to the inbox of this connection. So the user needs no other
 * right to read the stream.
 */
export async function lastOn(session: Session, subject: string): Promise<StoredMessage | undefined> {
  const { jsm, stream } = session
  const name = ['last', ...(subject.match(/\w+/g) ?? [])].join('-')
  const since = performance.now()
  for (;;) {
    try {
      return await readOnce(session, subject, name)
    } catch (error) {
      const waited = performance.now() - since
      if (!(error instanceof Busy) || waited > RETRY_FOR_MS) throw error
      // There is no answer if the node of the consumer is gone; the consumer is deleted nevertheless.
      if (waited > ABANDONED_MS) jsm.consumers.delete(stream, name).catch(() => {})
      await setTimeout(PAUSE_MS * Math.random())
    }
  }
}

async function readOnce(session: Session, subject: string, name: string): Promise<StoredMessage | undefined> {
  const { nc, jsm, stream, lost } = session
  const inbox = createInbox(session.inbox)
  const { promise: arrived, resolve, reject } = Promise.withResolvers<Msg>()
  arrived.catch(() => {})
  const subscription = nc.subscribe(inbox, {
    max: 1,
    callback: (error, msg) => (error ? reject(error) : resolve(msg)),
  })
  const onLost = () => reject(lost.reason)
  lost.addEventListener('abort', onLost)
  const answered = new AbortController()
  let there = false
  try {
    const made = await jsm.consumers.add(stream, {
      name,
      deliver_subject: inbox,
      deliver_policy: DeliverPolicy.Last,
      filter_subject: subject,
      ack_policy: AckPolicy.None,
      inactive_threshold: nanos(FORGOTTEN_MS),
      mem_storage: true,
      num_replicas: 1,
    })
    there = true
    // Servers before 2.10 return the existing consumer, which may have delivered to its own process.
    if (made.delivered?.consumer_seq !== 0)
      throw new Busy(`another process reads the last message on ${subject}`)
    if (made.num_pending === 0) return undefined
    setTimeout(DELIVERY_MS, undefined, { signal: answered.signal }).then(
      () => reject(new Busy(`the last message on ${subject} did not arrive`)),
      () => {},
    )
    return toStored(await arrived, stream)
  } catch (error) {
    if (isJetStreamError(error, NAME_IN_USE) || isJetStreamError(error, CONSUMER_EXISTS))
      throw new Busy(error)
    throw error
  } finally {
    answered.abort()
    lost.removeEventListener('abort', onLost)
    subscription.unsubscribe()
    if (there && !nc.isClosed()) await jsm.consumers.delete(stream, name).catch(() => {})
  }
}
