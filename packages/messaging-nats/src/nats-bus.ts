import { type Bus, BusUnavailable, type StoredMessage } from '@gantry/messaging'
import { inTime } from '@gantry/pacing'
import { broadcasts } from './broadcasts.ts'
import { keepConnected } from './connection.ts'
import { isJetStreamError, toBusError } from './errors.ts'
import { lastOn } from './last.ts'
import { publishing } from './publish.ts'
import { backlogOf, reader, removedThrough } from './read.ts'
import type { NatsOptions } from './settings.ts'
import { isOverwritten, STREAM_NOT_FOUND } from './stream.ts'

/** How long `close` waits for messages in progress. */
const GRACE_MS = 2_000

export interface NatsBus extends Bus {
  /** Version of the server of the last connection; undefined before the first one. */
  serverVersion(): string | undefined
}

/**
 * A bus on NATS with JetStream (2.9 or newer). It connects in the background and reconnects until it is closed. While the
 * server is unavailable, calls fail at once with BusUnavailable, whose message has the reason, and reads end with it.
 * Listeners resume when the server is back.
 * @throws NatsRefused when the URL cannot be used
 */
export function natsBus(options: NatsOptions): NatsBus {
  const closing = new AbortController()
  const connection = keepConnected(options)
  const read = reader(connection, closing.signal)
  const { publish } = publishing(connection)
  const { broadcast, listen } = broadcasts(connection)
  const underWay = new Set<Promise<unknown>>()

  const state = async () => {
    const session = await connection.session()
    try {
      const { config, created, state } = await session.jsm.streams.info(session.stream)
      session.replicated ||= config.num_replicas > 1
      if (created !== session.created) throw new BusUnavailable('the stream was created anew')
      // Updates of several processes at once: the last one has not seen the others.
      if (isOverwritten(config, session) || !session.stored.every(stored => config.subjects.includes(stored)))
        throw new BusUnavailable('another process has overwritten settings of the stream')
      return state
    } catch (error) {
      // The next connection creates the stream, or applies settings and subjects again.
      if (error instanceof BusUnavailable || isJetStreamError(error, STREAM_NOT_FOUND))
        await session.nc.close()
      throw toBusError(session, error)
    }
  }
  const head = async () => (await state()).last_seq

  const last: Bus['last'] = async subjects => {
    const session = await connection.session()
    let found: StoredMessage | undefined
    try {
      for (const subject of subjects) {
        const message = await lastOn(session, subject)
        if (message && message.sequence > (found?.sequence ?? 0)) found = message
      }
      return found
    } catch (error) {
      if (options.stream?.create === false && isJetStreamError(error, STREAM_NOT_FOUND)) return undefined
      throw toBusError(session, error)
    }
  }

  const close = async () => {
    closing.abort()
    await inTime(Promise.allSettled(underWay), GRACE_MS)
    await connection.close()
  }
  let closed: Promise<void> | undefined

  return {
    system: 'nats',
    publish(messages, options) {
      const publishing = publish(messages, options).finally(() => underWay.delete(publishing))
      underWay.add(publishing)
      return publishing
    },
    read,
    last,
    head,
    backlog: ({ reader }) => backlogOf(connection, reader),
    removedThrough: async () => removedThrough(await state()),
    broadcast,
    listen,
    ping: async () => void (await head()),
    serverVersion: connection.serverVersion,
    close() {
      closed ??= close()
      return closed
    },
  }
}
