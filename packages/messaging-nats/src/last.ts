import { setTimeout } from 'node:timers/promises'
import { BusUnavailable, type StoredMessage } from '@gantry/messaging'
import { AckPolicy, createInbox, DeliverPolicy, type Msg, nanos } from 'nats'
import type { Session } from './connection.ts'
import { isJetStreamError } from './reason.ts'
import { toStored } from './stored-message.ts'

/** How long it is looked for, again and again while another process does so. */
const PATIENCE_MS = 5_000
const PAUSE_MS = 50
/** A look takes milliseconds: a consumer that is there for so long was left behind. */
const ABANDONED_MS = 1_000
/** How long the server may take to deliver it. Then another process has deleted the consumer. */
const DELIVERY_MS = 1_000
/** The server forgets a consumer whose process has died after so long. */
const FORGOTTEN_MS = 2_000

const NAME_IN_USE = 10013
const CONSUMER_EXISTS = 10148

/** Another process has a consumer of that name now: each would take the other's answer. */
class Busy extends BusUnavailable {}

/**
 * The last message on a subject, by a consumer that begins with it. Its name and its subject stand in the request that
 * makes it, and it delivers to the own inbox: a user needs no right to read anything else of the stream.
 */
export async function lastOn(session: Session, subject: string): Promise<StoredMessage | undefined> {
  const { jsm, stream } = session
  const name = ['last', ...(subject.match(/\w+/g) ?? [])].join('-')
  const since = performance.now()
  for (;;) {
    try {
      return await look(session, subject, name)
    } catch (error) {
      const waited = performance.now() - since
      if (!(error instanceof Busy) || waited > PATIENCE_MS) throw error
      // Nobody answers where the node that had the consumer is gone; it is deleted all the same.
      if (waited > ABANDONED_MS) jsm.consumers.delete(stream, name).catch(() => {})
      await setTimeout(PAUSE_MS * Math.random())
    }
  }
}

async function look(session: Session, subject: string, name: string): Promise<StoredMessage | undefined> {
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
    // Servers before 2.10 give the consumer that is there, which may have delivered to its own process.
    if (made.delivered?.consumer_seq !== 0) throw new Busy(`another process looks on ${subject}`)
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
