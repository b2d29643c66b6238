import { type Bus, type Delivered, subjectMatches } from '@gantry/messaging'
import { AckPolicy, type ConsumerConfig, DeliverPolicy, nanos } from 'nats'
import type { Connection, Session } from './connection.ts'
import { isJetStreamError, toBusError } from './errors.ts'
import { ExclusiveConsumer } from './exclusive-consumer.ts'
import { filtersFor } from './filter.ts'
import { watchRemoved } from './removed.ts'
import { toStored } from './stored-message.ts'

const CONSUMER_NOT_FOUND = 10014

interface Consumption {
  consume(options: Parameters<Bus['consume']>[0]): AsyncGenerator<Delivered>
  backlog: Bus['backlog']
  /** Returns the unacknowledged messages of all consumers of this bus. */
  close(): Promise<void>
}

interface ConsumptionOptions {
  connection: Connection
  closing: AbortSignal
  /** See `NatsOptions`. */
  ackWaitMs: number
}

/**
 * Durable JetStream consumers with one message in progress at a time, which keeps the order over redeliveries and changes of
 * the process. A server that crashes can lose the last acknowledgements. It then delivers these messages again, in order.
 */
export function consumption({ connection, closing, ackWaitMs }: ConsumptionOptions): Consumption {
  const open = new Set<ExclusiveConsumer>()

  async function* consume(options: Parameters<Bus['consume']>[0]): AsyncGenerator<Delivered> {
    const signal = AbortSignal.any([options.signal, closing])
    if (signal.aborted) return
    const session = await connection.session()
    const { subjects } = options
    const consumer = durableName(options.consumer)
    await ensureConsumer(session, consumer, subjects, ackWaitMs).catch(error => {
      throw toBusError(session, error)
    })
    const { missed } = options
    const endWatch = missed && watchRemoved({ session, consumer, missed })
    const exclusive = new ExclusiveConsumer({ session, consumer, ackWaitMs, signal })
    open.add(exclusive)
    try {
      for (let next = await exclusive.next(); next; next = await exclusive.next()) {
        const { msg, ack: acknowledge } = next
        if (subjects.some(subject => subjectMatches(subject, msg.subject))) {
          let acknowledged = false
          const ack = async () => {
            await acknowledge()
            acknowledged = true
          }
          yield { message: toStored(msg, session.stream), ack }
          if (!acknowledged) exclusive.giveUp()
        } else await acknowledge()
      }
    } finally {
      endWatch?.()
      open.delete(exclusive)
      await exclusive.close()
    }
  }

  const backlog: Bus['backlog'] = async ({ consumer }) => {
    const session = await connection.session()
    const { jsm, stream } = session
    try {
      const { num_pending, num_ack_pending } = await jsm.consumers.info(stream, durableName(consumer))
      return num_pending + num_ack_pending
    } catch (error) {
      if (!isJetStreamError(error, CONSUMER_NOT_FOUND)) throw toBusError(session, error)
      return 0
    }
  }

  return {
    consume,
    backlog,
    async close() {
      await Promise.all([...open].map(exclusive => exclusive.close()))
    },
  }
}

/** Names of durable consumers must not contain dots, wildcards, slashes or blanks. */
const durableName = (consumer: string) =>
  consumer.replace(/[^\w-]/g, character => `=${character.codePointAt(0)?.toString(16)}`)

/**
 * Creates the consumer at the beginning of the stream, or updates its configuration. One that was delivered messages that
 * the server has lost since would skip as many new ones, so it begins anew.
 */
async function ensureConsumer(
  { jsm, stream, stored, severalFilters }: Session,
  consumer: string,
  subjects: readonly string[],
  ackWaitMs: number,
): Promise<void> {
  const filters = filtersFor(subjects, { stored, several: severalFilters })
  const wanted = {
    ack_wait: nanos(ackWaitMs),
    max_ack_pending: 1,
    filter_subject: filters.length === 1 ? filters[0] : undefined,
    filter_subjects: filters.length > 1 ? filters : undefined,
  }
  const current = await jsm.consumers.info(stream, consumer).catch(error => {
    if (isJetStreamError(error, CONSUMER_NOT_FOUND)) return undefined
    throw error
  })
  const { state } = await jsm.streams.info(stream)
  const isAhead = current !== undefined && current.delivered.stream_seq > state.last_seq
  if (isAhead) await jsm.consumers.delete(stream, consumer)
  if (!current || isAhead) {
    await jsm.consumers.add(stream, {
      durable_name: consumer,
      deliver_policy: DeliverPolicy.All,
      ack_policy: AckPolicy.Explicit,
      max_deliver: -1,
      ...wanted,
    })
  } else if (!matches(current.config, wanted)) await jsm.consumers.update(stream, consumer, wanted)
}

const matches = (config: ConsumerConfig, wanted: Partial<ConsumerConfig>) =>
  config.ack_wait === wanted.ack_wait &&
  config.max_ack_pending === wanted.max_ack_pending &&
  (config.filter_subject || undefined) === wanted.filter_subject &&
  JSON.stringify(config.filter_subjects) === JSON.stringify(wanted.filter_subjects)
