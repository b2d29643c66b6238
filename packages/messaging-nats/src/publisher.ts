import { setImmediate } from 'node:timers/promises'
import { BusUnavailable } from '@gantry/messaging'
import { connect, ErrorCode, Events, headers, type NatsConnection, NatsError } from 'nats'
import { natsFailureOf } from './errors.ts'
import { connectionOptions, type NatsOptions, NatsRefused } from './settings.ts'

const TIMEOUT_MS = 5_000

/** Publishes to a subject of any NATS server, which need not be that of the bus. */
export interface Publisher {
  /** Whether a JetStream stream stores the subject and acknowledges each message. */
  readonly stored: boolean
  /**
   * Publishes in order, with the id as Nats-Msg-Id, by which a stream drops a repeated message. Resolves when the stream has
   * acknowledged all; without a stream, when the server has received them.
   * @throws NatsRefused the user may not publish to the subject
   * @throws BusUnavailable some of them may have been published: publish all again
   */
  publish(messages: readonly { id: string; data: string }[]): Promise<void>
  close(): Promise<void>
}

/**
 * @param setting name of the setting or option that contains the URL; used in messages
 * @throws BusUnavailable, NatsRefused
 */
export async function natsPublisher(
  options: NatsOptions,
  subject: string,
  setting: string,
): Promise<Publisher> {
  const nc = await connect(connectionOptions(options, setting)).catch(error => {
    throw new BusUnavailable(natsFailureOf(error))
  })
  const stored = await isStored(nc, subject)
  const js = nc.jetstream({ timeout: TIMEOUT_MS })
  const refusal = refusalsOf(nc, subject)
  return {
    stored,
    async publish(messages) {
      try {
        const sent = messages.map(async ({ id, data }) => {
          const carried = headers()
          carried.set('Nats-Msg-Id', id)
          if (stored) await js.publish(subject, data, { headers: carried, timeout: TIMEOUT_MS })
          else nc.publish(subject, data, { headers: carried })
        })
        const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected')
        if (failed?.status === 'rejected') throw failed.reason
        if (!stored) await nc.flush()
      } catch (error) {
        if (isViolation(error)) throw new NatsRefused(mayNot(subject))
        throw new BusUnavailable(nc.isClosed() ? 'the connection was lost' : natsFailureOf(error))
      }
      // A refusal arrives before the answer to the flush, and is reported to listeners a moment later.
      await setImmediate()
      const refused = refusal()
      if (refused) throw new NatsRefused(refused)
    },
    close: () => nc.close(),
  }
}

const mayNot = (subject: string) => `the user may not publish to ${subject}`

const isViolation = (error: unknown) =>
  error instanceof NatsError && error.code === ErrorCode.PermissionsViolation

/** @returns a function that returns why the server has refused a message without acknowledgement; undefined if it has not */
function refusalsOf(nc: NatsConnection, subject: string): () => string | undefined {
  let refused: string | undefined
  const listen = async () => {
    for await (const { type, permissionContext } of nc.status())
      if (type === Events.Error && permissionContext?.operation === 'publish')
        if (permissionContext.subject === subject) refused = mayNot(subject)
  }
  void listen()
  return () => refused
}

/** Codes of the client for a request that JetStream does not answer. */
const WITHOUT_JETSTREAM: readonly string[] = [
  ErrorCode.JetStreamNotEnabled,
  ErrorCode.NoResponders,
  ErrorCode.PermissionsViolation,
]
/** Codes of JetStream (nats-server, server/errors.json): not enabled for the account, or on the server. */
const NOT_ENABLED = [10039, 10076]

/**
 * False also for a server without JetStream and for a user who may not ask.
 * @throws BusUnavailable when it cannot be found out, e.g. while a cluster elects a leader
 */
async function isStored(nc: NatsConnection, subject: string): Promise<boolean> {
  try {
    const manager = await nc.jetstreamManager({ timeout: TIMEOUT_MS, checkAPI: false })
    await manager.streams.find(subject)
    return true
  } catch (error) {
    // The client throws an Error of another kind when no stream matches.
    if (!(error instanceof NatsError)) return false
    const { api_error, code } = error
    if (api_error ? NOT_ENABLED.includes(api_error.err_code ?? 0) : WITHOUT_JETSTREAM.includes(code))
      return false
    await nc.close()
    throw new BusUnavailable(natsFailureOf(error))
  }
}
