import { BusUnavailable } from '@gantry/messaging'
import { connect } from 'nats'
import { isJetStreamError, natsFailureOf } from './errors.ts'
import { connectionOptions, type NatsOptions } from './settings.ts'
import { STREAM, STREAM_NOT_FOUND } from './stream.ts'

/**
 * Deletes the stream with all messages and the positions of its consumers. Services create it again.
 * @returns whether there was one
 * @throws BusUnavailable, also when the user has no right to do this
 */
export async function dropStream(options: NatsOptions): Promise<boolean> {
  const unavailable = (error: unknown) => new BusUnavailable(natsFailureOf(error))
  const nc = await connect(connectionOptions(options)).catch(error => {
    throw unavailable(error)
  })
  try {
    const jsm = await nc.jetstreamManager()
    return await jsm.streams.delete(options.stream?.name ?? STREAM)
  } catch (error) {
    if (isJetStreamError(error, STREAM_NOT_FOUND)) return false
    throw unavailable(error)
  } finally {
    await nc.close()
  }
}
